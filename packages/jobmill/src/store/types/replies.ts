/** Short replies of the store's verbs. */
import type { JobState } from '../../job/state.ts'
import type { Lease } from './claim.ts'

export interface Enqueued {
  /** The new job, or the job that holds the dedupe key. */
  readonly id: string
  /** `replaced`: the holder was waiting and now has the new payload and due time. */
  readonly outcome: 'enqueued' | 'duplicate' | 'replaced'
  /** Set if direct dispatch leased the job to the enqueuing instance. The job is running. */
  readonly lease?: Lease
}

export interface Staged {
  /** Number of jobs that became ready. */
  readonly ready: number
  /** True if a limit was reached, so that there may be more. */
  readonly more: boolean
  /** Queues with jobs that this pass made ready. */
  readonly queues: readonly string[]
}

/**
 * The effect of an operator's action on one job.
 *
 * | verb    | scheduled | ready     | running   | done    | dead    | cancelled |
 * |---------|-----------|-----------|-----------|---------|---------|-----------|
 * | cancel  | cancelled | cancelled | requested | refused | refused | unchanged |
 * | run now | ready     | unchanged | refused   | refused | refused | refused   |
 * | retry   | refused   | refused   | refused   | refused | ready   | ready     |
 * | delete  | deleted   | deleted   | refused   | deleted | deleted | deleted   |
 *
 * "Run now" leaves a job that waits for its order lock scheduled: `unchanged`.
 */
export interface Verdict {
  readonly id: string
  readonly verdict: 'changed' | 'unchanged' | 'refused' | 'unknown'
  /** The current state; null if the job is unknown or was deleted. A requested cancel leaves it running. */
  readonly state: JobState | null
  /** For a retry refused because another job holds the dedupe key: the id of that job. See also `runNow`. */
  readonly holder?: string
}

export interface Reaped {
  /** Instances that this pass found expired. */
  readonly instances: readonly string[]
  readonly jobs: readonly ReapedJob[]
}

export interface ReapedJob extends Pick<Lease, 'id' | 'queue' | 'kind' | 'crashes'> {
  /** Ready again, dead after too many crashes, or cancelled because a cancel was requested. */
  readonly state: 'ready' | 'dead' | 'cancelled'
}

const NOTHING = {
  /** Deleted jobs in total, and by final state. */
  jobs: 0,
  done: 0,
  dead: 0,
  cancelled: 0,
  /** Expired dedupe keys, and instances that ended long ago. */
  keys: 0,
  instances: 0,
  /** Served ticks, timeline events and metric buckets that are too old. */
  ticks: 0,
  events: 0,
  metrics: 0,
  /** True if the limit was reached, so that there may be more. */
  more: false,
}

export type Retained = Readonly<typeof NOTHING>

/** The reply if there was nothing to delete. */
export const NOTHING_RETAINED: Retained = Object.freeze(NOTHING)

/** The maximum ages of the records that `retain` deletes in addition to jobs. */
export interface RetainRequest {
  /** Maximum number of records of each type per call. */
  readonly limit: number
  readonly ticksMs: number
  readonly eventsMs: number
  /** One age for each bucket size: 10 s, 1 min, 5 min, 1 h. */
  readonly metricsMs: readonly [number, number, number, number]
  /** Only delete jobs of these queues (default: all). Other records are deleted either way. */
  readonly queues?: readonly string[]
}
