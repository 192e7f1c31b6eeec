/** How far running attempts are. */
import type { Progress } from '../store/finish.ts'
import type { Work } from './work.ts'

// By jobmill_job_id; state and token are the fence.
const NOTE = `UPDATE jobmill_job SET progress = ? WHERE id = ? AND state = 2 AND token = ?`

export function progress({ sql }: Work, items: readonly Progress[]): boolean[] {
  return items.map(({ id, token, value }) => Number(sql(NOTE).run(value, id, token).changes) === 1)
}
