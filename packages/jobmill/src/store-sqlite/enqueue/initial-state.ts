/**
 * The state in which a new job is written: ready, scheduled, waiting in its order queue, or running by direct
 * dispatch.
 */
import type { NewJob } from '../../job/enqueue/new-job.ts'
import type { Turn } from '../groups/turns.ts'
import { IN_GROUP, IN_ORDER_QUEUE, READY, RUNNING, SCHEDULED } from '../job-row.ts'

/** When a new job is due: at an explicit instant, or a delay after the current time of the database. */
export function dueTime(job: NewJob, now: number): number {
  return job.dueAt ?? now + job.delayMs
}

/** The instance that runs jobs by direct dispatch, with one token for the call. */
export interface Holder {
  readonly instance: string
  readonly instancePk: number
  readonly token: number
}

/** A job of a call, with its sequence number. */
export interface Placed {
  readonly job: NewJob
  readonly place: number
  readonly turn: Turn
  /** Set when direct dispatch starts it at once. */
  readonly holder: Holder | undefined
  /** The primary key. Set once the job has been written for a holder. */
  pk: number | undefined
}

export type InitialState = ReturnType<typeof initialStateOf>

/** A job with a holder is due, has no order key, and does not wait for its group. */
export function initialStateOf({ job, turn, holder }: Omit<Placed, 'place' | 'pk'>, now: number) {
  const dueAt = dueTime(job, now)
  const isDue = dueAt <= now
  const waitsIn = job.orderKey !== null ? IN_ORDER_QUEUE : turn.waits ? IN_GROUP : 0
  const isReady = isDue && waitsIn === 0
  const waiting = isReady ? READY : SCHEDULED
  return {
    state: holder === undefined ? waiting : RUNNING,
    /** False for a job that is not due: it has no sequence number yet. */
    hasPlace: isDue,
    waitsIn: isDue ? waitsIn : 0,
    attempt: holder === undefined ? 0 : 1,
    token: holder?.token ?? 0,
    instancePk: holder?.instancePk ?? null,
    dueAt,
    readyAt: isReady ? now : null,
    startedAt: holder === undefined ? null : now,
  }
}
