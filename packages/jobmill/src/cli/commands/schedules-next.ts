/**
 * `jobmill schedules next`: prints the next runs of a schedule, or of an expression that is not a schedule
 * yet.
 */
import { checkWhole } from '../../job/numbers.ts'
import { timingOf } from '../../job/schedule/schedule-options.ts'
import { describeWhen } from '../../job/when/describe-when.ts'
import { nextRuns } from '../../job/when/instants.ts'
import { systemPlatform } from '../../platform/platform.ts'
import { type Command, EXIT, type ParsedArguments } from '../program/command.ts'
import { ZONE } from '../schedules/options.ts'
import { numberOf, omitUndefined } from '../program/typed-values.ts'
import { withMill } from '../with-mill.ts'
import { moment } from '../output/wording.ts'

const DEFAULT_COUNT = 10

export const schedulesNext: Command = {
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
    if (parsed.has('json')) terminal.out(JSON.stringify({ text, runs }))
    else {
      const now = systemPlatform.now()
      terminal.out([text, ...runs.map((at) => moment(at, now))].join('\n'))
      if (runs.length === 0) terminal.out('no more runs')
    }
    return EXIT.done
  },
}

interface Coming {
  readonly text: string
  readonly runs: readonly number[]
}

function ofSchedule(name: string, parsed: ParsedArguments, count: number): Promise<Coming> {
  return withMill(parsed, async ({ schedules }) => ({
    runs: await schedules.nextRuns(name, count),
    text: await schedules.describe(name),
  }))
}

async function ofExpression(when: string, parsed: ParsedArguments, count: number): Promise<Coming> {
  const timing = timingOf({ when, ...omitUndefined({ zone: parsed.text('zone') }) })
  const from = systemPlatform.now()
  return {
    text: describeWhen(timing.when, timing.zone),
    runs: nextRuns(timing, { from, count, createdAt: from }),
  }
}
