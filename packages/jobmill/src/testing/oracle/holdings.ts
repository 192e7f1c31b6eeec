/** What a job holds in places other than its own row. */
import { type Holding, holdingsOf } from '../../store/holdings.ts'
import type { OracleJob, OracleState } from './state.ts'

export function holdings(state: OracleState, { id, dedupe, orderKey, attempts }: OracleJob): Holding[] {
  return holdingsOf({
    holdMs: dedupe === null ? null : dedupe.holdAfter === 'ended' ? -dedupe.holdMs : dedupe.holdMs,
    isOrdered: orderKey !== null,
    hasPermit: [...state.limits.values()].some(({ permits }) => permits.has(id)),
    records: attempts.length,
  })
}

/** Includes what changes only when a job is forgotten or cancelled. */
export function allHoldings(state: OracleState, job: OracleJob): Holding[] {
  const all = holdings(state, job)
  if (job.tags.length > 0) all.push('tags')
  if (job.attempts.length > 0) all.push('attempts')
  if ((job.run?.cancelReason ?? null) !== null) all.push('cancel')
  return all
}
