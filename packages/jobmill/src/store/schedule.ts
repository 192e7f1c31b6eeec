/** Schedules in the store, and the tick: the job and the note that its instant was served, in one transaction. */
import type { NewJob } from '../job/new-job.ts'
import type { ScheduleDefinition, SchedulePatch } from '../job/schedule.ts'

export interface DeclaredSchedule {
  readonly name: string
  /** Of two definitions the one with the higher version counts; with the same version, the one declared last. */
  readonly version: number
  readonly definition: ScheduleDefinition
}

export interface ScheduleRecord {
  readonly name: string
  /** Null for one that was created at run time. */
  readonly code: ScheduleDefinition | null
  readonly version: number | null
  /** What an operator changed, or all of it for one that was created at run time. */
  readonly operator: SchedulePatch
  /** What counts: the code's definition with the operator's changes. */
  readonly live: ScheduleDefinition
  /** Rises with every change of what counts. */
  readonly revision: number
  /** When it came into being, by the database's clock: intervals without a start are counted from here. */
  readonly createdAt: number
  /** Whether `nextAt` was found for the timing as it is now. False while it is paused. */
  readonly planned: boolean
  /** The next planned instant; null when there is none, or it was not found yet. */
  readonly nextAt: number | null
  /** The last planned instant that was served, how, and the job. */
  readonly lastAt: number | null
  readonly lastOutcome: TickOutcome | null
  readonly lastJob: string | null
  /** Planned instants that nobody served in time and that the policy dropped, over its life. */
  readonly missed: number
  /** Why its last pass failed; null when it did not. It goes on all the same. */
  readonly error: string | null
  /** The database's now at the moment of reading. */
  readonly readAt: number
}

/** `skipped`: a job of this schedule still waits or runs, and its overlap policy says skip. */
export type TickOutcome = 'enqueued' | 'skipped'

/**
 * A step of one schedule from one planned instant to the next. Refused as a whole when the schedule has another revision or another next instant by
 * now: somebody else was faster.
 */
export interface Tick {
  readonly schedule: string
  readonly revision: number
  /** `nextAt` as it was read; null for one that was not planned. */
  readonly from: number | null
  /** Null: there is no further instant. */
  readonly nextAt: number | null
  /** The instants served now, in their order, each with its job. One that was served before is not served again. */
  readonly fires: readonly { readonly at: number; readonly job: NewJob }[]
  /** How many instants the policy drops. */
  readonly missed: number
}

export interface Ticked {
  readonly schedule: string
  readonly accepted: boolean
  /** Of the instants that were served just now. `job` is the new one, or the one that still waits or runs. */
  readonly fired: readonly { readonly at: number; readonly outcome: TickOutcome; readonly job: string }[]
}

export interface TickRecord {
  readonly at: number
  readonly outcome: TickOutcome
  readonly job: string
  /** When it was served. */
  readonly servedAt: number
}
