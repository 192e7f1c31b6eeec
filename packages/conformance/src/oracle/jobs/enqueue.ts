/** enqueue: inserts jobs, recognizes repeated ones, and applies dedupe keys. */
import { DEFAULT_QUEUE_SETTINGS, type Enqueued, type NewJob, UNDECLARED } from 'jobmill/store'
import { makeReady, schedule } from './moves.ts'
import { goFirst, isInOrderQueue, joinOrderQueue, leaveOrderQueue, needsOrderLock } from './order-key.ts'
import type { Hold, OracleJob, OracleState } from '../state.ts'

export function enqueue(state: OracleState, now: number, jobs: readonly NewJob[]): Enqueued[] {
  return jobs.map((job) => enqueueOne(state, now, job))
}

function enqueueOne(state: OracleState, now: number, job: NewJob): Enqueued {
  if (state.jobs.has(job.id)) return { id: job.id, outcome: 'enqueued' }
  const hold = job.dedupe === null ? undefined : holdOf(state, now, job.dedupe.key)
  if (hold !== undefined) return collide(state, now, job, hold)
  if (job.dedupe !== null) state.holds.set(job.dedupe.key, { holder: job.id, until: null })
  ensureQueue(state, job.queue)
  const { dueAt: _named, delayMs: _delay, first = false, ...kept } = job
  const written: OracleJob = {
    ...kept,
    enqueuedAt: now,
    state: 'scheduled',
    attempt: 0,
    crashes: 0,
    dueAt: dueAtOf(now, job),
    seq: 0,
    readyAt: 0,
    run: null,
    result: null,
    endedAt: null,
    attempts: [],
  }
  state.jobs.set(job.id, written)
  if (written.dueAt <= now) becomeDue(state, now, written)
  if (first && isInOrderQueue(state, written)) goFirst(state, written)
  return { id: job.id, outcome: 'enqueued' }
}

/** The hold on a key, unless it has expired. */
export function holdOf(state: OracleState, now: number, key: string): Hold | undefined {
  const hold = state.holds.get(key)
  return hold === undefined || (hold.until !== null && hold.until <= now) ? undefined : hold
}

function collide(state: OracleState, now: number, job: NewJob, { holder: id }: Hold): Enqueued {
  const holder = state.jobs.get(id)
  const waits = holder?.state === 'scheduled' || holder?.state === 'ready'
  if (holder === undefined || !waits || job.dedupe?.onConflict !== 'replace' || holder.kind !== job.kind)
    return { id, outcome: 'duplicate' }
  holder.payload = job.payload
  holder.enqueuedAt = now
  const dueAt = dueAtOf(now, job)
  if (dueAt > now) {
    leaveOrderQueue(state, holder)
    schedule(state, holder, dueAt)
  } else if (holder.state === 'scheduled') {
    holder.dueAt = dueAt
    if (!isInOrderQueue(state, holder)) becomeDue(state, now, holder)
  }
  return { id, outcome: 'replaced' }
}

/** A scheduled job is due: it becomes ready, or joins the order queue if another job holds its order lock. */
export function becomeDue(state: OracleState, now: number, job: OracleJob): void {
  if (needsOrderLock(state, job)) joinOrderQueue(state, job)
  else makeReady(state, now, job)
}

function dueAtOf(now: number, job: NewJob): number {
  return job.dueAt ?? now + job.delayMs
}

export function ensureQueue(state: OracleState, name: string): void {
  if (state.queues.has(name)) return
  state.queues.set(name, {
    settings: { ...DEFAULT_QUEUE_SETTINGS },
    sources: UNDECLARED,
    coolUntil: 0,
    throttles: 0,
  })
}
