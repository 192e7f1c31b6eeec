/** Errors of the library in the words of the API: the path in what was sent instead of a field of the library, a route instead of a call. */
import { type JobmillError, retold } from '../job/errors.ts'

/** What the library calls an input as a whole; what was sent is that itself. */
const WHOLE = /^(?:job|schedule|change|limit|queue|options|query)\./
/** A limit or a queue as such is the one that the address names. */
const NAMED = /^(?:limit|queue)$/

/** What the library says, and what we say instead. */
const PHRASES: readonly (readonly [string, string])[] = [
  [
    'declare it in the option limits, or create it with mill.limits.create',
    'declare it in the option limits, or create it with POST /api/limits',
  ],
  ['mill.limits.change', 'PATCH /api/limits/{name}'],
  ["such as { key: 'chat:42' }", 'such as { "key": "chat:42" }'],
  ['list() tells those that there are', 'GET /api/schedules tells those that there are'],
  ['Pass a Date, milliseconds since 1970', 'Pass milliseconds since 1970'],
]

/** In an address a filter is its parameters. */
export function asSent(error: JobmillError, inAddress: boolean): JobmillError {
  const field = (path: string): string => {
    const sent = pathSent(path)
    return inAddress ? sent.replace(/^filter\./, '').replace(/^tags\b/, 'tag') : sent
  }
  return retold(error, { field, text: ourPhrases })
}

function ourPhrases(text: string): string {
  return PHRASES.reduce((said, [theirs, ours]) => said.replace(theirs, ours), text)
}

/** `items[1].payload.to[0]` is jobs.1.payload.to.0, and `job.delay` is delay. */
function pathSent(field: string): string {
  if (NAMED.test(field)) return 'name'
  return field
    .replace(/^items\b/, 'jobs')
    .replace(WHOLE, '')
    .replaceAll(/\[(\d+)\]/g, '.$1')
}
