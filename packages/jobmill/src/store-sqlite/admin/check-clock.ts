/**
 * Checks the clock. The machine's clock is the database clock, so after it was set back, existing rows appear
 * to be in the future.
 */
import { spanText } from '../../job/text/span-text.ts'
import { type Diagnostic, warning, ok } from '../../store/admin/admin.ts'
import { statementsOf, type SqliteHandle } from '../connection/handle.ts'

const MOST_AHEAD_MS = 2_000

// Reads the newest job by primary key and the few instances; nothing is scanned.
const NEWEST = `
  SELECT max(at) AS at FROM (
    SELECT max(renewed_at) AS at FROM jobmill_instance
    UNION ALL SELECT enqueued_at FROM (SELECT enqueued_at FROM jobmill_job ORDER BY pk DESC LIMIT 1))`

export function clock(handle: SqliteHandle, now: number): Diagnostic {
  const { at } = statementsOf(handle)(NEWEST).get() as { at: number | null }
  const aheadMs = (at ?? 0) - now
  if (aheadMs <= MOST_AHEAD_MS) return ok('clock', 'no row is from the future')
  return warning(
    'clock',
    `the newest row is ${spanText(aheadMs)} in the future: a clock is wrong or was set back`,
    'Correct the clock and synchronize it with NTP; until it catches up, leases do not expire and jobs run late',
  )
}
