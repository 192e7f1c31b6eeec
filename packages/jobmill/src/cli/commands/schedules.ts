/** `jobmill schedules list`, `next`, `add`, `pause`, `resume`, `trigger` and `delete`. */
import { isJobmillError, JobmillError, quote } from '../../job/errors.ts'
import { checkWhole } from '../../job/numbers.ts'
import { timingOf } from '../../job/schedule/schedule-options.ts'
import { describeWhen } from '../../job/when/describe-when.ts'
import { nextRuns } from '../../job/when/instants.ts'
import { systemPlatform } from '../../platform/platform.ts'
import type { Mill } from '../../runtime/mill.ts'
import type { ScheduleView } from '../../runtime/operate/schedule-view.ts'
import { checkKind } from '../enqueue/known-kind.ts'
import { confirm, YES } from '../output/confirm.ts'
import { safeLine } from '../../job/text/safe-text.ts'
import { type Answer, print } from '../output/print.ts'
import { type Columns, type Painted, tableOf } from '../output/table.ts'
import { fromNow, moment } from '../output/wording.ts'
import { type Command, EXIT, ONE_NAME, type ParsedArguments } from '../program/command.ts'
import { invalid } from '../program/invalid.ts'
import { numberOf } from '../program/typed-values.ts'
import { omitUndefined } from '../../job/options/omit-undefined.ts'
import { newScheduleOf, SCHEDULE_FIELDS, SCHEDULE_OPTIONS, ZONE } from '../schedules/options.ts'
import { answerWith, BY_CLI, withMill } from '../with-mill.ts'

const DEFAULT_COUNT = 10

const list: Command = {
  words: 'schedules list',
  says: 'list schedules with their next and last runs',
  examples: ['jobmill schedules list', `jobmill schedules list --json | jq '.schedules[].nextAt'`],
  run: (parsed, terminal) =>
    answerWith(parsed, terminal, async (mill) => {
      const schedules = await mill.schedules.list()
      const now = systemPlatform.now()
      const notes = schedules.flatMap(({ name, error, differs }) => [
        ...(error === null ? [] : [`${name}: ${safeLine(error)}`]),
        ...(differs.length === 0 ? [] : [`${name}: overridden by an operator: ${differs.join(', ')}`]),
      ])
      return {
        json: { schedules },
        text: [tableOf(schedules, columns(now), 'no schedules', terminal), ...notes],
      }
    }),
}

function columns(now: number): Columns<ScheduleView> {
  return {
    schedule: ({ name }) => name,
    state: stateOf,
    when: ({ when }) => when,
    zone: ({ zone }) => zone,
    kind: ({ kind }) => kind,
    queue: ({ queue }) => queue,
    next: ({ nextAt }) => (nextAt === null ? null : moment(nextAt, now)),
    last: ({ lastAt, lastOutcome }) =>
      lastAt === null ? null : `${lastOutcome ?? ''} ${fromNow(lastAt, now)}`.trim(),
    description: ({ text }) => text,
  }
}

function stateOf({ paused, error, nextAt }: ScheduleView): Painted {
  if (paused) return { text: 'paused', style: 'yellow' }
  if (error !== null) return { text: 'failing', style: 'red' }
  return nextAt === null ? { text: 'ended', style: 'gray' } : { text: 'active', style: 'green' }
}

/** Prints the next runs of a schedule, or of an expression that is not a schedule yet. */
const next: Command = {
  words: 'schedules next',
  takes: 'NAME|EXPR',
  arguments: [1, 1],
  says: 'show the next runs of a schedule or an expression',
  options: {
    count: { takes: 'N', says: `number of runs (default ${DEFAULT_COUNT})` },
    zone: { ...ZONE, says: 'time zone of an expression (default UTC)' },
  },
  fields: { name: 'NAME', 'schedule.when': 'EXPR', 'schedule.zone': '--zone' },
  examples: [
    'jobmill schedules next weekly-report',
    `jobmill schedules next '0 9 * * MON' --zone Europe/Paris --count 3`,
  ],
  async run(parsed, terminal) {
    const count = checkWhole(numberOf(parsed, 'count') ?? DEFAULT_COUNT, '--count', { least: 1, most: 1_000 })
    const asked = parsed.words[0] ?? ''
    // Every expression contains a space, @ or *, and no name does. An expression needs no database.
    const { text, runs } = await (/[\s@*]/.test(asked)
      ? ofExpression(asked, parsed, count)
      : ofSchedule(asked, parsed, count))
    const now = systemPlatform.now()
    const lines = runs.length === 0 ? ['no more runs'] : runs.map((at) => moment(at, now))
    return print(parsed, terminal, { json: { text, runs }, text: [text, ...lines] })
  },
}

function ofSchedule(name: string, parsed: ParsedArguments, count: number) {
  return withMill(parsed, async ({ schedules }) => ({
    runs: await schedules.nextRuns(name, count),
    text: await schedules.describe(name),
  }))
}

