/**
 * Rewrites errors of the library for API callers: paths in the request instead of fields, routes instead of
 * calls.
 */
import type { JobmillError } from 'jobmill'
import { type FixTexts, rephrase } from 'jobmill/internal'

/** The library's name of the whole input, which the request does not have. */
const WHOLE = /^(?:job|schedule|change|limit|alert|queue|group|options|query)\./
/** A field that is only a limit or a queue refers to the one in the URL. */
const NAMED = /^(?:limit|queue)$/

const FIXES: FixTexts = {
  'alert.names': 'Use GET /api/alerts to see all alert rules',
  'alert.new': 'Pass { "url": "https://…", "secret": "whsec_…" }',
  'instant.format': "Pass milliseconds since 1970, or text such as '2027-01-31T09:00:00Z'",
  'limit.change': 'Change it with PATCH /api/limits/{name}, or delete it first',
  'instance.list': 'Use the id of a running process from GET /api/workers',
  'limit.create': 'Declare it under `limits` in the options of jobmill(), or create it with POST /api/limits',
  'limit.key': 'Pass a key, such as { "key": "chat:42" }',
  'queue.names': 'Use GET /api/queues to see all queues. The first job of a queue creates it',
  'schedule.names': 'Use GET /api/schedules to see all schedules',
}

/**
 * Renames the field of an error to what the client sent: in a URL, filter fields are query parameters.
 */
export function asSent(error: JobmillError, inAddress: boolean): JobmillError {
  const field = (path: string): string => {
    const sent = pathSent(path)
    return inAddress ? sent.replace(/^filter\./, '').replace(/^tags\b/, 'tag') : sent
  }
  return rephrase(error, { field, fixes: FIXES })
}

/** Converts `items[1].payload.to[0]` to jobs.1.payload.to.0, and `job.delay` to delay. */
function pathSent(field: string): string {
  if (NAMED.test(field)) return 'name'
  return field
    .replace(/^items\b/, 'jobs')
    .replace(WHOLE, '')
    .replaceAll(/\[(\d+)\]/g, '.$1')
}
