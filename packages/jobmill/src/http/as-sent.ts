/**
 * Translates errors of the library for API callers: paths in the request instead of fields, routes instead of
 * calls.
 */
import { type JobmillError, rephrase } from '../job/errors.ts'

/** The library's name of the whole input, which the request does not have. */
const WHOLE = /^(?:job|schedule|change|limit|queue|options|query)\./
/** A limit or a queue alone is the one named in the URL. */
const NAMED = /^(?:limit|queue)$/

/** Phrases of the library, and their replacements. */
const PHRASES: readonly (readonly [string, string])[] = [
  ['create it with mill.limits.create', 'create it with POST /api/limits'],
  ['mill.limits.change', 'PATCH /api/limits/{name}'],
  ["such as { key: 'chat:42' }", 'such as { "key": "chat:42" }'],
  [
    'Use a name from mill.queues(). The first job of a queue creates it, and so does the option queues',
    'Use GET /api/queues to see all queues. The first job of a queue creates it',
  ],
  ['Use a name from schedules.list()', 'Use GET /api/schedules to see all schedules'],
  ['Pass a Date, milliseconds since 1970', 'Pass milliseconds since 1970'],
]

/**
 * Renames the field of an error to what the client sent: in a URL, filter fields are query parameters.
 */
export function asSent(error: JobmillError, inAddress: boolean): JobmillError {
  const field = (path: string): string => {
    const sent = pathSent(path)
    return inAddress ? sent.replace(/^filter\./, '').replace(/^tags\b/, 'tag') : sent
  }
  return rephrase(error, { field, text: replacePhrases })
}

function replacePhrases(text: string): string {
  return PHRASES.reduce((said, [theirs, ours]) => said.replace(theirs, ours), text)
}

/** Converts `items[1].payload.to[0]` to jobs.1.payload.to.0, and `job.delay` to delay. */
function pathSent(field: string): string {
  if (NAMED.test(field)) return 'name'
  return field
    .replace(/^items\b/, 'jobs')
    .replace(WHOLE, '')
    .replaceAll(/\[(\d+)\]/g, '.$1')
}
