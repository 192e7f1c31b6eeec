/**
 * The follow-up job that runs `onDead` of a kind. It is enqueued in the transaction that marks the job dead,
 * by the instance that ran it or by the reaper.
 */
import { derivedId } from '../enqueue/derived-id.ts'
import type { NewJob } from '../enqueue/new-job.ts'
import { followUpJob } from './follow-up.ts'

const ENDING = ':dead'

/**
 * The queue of follow-ups, served by every process that has an `onDead`. In the queue of the dead job, they
 * would use its limit and wait for its cool-downs.
 */
export const ON_DEAD_QUEUE = 'jobmill.dead'

/** The kind of the job that runs `onDead` of a kind. */
export function onDeadKind(kind: string): string {
  return `${kind}${ENDING}`
}

export interface Death {
  readonly id: string
  readonly kind: string
  readonly queue: string
  readonly orderKey: string | null
  /** The error of its last attempt. */
  readonly error: string
  /** Unique per death of a job: the lease token, or the current instant when the reaper marks it dead. */
  readonly at: number
}

/**
 * The payload describes the death. The id is derived from the dead job and `at`, so a retried write creates
 * no second follow-up. With an order key, the follow-up stays in the queue of the dead job, because order
 * keys count within a queue, and runs before the waiting jobs with that key.
 */
export function onDeadJob({ id, kind, queue, orderKey, error, at }: Death): NewJob {
  return followUpJob({
    id: derivedId(`${id} ${at}`),
    kind: onDeadKind(kind),
    queue: orderKey === null ? ON_DEAD_QUEUE : queue,
    payload: JSON.stringify({ id, kind, queue, error }),
    orderKey,
    first: orderKey !== null,
  })
}
