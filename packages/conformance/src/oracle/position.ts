/** position: how many ready jobs would be claimed before one. */
import { POSITION_MOST } from 'jobmill/store'
import { inClaimOrder } from './claim.ts'
import type { OracleState } from './state.ts'

export function position(state: OracleState, id: string, kinds?: readonly string[]): number | null {
  const job = state.jobs.get(id)
  if (job?.state !== 'ready') return null
  const lane = inClaimOrder(state).filter(({ queue }) => queue === job.queue)
  const before = lane.slice(0, lane.indexOf(job)).filter(({ kind }) => kinds?.includes(kind) ?? true)
  return Math.min(POSITION_MOST, before.length)
}
