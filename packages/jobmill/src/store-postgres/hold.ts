/**
 * How long the dedupe key of a job is held on, as `hold_ms` keeps it: below 0 when that is however the job ended, so that no other
 * column has to be read where jobs end, nor migrated. A release before this one takes it for no hold, and frees the key.
 */
import type { Dedupe, HoldAfter } from '../job/new-job.ts'
import { STATE_CODE } from '../job/state.ts'

export function keptHold({ holdMs, holdAfter }: Pick<Dedupe, 'holdMs' | 'holdAfter'>): number {
  return holdAfter === 'ended' ? -holdMs : holdMs
}

export function holdOf(kept: number): { readonly holdMs: number; readonly holdAfter: HoldAfter } {
  return { holdMs: Math.abs(kept), holdAfter: kept < 0 ? 'ended' : 'done' }
}

/** Whether the key of job `j` is held on after the end `e`; not of one that is deleted while it waits. */
export const HELD_ON = `CASE WHEN e.state = ${STATE_CODE.done} THEN j.hold_ms <> 0 ELSE e.state > ${STATE_CODE.done} AND j.hold_ms < 0 END`
