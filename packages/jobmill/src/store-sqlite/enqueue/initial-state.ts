/**
 * The state in which a new job is written: ready, scheduled, waiting in its order queue, or running by direct
 * dispatch.
 */
import type { NewJob } from '../../job/new-job.ts'
import { dueTime } from './due-time.ts'
import { READY, RUNNING, SCHEDULED } from '../job-row.ts'

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
  /** Set when direct dispatch starts it at once. */
  readonly holder: Holder | undefined
  /** The primary key, once the job was written for a holder. */
  pk: number | undefined
}

export interface InitialState {
  readonly state: number
  /** False for a job that is not due: it has no sequence number yet. */
  readonly hasPlace: boolean
  readonly inOrderQueue: boolean
  readonly attempt: 0 | 1
  readonly token: number
  readonly instancePk: number | null
  readonly dueAt: number
  readonly readyAt: number | null
  readonly startedAt: number | null
}

const WAITING = {
  hasPlace: true,
  inOrderQueue: false,
  attempt: 0,
  token: 0,
  instancePk: null,
  startedAt: null,
} as const

export function initialStateOf(job: NewJob, now: number, holder: Holder | undefined): InitialState {
  const dueAt = dueTime(job, now)
  if (holder !== undefined) {
    const { token, instancePk } = holder
    return {
      state: RUNNING,
      hasPlace: true,
      inOrderQueue: false,
      attempt: 1,
      token,
      instancePk,
      dueAt,
      readyAt: now,
      startedAt: now,
    }
  }
  if (dueAt > now) return { ...WAITING, state: SCHEDULED, hasPlace: false, dueAt, readyAt: null }
  if (job.orderKey !== null) return { ...WAITING, state: SCHEDULED, inOrderQueue: true, dueAt, readyAt: null }
  return { ...WAITING, state: READY, dueAt, readyAt: now }
}
