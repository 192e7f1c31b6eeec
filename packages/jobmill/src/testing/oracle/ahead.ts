/** ahead: how many ready jobs would be claimed before one. */
import { AHEAD_MOST } from '../../store/queue-record.ts'
import { inClaimOrder } from './claim.ts'
import type { OracleState } from './state.ts'

export function ahead(state: OracleState, id: string): number | null {
  const job = state.jobs.get(id)
  if (job?.state !== 'ready') return null
  const lane = inClaimOrder(state).filter(({ queue }) => queue === job.queue)
  return Math.min(AHEAD_MOST, lane.indexOf(job))
}
