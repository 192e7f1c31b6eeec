/** The state that a new job is written in: ready, waiting for its time or its turn, or running from the first moment. */
import type { NewJob } from '../job/new-job.ts'
import { dueTime } from './due-time.ts'
import { READY, RUNNING, SCHEDULED } from './job-row.ts'

/** Who runs jobs from their first moment on: one token for the call. */
export interface Holder {
  readonly instance: string
  readonly instancePk: number
  readonly token: number
}

/** A job of a call, with its place in the order of the call. */
export interface Placed {
  readonly job: NewJob
  readonly place: number
  /** Who runs it from the start. */
  readonly holder: Holder | undefined
  /** The number of its row, once it was written for a holder. */
  pk: number | undefined
}

export interface InitialState {
  readonly state: number
  /** False for one that is not due: it stands in no order yet. */
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
