/**
 * Rewrites errors of the library for the command line: options instead of fields, commands instead of calls.
 * Each command maps its own fields.
 */
import type { FixTexts } from '../../job/fixes.ts'
import { isJobmillError, rephrase } from '../../job/errors.ts'
import type { Shape } from './command.ts'

const FIXES: FixTexts = {
  'access.secure':
    'Set JOBMILL_TOKENS or JOBMILL_TOKENS_FILE (one "name role token" per line), or pass --insecure',
  'alert.names': 'Run jobmill alerts list to see all alert rules',
  'alert.new': 'Pass --url and --secret-file',
  'backoff.order': 'Raise --backoff-max or lower --backoff-base',
  'cursor.next': 'Pass the cursor of the previous page, and the same --state',
  'delay.or-run-at': 'Pass --delay or --run-at, not both',
  'duration.most': 'Use at most 3650d',
  'duration.units': 'Use the units ms, s, m, h and d, such as 90s, 1h30m or 7d',
  'id.dedupe-key':
    'Pass your own key as --dedupe-key instead. An id has 32 hex digits as 8-4-4-4-12; omit it to generate one',
  'instant.format': "Pass text such as '2027-01-31T09:00:00Z'",
  'instance.list': 'Run jobmill workers to see the running processes',
  'limit.change': 'Run the same command again',
  'limit.create': 'Create it with jobmill limits set',
  'limit.key': 'Pass --key chat:42',
  'limit.per-key': 'Omit it, or create another limit with --per-key',
  'limit.type': 'Pass --rate 50 --per 1m, or --concurrency 5',
  'metadata.object': `Pass an object, such as '{"traceId":"4bf9"}'`,
  'queue.names': 'Run jobmill queues list to see all queues. The first job of a queue creates it',
  'schedule.names': 'Run jobmill schedules list to see all schedules',
  'server.address': 'Use another address with --bind',
  'server.port': 'Use another port with --port',
}

export function translateError(error: unknown, { fields = {} }: Pick<Shape, 'fields'>): unknown {
  if (!isJobmillError(error)) return error
  return rephrase(error, { field: (field) => optionFor(field, fields), fixes: FIXES })
}

/** Maps the library's fields of the same name to these options: `job.maxAttempts` is `--max-attempts`. */
export function fieldsOf(path: string, options: object): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.keys(options).map((name) => [`${path}.${camelCase(name)}`, `--${name}`]))
}

function camelCase(name: string): string {
  return name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase())
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
