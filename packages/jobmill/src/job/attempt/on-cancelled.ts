/**
 * The follow-up job that runs `onCancelled` of a kind. The store enqueues it once for each time a job is
 * cancelled, because any process may cancel a job, also one that does not know the definition.
 */
import { derivedId } from '../enqueue/derived-id.ts'
import type { NewJob } from '../enqueue/new-job.ts'
import { followUpJob } from './follow-up.ts'

/** The queue of these follow-ups, served by every process that has an `onCancelled`. */
export const ON_CANCELLED_QUEUE = 'jobmill.cancelled'

/** The kind of the job that runs `onCancelled` of a kind. */
export function onCancelledKind(kind: string): string {
  return `${kind}:cancelled`
}

export interface Cancellation {
  readonly id: string
  readonly kind: string
  readonly queue: string
  readonly reason: string
  /** Unique per cancel of a job: the token of the attempt that records it. */
  readonly token: number
}

export function onCancelledJob({ id, kind, queue, reason, token }: Cancellation): NewJob {
  return followUpJob({
    id: derivedId(`${id} cancelled ${token}`),
    kind: onCancelledKind(kind),
    queue: ON_CANCELLED_QUEUE,
    payload: JSON.stringify({ id, kind, queue, reason }),
    orderKey: null,
  })
}
