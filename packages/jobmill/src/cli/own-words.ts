/**
 * Translates errors of the library for the command line: options instead of fields, commands instead of
 * calls. Each command maps its own fields; phrases that all commands share are listed here.
 */
import { isJobmillError, rephrase } from '../job/errors.ts'
import type { Shape } from './command.ts'

/** Phrases of the library, and their replacements. */
const PHRASES: readonly (readonly [string, string])[] = [
  [
    'declare it in the option limits, or create it with mill.limits.create',
    'create it with jobmill limits set',
  ],
  [
    'Declare it in the option limits, or create it with mill.limits.create',
    'Create it with jobmill limits set',
  ],
  ['Change it with mill.limits.change, or delete it first', 'Run the same command again'],
  ["Pass a key, such as { key: 'chat:42' }", 'Pass --key chat:42'],
  ['use another limit with perKey: true', 'create another limit with --per-key'],
  [
    'Use a name from mill.queues(). The first job of a queue creates it, and so does the option queues',
    'Run jobmill queues list to see all queues. The first job of a queue creates it',
  ],
  ['Use a name from schedules.list()', 'Run jobmill schedules list to see all schedules'],
  ["Pass { rate: 50, per: '1m' } or { concurrency: 5 }", 'Pass --rate 50 --per 1m, or --concurrency 5'],
  [
    'Pass "next" of the previous page, with the same state filter',
    'Pass the cursor of the previous page, and the same --state',
  ],
  [
    "Pass milliseconds, or text with the units ms, s, m, h and d, such as '90s', '1h30m' or '7d'",
    'Use the units ms, s, m, h and d, such as 90s, 1h30m or 7d',
  ],
  ['Pass at most 3650d; an instant is not a duration', 'Use at most 3650d'],
  ['Pass your own key as dedupeKey', 'Pass your own key as --dedupe-key'],
  ['cannot be combined with runAt', 'cannot be combined with --run-at'],
  ['Pass delay or runAt, not both', 'Pass --delay or --run-at, not both'],
  ['longer than backoff.max', 'longer than --backoff-max'],
  ['shorter than backoff.base', 'shorter than --backoff-base'],
  ['Raise max or lower base', 'Raise --backoff-max or lower --backoff-base'],
  ['Pass a Date, milliseconds since 1970, or text such as', 'Pass text such as'],
  ['Pass an object, such as { traceId }', `Pass an object, such as '{"traceId":"4bf9"}'`],
  [
    'Pass tokens or authenticate, or insecure: true on a network that you trust',
    'Set JOBMILL_TOKENS or JOBMILL_TOKENS_FILE (one "name role token" per line), or pass --insecure',
  ],
  ['Use another port', 'Use another port with --port'],
  ['Use another address', 'Use another address with --bind'],
]

export function translateError(error: unknown, { fields = {} }: Pick<Shape, 'fields'>): unknown {
  if (!isJobmillError(error)) return error
  return rephrase(error, { field: (field) => optionFor(field, fields), text: replacePhrases })
}

function replacePhrases(text: string): string {
  return PHRASES.reduce((said, [theirs, ours]) => said.replace(theirs, ours), text)
}

/** Matches the longest known path: `job.payload.to` becomes payload.to where `job.payload` is payload. */
function optionFor(field: string, fields: Readonly<Record<string, string>>): string {
  const known = Object.keys(fields)
    .filter((path) => field === path || (field.startsWith(path) && /[.[]/.test(field[path.length] ?? '')))
    .toSorted((a, b) => b.length - a.length)[0]
  if (known === undefined) return field
  const option = fields[known] ?? known
  const rest = field.slice(known.length)
  // The index of a repeated option is dropped: the second --tag is still --tag.
  return option.startsWith('--') ? `${option}${rest.replace(/^\[\d+\]/, '')}` : `${option}${rest}`
}
