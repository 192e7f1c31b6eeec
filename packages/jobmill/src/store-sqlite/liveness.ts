/** Who is alive by the database's clock. */
import type { Look } from './work.ts'

// By the unique id.
const ALIVE = `SELECT pk FROM jobmill_instance WHERE id = ? AND state = 0 AND expires_at > ?`

/** The row number of an instance that is known, not expired, not lost and not stopped. */
export function aliveInstance({ sql, now }: Look, id: string): number | undefined {
  return (sql(ALIVE).get(id, now) as { pk: number } | undefined)?.pk
}
