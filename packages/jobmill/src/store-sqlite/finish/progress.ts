/** Stores the progress and the log of running attempts. */
import type { Progress } from '../../store/types/finish.ts'
import type { Work } from '../work.ts'

// By jobmill_job_id; state and token are the fence. Omitted values stay.
const NOTE = `
  UPDATE jobmill_job SET progress = coalesce(?, progress), log = coalesce(?, log) WHERE id = ? AND state = 2 AND token = ?`

export function progress({ sql, leases }: Work, items: readonly Progress[]): boolean[] {
  return items.map(({ id, token, value = null, log = null }) => {
    if (log !== null) leases.drop(id)
    return Number(sql(NOTE).run(value, log, id, token).changes) === 1
  })
}
