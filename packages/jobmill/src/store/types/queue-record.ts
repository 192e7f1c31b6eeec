/** Queues as the read side returns them. */
import { invalidValue, type JobmillError } from '../../job/errors.ts'
import { nearest } from '../../job/options/known-keys.ts'
import type { QueueSettings } from '../../job/queue/queue-settings.ts'
import type { JobState } from '../../job/state.ts'

export interface DeclaredQueue {
  readonly name: string
  /** The settings that code names; null if the queue only has to exist. */
  readonly settings: Partial<QueueSettings> | null
  /** Leaves a queue unchanged whose settings another declaration has set. Default: false. */
  readonly unlessDeclared?: boolean
}

export interface QueueRecord extends QueueSettings {
  readonly name: string
  /** How much longer the cool-down blocks claims; 0 if there is none. */
  readonly coolingMs: number
  /** Throttling events that the backoff curve currently counts. */
  readonly throttles: number
}

export interface QueueCounts extends Readonly<Record<JobState, number>> {
  readonly queue: string
  /** How long the oldest ready job has been ready; null if there is none. */
  readonly oldestReadyMs: number | null
}

/** The maximum number of ready jobs that `unservedKinds` reads per queue, or counts per kind of a queue. */
export const UNSERVED_ROWS = 10_000

/** Ready jobs of a kind that no live instance would claim. */
export interface UnservedKind {
  readonly queue: string
  readonly kind: string
  /** The lowest version of the definition that may run these jobs. Null for any. */
  readonly minVersion: number | null
  /** How many were found among the rows read. */
  readonly jobs: number
}

/** `known` has the names of all queues, if the caller has read them. */
export function queueUnknown(name: string, known: readonly string[] = []): JobmillError {
  const near = nearest(name, known)
  const fix = near === undefined ? ({ code: 'queue.names' } as const) : `Did you mean "${near}"?`
  return invalidValue('queue', name, 'no queue has this name', fix, 'QUEUE_UNKNOWN')
}

/** Upper bound for the count of `position`. */
export const POSITION_MOST = 10_000
