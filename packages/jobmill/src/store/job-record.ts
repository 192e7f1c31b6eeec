/** A job as the read side tells it. */
import type { Outcome } from '../job/outcome.ts'
import type { JobState } from '../job/state.ts'

/** Without payload and result: what a list shows. */
export interface JobSummary {
  readonly id: string
  readonly kind: string
  readonly queue: string
  readonly state: JobState
  readonly priority: number
  /** Attempts spent: refunded ones do not count. */
  readonly attempt: number
  readonly maxAttempts: number
  readonly crashes: number
  readonly tags: readonly string[]
  readonly orderKey: string | null
  /** Due, but an earlier job of its order key has not ended. */
  readonly waitsForOrder: boolean
  readonly enqueuedAt: number
  /** When it becomes due; null unless scheduled. */
  readonly dueAt: number | null
  /** When it was claimed; null unless running. */
  readonly startedAt: number | null
  /** When it ended; null unless it did. */
  readonly endedAt: number | null
  /** The instance that runs it. */
  readonly instance: string | null
  /** Why a cancel was asked for while it runs. */
  readonly cancelReason: string | null
}

export interface JobRecord extends JobSummary {
  /** JSON texts. */
  readonly payload: string
  readonly metadata: string | null
  readonly result: string | null
  readonly progress: string | null
  /** What the running attempt logged so far; null unless it runs. Of earlier attempts the history tells. */
  readonly log: string | null
  /** Of the last attempt, unless the job is done: then only why its result could not be kept. */
  readonly error: string | null
  readonly timeoutMs: number | null
  /** With its scope in front. */
  readonly dedupeKey: string | null
}

export interface AttemptRecord {
  readonly attempt: number
  readonly token: number
  /** Null when no instance ran it: cancelled while it waited. */
  readonly instance: string | null
  readonly startedAt: number | null
  readonly endedAt: number
  readonly outcome: Outcome
  readonly error: string | null
  /** What it logged. */
  readonly log: string | null
}

/** How the last attempt of a job ended that has failed. */
export interface JobFailure {
  readonly error: string | null
  /** When it ended. */
  readonly at: number
  readonly outcome: Outcome
}

/** What somebody who awaits a job needs to know of it. */
export interface JobResult {
  readonly id: string
  readonly state: JobState
  /** JSON text; null unless it is done, or when there is none. */
  readonly result: string | null
  /** As in JobRecord. */
  readonly error: string | null
}
