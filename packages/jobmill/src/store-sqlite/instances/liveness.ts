/** Whether an instance is alive, by the database clock. */
import type { Look } from '../work.ts'

// Uses the unique id.
const ALIVE = `SELECT pk FROM jobmill_instance WHERE id = ? AND state = 0 AND expires_at > ?`

const CLAIMING = `${ALIVE} AND requested IS NULL`

/** The same for an instance that may get leases: it was not asked to be quiet or to stop. */
export function claimingInstance({ sql, now }: Look, id: string): number | undefined {
  return (sql(CLAIMING).get(id, now) as { pk: number } | undefined)?.pk
}

/** The primary key of an instance that is known and neither expired, lost nor stopped. */
export function aliveInstance({ sql, now }: Look, id: string): number | undefined {
  return (sql(ALIVE).get(id, now) as { pk: number } | undefined)?.pk
}