async function ofExpression(when: string, parsed: ParsedArguments, count: number) {
  const timing = timingOf({ when, ...omitUndefined({ zone: parsed.text('zone') }) })
  const from = systemPlatform.now()
  return {
    text: describeWhen(timing.when, timing.zone),
    runs: nextRuns(timing, { from, count, createdAt: from }),
  }
}

/** Creates a schedule at run time, in addition to those in code. */
const add: Command = {
  words: 'schedules add',
  ...ONE_NAME,
  says: 'add a schedule',
  options: SCHEDULE_OPTIONS,
  fields: SCHEDULE_FIELDS,
  examples: [
    `jobmill schedules add weekly-report --when '0 9 * * MON' --zone Europe/Paris --kind report.build`,
    `jobmill schedules add probe --when 'every 30s' --kind probe --payload '{"url":"https://example.com"}' --overlap skip`,
  ],
  async run(parsed, terminal) {
    const options = newScheduleOf(parsed)
    const create = async (mill: Mill): Promise<Answer> => {
      const schedule = await mill.schedules.create(options, BY_CLI).catch((error: unknown) => {
        throw explainExisting(error, options.name)
      })
      const { name, text, nextAt } = schedule
      const soon = nextAt === null ? [] : [`next ${moment(nextAt, systemPlatform.now())}`]
      return { json: schedule, text: [`added ${name}: ${text}`, ...soon] }
    }
    return answerWith(parsed, terminal, create, {
      mayCreate: true,
      check: (config) => checkKind(parsed.text('kind') ?? '', '--kind', { parsed, options: config }),
    })
  },
}

/** No command changes a schedule, so the library's advice to change it does not apply here. */
function explainExisting(error: unknown, name: string): unknown {
  if (!isJobmillError(error) || error.code !== 'SCHEDULE_EXISTS') return error
  return new JobmillError('SCHEDULE_EXISTS', 'already exists', {
    field: 'NAME',
    value: quote(name),
    fix: `Run "jobmill schedules delete ${name}" first, use another name, or change the code that defines it`,
    cause: error,
  })
}

type Act = (schedules: Mill['schedules'], name: string) => Promise<Answer>

/** A command that changes the schedule of this name. */
function steer(
  words: string,
  says: string,
  act: Act,
  examples = [`jobmill ${words} weekly-report`],
): Command {
  return {
    words,
    ...ONE_NAME,
    says,
    fields: { name: 'NAME' },
    examples,
    run: (parsed, terminal) =>
      answerWith(parsed, terminal, ({ schedules }) => act(schedules, parsed.words[0] ?? '')),
  }
}

const pause = steer(
  'schedules pause',
  'pause a schedule; ticks during the pause are skipped',
  async (schedules, asked) => {
    const schedule = await schedules.pause(asked, BY_CLI)
    return { json: schedule, text: `paused ${schedule.name}` }
  },
)

const resume = steer('schedules resume', 'resume a paused schedule', async (schedules, asked) => {
  const schedule = await schedules.resume(asked, BY_CLI)
  const { name, nextAt } = schedule
  const soon = nextAt === null ? 'no more runs' : `next ${moment(nextAt, systemPlatform.now())}`
  return { json: schedule, text: `resumed ${name}: ${soon}` }
})

const trigger = steer(
  'schedules trigger',
  'enqueue a job of a schedule now, even if it is paused; its next run is unchanged',
  async (schedules, asked) => {
    const triggered = await schedules.trigger(asked)
    const { outcome, job } = triggered
    if (outcome === 'skipped')
      return { json: triggered, text: `skipped: ${job} has not ended`, code: EXIT.refused }
    return { json: triggered, text: `enqueued ${job}` }
  },
  ['jobmill schedules trigger weekly-report', 'jobmill schedules trigger weekly-report --json | jq -r .job'],
)

const remove: Command = {
  words: 'schedules delete',
  ...ONE_NAME,
  says: 'delete a schedule but not its jobs; a schedule that is defined in code stays deleted until "jobmill overrides reset"',
  options: { yes: YES },
  fields: { name: 'NAME' },
  examples: ['jobmill schedules delete weekly-report', 'jobmill schedules delete weekly-report --yes'],
  run: (parsed, terminal) =>
    answerWith(parsed, terminal, async ({ schedules }) => {
      const [name = ''] = parsed.words
      const schedule = await schedules.get(name)
      if (schedule === null) {
        const fix = 'Run jobmill schedules list to see all schedules'
        throw invalid('NAME', 'no schedule has this name', fix, name, 'SCHEDULE_UNKNOWN')
      }
      const question = `delete ${name} (${schedule.text})?`
      if (!(await confirm(question, 'nothing was deleted', parsed, terminal))) return EXIT.refused
      const deleted = await schedules.delete(name, BY_CLI)
      const restore = `it is defined in code; run "jobmill overrides reset schedule ${name}" to restore it`
      const text = [`deleted ${name}`, ...(schedule.version === null ? [] : [restore])]
      return { json: { name, deleted }, text }
    }),
}

export const schedules: readonly Command[] = [list, next, add, pause, resume, trigger, remove]
