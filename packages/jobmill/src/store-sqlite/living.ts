/** Who is alive by the database's clock. */
import type { Look } from './work.ts'

// By the unique id.
const LIVING = `SELECT pk FROM jobmill_instance WHERE id = ? AND state = 0 AND expires_at > ?`

/** The row number of an instance that is known, not expired, not lost and not stopped. */
export function livingInstance({ sql, now }: Look, id: string): number | undefined {
  return (sql(LIVING).get(id, now) as { pk: number } | undefined)?.pk
}
