/** The state transitions of a job that several verbs share. */
import { type EndedState, isHeldForTime } from 'jobmill/store'
import { childEnded } from './child-ends.ts'
import { leaveGroup } from './group-line.ts'
import { freeOrderLock, leaveOrderQueue } from './order-key.ts'
import { dropPermits } from '../limits.ts'
import type { OracleJob, OracleState } from '../state.ts'

/** Makes a job ready, behind the other jobs of its priority. */
export function makeReady(state: OracleState, job: OracleJob): void {
  state.lastSeq += 1
  job.state = 'ready'
  job.seq = state.lastSeq
  job.readyAt = state.now
  stopRunning(state, job)
}

/** Makes a job ready again, at its position before the claim. */
export function putBack(state: OracleState, job: OracleJob): void {
  job.state = 'ready'
  stopRunning(state, job)
}

export function schedule(state: OracleState, job: OracleJob, dueAt: number): void {
  job.state = 'scheduled'
  job.dueAt = dueAt
  state.passed.delete(job.id)
  stopRunning(state, job)
}

/** The permits of an attempt are released with it, whatever ends it. */
function stopRunning(state: OracleState, job: OracleJob): void {
  if (job.run !== null) dropPermits(state, (holder) => holder === job.id)
  job.run = null
}

/**
 * Ends a job and releases what it holds: its place in the order queue, its order lock, and its dedupe key
 * (when its hold time is over).
 */
export function end(state: OracleState, job: OracleJob, to: EndedState, error: string | null): void {
  job.state = to
  job.endedAt = state.now
  stopRunning(state, job)
  leaveOrderQueue(state, job)
  leaveGroup(state, job)
  freeOrderLock(state, job)
  const { holdAfter } = job.dedupe ?? {}
  if (holdAfter === 'ended' || (holdAfter === 'done' && to === 'done')) holdOn(state, job)
  else if (holdAfter !== undefined && !isHeldForTime(holdAfter)) freeKey(state, job)
  childEnded(state, job, to, { result: to === 'done' ? job.result : null, error })
}

function holdOn(state: OracleState, { id, dedupe }: OracleJob): void {
  if (dedupe === null || state.holds.get(dedupe.key)?.holder !== id) return
  if (dedupe.holdMs === 0) state.holds.delete(dedupe.key)
  else state.holds.set(dedupe.key, { holder: id, until: state.now + dedupe.holdMs })
}

export function freeKey(state: OracleState, { id, dedupe }: OracleJob): void {
  if (dedupe !== null && state.holds.get(dedupe.key)?.holder === id) state.holds.delete(dedupe.key)
}
