/** `jobmill limits list`, `set`, `drain` and `delete`. */
import { isJobmillError, JobmillError, quote } from '../../job/errors.ts'
import type { LimitOptions, LimitSettings } from '../../job/limit/limit.ts'
import type { Mill } from '../../runtime/mill.ts'
import type { LimitChange } from '../../runtime/operate/limits.ts'
import type { LimitRecord } from '../../store/types/limit.ts'
import { confirm, YES } from '../output/confirm.ts'
import type { Answer } from '../output/print.ts'
import { type Columns, tableOf } from '../output/table.ts'
import { optionText, remainingText } from '../output/wording.ts'
import { type Command, EXIT, ONE_NAME, type ParsedArguments } from '../program/command.ts'
import { invalid } from '../program/invalid.ts'
import { fieldsOf } from '../program/own-words.ts'
import { lengthOf, numberOf } from '../program/typed-values.ts'
import { omitUndefined } from '../../job/options/omit-undefined.ts'
import { answerWith, BY_CLI } from '../with-mill.ts'

const list: Command = {
  words: 'limits list',
  says: 'list limits with their settings, availability and drains',
  examples: ['jobmill limits list', `jobmill limits list --json | jq '.limits[].available'`],
  run: (parsed, terminal) =>
    answerWith(parsed, terminal, async (mill) => {
      const limits = await mill.limits.list()
      return { json: { limits }, text: tableOf(limits, COLUMNS, 'no limits', terminal) }
    }),
}

const COLUMNS: Columns<LimitRecord> = {
  limit: ({ name }) => name,
  settings: ({ settings }) => limitText(settings),
  available: ({ available }) => available,
  held: ({ settings, held }) => (settings.type === 'rate' ? null : held),
  'next in': ({ nextInMs }) => (nextInMs === null || nextInMs === 0 ? null : remainingText(nextInMs)),
  drained: ({ drainedMs }) =>
    drainedMs === 0 ? null : { text: `for ${remainingText(drainedMs)}`, style: 'yellow' },
  keys: ({ keys }) => keys,
}

/** Formats a limit as command-line options: `--rate 50 --per 1m --burst 10`. */
function limitText(settings: LimitSettings): string {
  if (settings.type === 'concurrency') return `--concurrency ${settings.most}`
  const rate = `--rate ${settings.amount} --per ${optionText(settings.perMs)} --burst ${settings.burst}`
  return settings.perKey === true ? `${rate} --per-key` : rate
}

const SETTINGS = {
  rate: { takes: 'N', says: 'maximum per period (see --per)' },
  per: { takes: 'DURATION', says: 'period of the rate (default 1s)' },
  burst: {
    takes: 'N',
    says: 'how many may be acquired at once after an idle period (default: one second of the rate, at least 1)',
  },
  'per-key': { says: 'apply the rate to each key separately; only for a new limit' },
  concurrency: { takes: 'N', says: 'maximum concurrency, instead of a rate' },
}

/** Creates a limit, or changes one at run time. */
const set: Command = {
  words: 'limits set',
  ...ONE_NAME,
  says: 'create or change a limit; omitted options keep their values',
  options: SETTINGS,
  fields: { name: 'NAME', limit: 'NAME', ...fieldsOf('limit', SETTINGS) },
  examples: [
    'jobmill limits set smtp --rate 50 --per 1m --burst 10',
    'jobmill limits set smtp --rate 100',
    'jobmill limits set db --concurrency 5',
    'jobmill limits set telegram-chat --rate 1 --burst 3 --per-key',
  ],
  async run(parsed, terminal) {
    const change = changeOf(parsed)
    const [name = ''] = parsed.words
    const set = async ({ limits }: Mill): Promise<Answer> => {
      const before = (await limits.list()).find((limit) => limit.name === name) ?? null
      // The library refuses a new limit with too few options.
      const after =
        before === null
          ? await limits.create(name, change as LimitOptions, BY_CLI)
          : await limits.change(name, change, BY_CLI)
      const settings = limitText(after.settings)
      const text =
        before === null
          ? `created ${name}: ${settings}`
          : `${name}  ${limitText(before.settings)} → ${settings}`
      return { json: { before, after }, text }
    }
    return answerWith(parsed, terminal, set, { mayCreate: true })
  },
}

