/** Which failed reads are repeated at once, before the dashboard shows the error. */
import { Problem } from '../client.ts'
import { pace } from './live.ts'

const MOST_RETRIES = 2

/**
 * A refused request would be refused again. A request that did not reach the server is repeated by the live
 * refresh, so its error is shown at once; if refreshing is off, it is retried like a server error.
 */
export function shouldRetry(times: number, error: unknown): boolean {
  if (times >= MOST_RETRIES) return false
  if (!(error instanceof Problem)) return true
  return error.code === 'UNREACHABLE' ? pace.get() === 0 : error.status >= 500
}
