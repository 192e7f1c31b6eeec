/**
 * Schedules in the store, and the tick, which inserts a job and marks its instant as served in one
 * transaction.
 */
import type { NewJob } from '../../job/enqueue/new-job.ts'
import type { ScheduleDefinition, SchedulePatch } from '../../job/schedule/schedule.ts'

export interface DeclaredSchedule {
  readonly name: string
  /** The definition with the higher version wins. For equal versions, the last declaration wins. */
  readonly version: number
  readonly definition: ScheduleDefinition
}

export interface ScheduleRecord {
  readonly name: string
  /** Null if it was created at run time. */
  readonly code: ScheduleDefinition | null
  readonly version: number | null
  /** The changes by an operator, or the whole definition if it was created at run time. */
  readonly operator: SchedulePatch
  /** The effective definition: code with the operator's changes applied. */
  readonly live: ScheduleDefinition
  /** Rises with every change of the effective definition. */
  readonly revision: number
  /** When it was created, by the database's clock. Intervals without a start count from here. */
  readonly createdAt: number
  /** Whether `nextAt` was computed for the current timing. False while paused. */
  readonly planned: boolean
  /** The next planned instant; null if there is none or it is not computed yet. */
  readonly nextAt: number | null
  /** The last served instant, its outcome, and its job. */
  readonly lastAt: number | null
  readonly lastOutcome: TickOutcome | null
  readonly lastJob: string | null
  /** How many instants were not served in time and were dropped by the policy, in total. */
  readonly missed: number
  /** Why its last pass failed; null if it succeeded. A failed schedule is still served. */
  readonly error: string | null
  /** The database's time of this read. */
  readonly readAt: number
}

/** `skipped`: a job of this schedule still waits or runs, and the overlap policy is skip. */
export type TickOutcome = 'enqueued' | 'skipped'

/**
 * Advances one schedule from a planned instant to the next. Refused as a whole if the schedule has a
 * different revision or next instant, because another instance has served it.
 */
export interface Tick {
  readonly schedule: string
  readonly revision: number
  /** `nextAt` as it was read; null for a schedule without a plan. */
  readonly from: number | null
  /** Null if there is no further instant. */
  readonly nextAt: number | null
  /**
   * The instants to serve, in order, each with its job. An instant that was served before is not served
   * again.
   */
  readonly fires: readonly { readonly at: number; readonly job: NewJob }[]
  /** How many instants the policy drops. */
  readonly missed: number
}

export interface Ticked {
  readonly schedule: string
  readonly accepted: boolean
  /** The instants served by this call. `job` is the new job, or the one that still waits or runs. */
  readonly fired: readonly { readonly at: number; readonly outcome: TickOutcome; readonly job: string }[]
}

export interface TickRecord {
  readonly at: number
  readonly outcome: TickOutcome
  readonly job: string
  /** When it was served. */
  readonly servedAt: number
}
