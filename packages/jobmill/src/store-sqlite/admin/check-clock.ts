/** The clock of this machine is that of the database. When it was set back, what was written before lies in the future. */
import { spanText } from '../../job/span-text.ts'
import { type Diagnostic, warning, well } from '../../store/admin.ts'
import { prepared, type SqliteHandle } from '../handle.ts'

const MOST_AHEAD_MS = 2_000

// The newest job by the key of its row, and the few instances: nothing is read from end to end.
const NEWEST = `
  SELECT max(at) AS at FROM (
    SELECT max(renewed_at) AS at FROM jobmill_instance
    UNION ALL SELECT enqueued_at FROM (SELECT enqueued_at FROM jobmill_job ORDER BY pk DESC LIMIT 1))`

export function clock(handle: SqliteHandle, now: number): Diagnostic {
  const { at } = prepared(handle)(NEWEST).get() as { at: number | null }
  const aheadMs = (at ?? 0) - now
  if (aheadMs <= MOST_AHEAD_MS) return well('clock', 'nothing was written in the future')
  return warning(
    'clock',
    `the newest row was written ${spanText(aheadMs)} in the future: the clock was set back, or another one is wrong`,
    'Set the clock right, and keep it so with NTP; until it has caught up, leases do not run out and jobs are due late',
  )
}