function changeOf(parsed: ParsedArguments): LimitChange {
  const change = omitUndefined({
    rate: numberOf(parsed, 'rate'),
    per: lengthOf(parsed, 'per'),
    burst: numberOf(parsed, 'burst'),
    perKey: parsed.has('per-key') ? true : undefined,
    concurrency: numberOf(parsed, 'concurrency'),
  })
  if (Object.keys(change).length > 0) return change
  throw invalid('limits set', 'no setting passed', 'Pass --rate 50 --per 1m, or --concurrency 5')
}

/** Empties a limit, and with `--for` keeps it empty for a while. */
const drain: Command = {
  words: 'limits drain',
  ...ONE_NAME,
  says: 'discard the accumulated budget of a limit; with --for, also grant nothing for that long, for example after HTTP 429',
  options: {
    for: {
      takes: 'DURATION',
      says: 'grant nothing for this long; without it, only the accumulated budget is discarded',
    },
    key: { takes: 'KEY', says: 'key to drain, for a limit per key' },
  },
  fields: { limit: 'NAME', 'options.retryAfter': '--for', key: '--key' },
  examples: [
    'jobmill limits drain smtp --for 30s',
    'jobmill limits drain smtp',
    'jobmill limits drain telegram-chat --key chat:42 --for 17s',
  ],
  run: (parsed, terminal) =>
    answerWith(parsed, terminal, async (mill) => {
      const key = parsed.text('key')
      const options = omitUndefined({ retryAfter: lengthOf(parsed, 'for'), key })
      const limit = await mill.limits.drain(parsed.words[0] ?? '', options)
      const { name, drainedMs } = limit
      const how = drainedMs === 0 ? 'budget discarded' : `blocked for ${remainingText(drainedMs)}`
      return { json: limit, text: `drained ${key === undefined ? name : `${name} ${key}`}: ${how}` }
    }),
}

const remove: Command = {
  words: 'limits delete',
  ...ONE_NAME,
  says: 'delete a limit that no queue uses; a limit that is defined in code is created again at the next start',
  options: { yes: YES },
  fields: { limit: 'NAME' },
  examples: ['jobmill limits delete smtp', 'jobmill limits delete smtp --yes'],
  run: (parsed, terminal) =>
    answerWith(parsed, terminal, async (mill) => {
      const [name = ''] = parsed.words
      const limit = (await mill.limits.list()).find((one) => one.name === name)
      if (limit === undefined) {
        const fix = 'Run "jobmill limits list" to see all limits'
        throw invalid('NAME', 'no limit has this name', fix, name, 'LIMIT_UNKNOWN')
      }
      const question = `delete ${name} (${limitText(limit.settings)})?`
      if (!(await confirm(question, 'nothing was deleted', parsed, terminal))) return EXIT.refused
      const deleted = await mill.limits.delete(name).catch(async (error: unknown) => {
        throw await explainInUse(error, name, mill)
      })
      return { json: { name, deleted }, text: `deleted ${name}` }
    }),
}

/** Adds the command that removes the limit from its queue. */
async function explainInUse(error: unknown, name: string, mill: Pick<Mill, 'queues'>): Promise<unknown> {
  if (!isJobmillError(error) || error.code !== 'LIMIT_IN_USE') return error
  const user = (await mill.queues()).find(({ limit }) => limit === name)
  if (user === undefined) return error
  return new JobmillError('LIMIT_IN_USE', `is used by queue ${quote(user.name)}`, {
    field: 'NAME',
    value: quote(name),
    fix: `Run "jobmill queues set ${user.name} --limit none" first`,
    cause: error,
  })
}

export const limits: readonly Command[] = [list, set, drain, remove]
