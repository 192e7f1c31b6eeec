/**
 * Encodes the hold time of a dedupe key in `hold_ms`. A negative value means that the key stays held after
 * any end, which avoids another column and a migration. An older release treats a negative value as no hold
 * and releases the key.
 */
import type { Dedupe, HoldAfter } from '../../job/new-job.ts'
import { STATE_CODE } from '../../job/state.ts'

export function keptHold({ holdMs, holdAfter }: Pick<Dedupe, 'holdMs' | 'holdAfter'>): number {
  return holdAfter === 'ended' ? -holdMs : holdMs
}

export function holdOf(kept: number): { readonly holdMs: number; readonly holdAfter: HoldAfter } {
  return { holdMs: Math.abs(kept), holdAfter: kept < 0 ? 'ended' : 'done' }
}

/**
 * Whether the key of job `j` stays held after the end `e`. False for a job that is deleted while it waits.
 */
export const HELD_ON = `CASE WHEN e.state = ${STATE_CODE.done} THEN j.hold_ms <> 0 ELSE e.state > ${STATE_CODE.done} AND j.hold_ms < 0 END`
