/** What the verbs answer that need no more than a few words. */
import type { JobState } from '../job/state.ts'
import type { Lease } from './claim.ts'

export interface Enqueued {
  /** The new job, or the one that holds the dedupe key. */
  readonly id: string
  /** `replaced`: the holder was waiting and has the new payload and due time now. */
  readonly outcome: 'enqueued' | 'duplicate' | 'replaced'
  /** It was handed to the instance that enqueued it, and is running. */
  readonly lease?: Lease
}

export interface Staged {
  /** Jobs that became ready. */
  readonly ready: number
  /** True when a limit was reached, so that there may be more. */
  readonly more: boolean
  /** Queues that have something ready because of this pass. */
  readonly queues: readonly string[]
}

/**
 * What an operator's verb did to one job.
 *
 * | verb    | scheduled | ready     | running   | done    | dead    | cancelled |
 * |---------|-----------|-----------|-----------|---------|---------|-----------|
 * | cancel  | cancelled | cancelled | requested | refused | refused | unchanged |
 * | run now | ready     | unchanged | refused   | refused | refused | refused   |
 * | retry   | refused   | refused   | refused   | refused | ready   | ready     |
 * | delete  | deleted   | deleted   | refused   | deleted | deleted | deleted   |
 *
 * A job that waits for its turn (order key) stays scheduled when run now: `unchanged`.
 */
export interface Verdict {
  readonly id: string
  readonly verdict: 'changed' | 'unchanged' | 'refused' | 'unknown'
  /** The state of the job now; null when it is unknown or was deleted. A requested cancel leaves it running. */
  readonly state: JobState | null
  /** For a retry that is refused because another job holds the dedupe key: that job. */
  readonly holder?: string
}

export interface Reaped {
  /** Instances that were found expired in this pass. */
  readonly instances: readonly string[]
  readonly jobs: readonly ReapedJob[]
}

export interface ReapedJob {
  readonly id: string
  readonly queue: string
  readonly kind: string
  readonly crashes: number
  /** Ready again, dead by too many crashes, or cancelled because that was asked for. */
  readonly state: 'ready' | 'dead' | 'cancelled'
}

export interface Retained {
  /** Jobs in all, and by the state that they ended in. */
  readonly jobs: number
  readonly done: number
  readonly dead: number
  readonly cancelled: number
  /** Dedupe keys whose time was over, and instances that ended long ago. */
  readonly keys: number
  readonly instances: number
  /** Notes of served schedules, timeline events and buckets of figures that are too old. */
  readonly ticks: number
  readonly events: number
  readonly metrics: number
  /** True when the limit was reached, so that there may be more. */
  readonly more: boolean
}

/** What `retain` deletes beside jobs: how old these things may become. */
export interface RetainRequest {
  /** At most this many of each kind of thing in one call. */
  readonly limit: number
  readonly ticksMs: number
  readonly eventsMs: number
  /** By the size of the bucket: 10 s, 1 min, 1 h. */
  readonly metricsMs: readonly [number, number, number]
  /** Only jobs of these queues. Left out: of all. What is no job goes either way. */
  readonly queues?: readonly string[]
}

/** When there was nothing to delete. */
export const NOTHING_RETAINED: Retained = Object.freeze({
  jobs: 0,
  done: 0,
  dead: 0,
  cancelled: 0,
  keys: 0,
  instances: 0,
  ticks: 0,
  events: 0,
  metrics: 0,
  more: false,
})
