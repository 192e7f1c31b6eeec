/** A job as the read side returns it. */
import type { Outcome } from '../../job/attempt/outcome.ts'
import type { JobState } from '../../job/state.ts'

/** The fields shown in lists, without payload and result. */
export interface JobSummary {
  readonly id: string
  readonly kind: string
  /** The lowest version of its definition that may run it. Null for any. */
  readonly minVersion: number | null
  readonly queue: string
  readonly state: JobState
  readonly priority: number
  /** Attempts used, without refunded ones. */
  readonly attempt: number
  readonly maxAttempts: number
  readonly crashes: number
  readonly tags: readonly string[]
  readonly orderKey: string | null
  /** The group in its queue; null for none. */
  readonly group: string | null
  /** Due, but an earlier job with the same order key has not ended. */
  readonly waitsForOrder: boolean
  /** Due, but its group has no free slot or token, or is paused. */
  readonly waitsForGroup: boolean
  readonly enqueuedAt: number
  /** When it is due; null unless scheduled, and for a job that is parked until an event arrives. */
  readonly dueAt: number | null
  /** When it was claimed; null unless running. */
  readonly startedAt: number | null
  /** When it ended; null until then. */
  readonly endedAt: number | null
  /** The instance that runs it. */
  readonly instance: string | null
  /** The reason of a requested cancel, while it runs. */
  readonly cancelReason: string | null
}

export interface JobRecord extends JobSummary {
  /** JSON text, like the next three fields. */
  readonly payload: string
  readonly metadata: string | null
  /** Null unless the job is done and has a result. */
  readonly result: string | null
  readonly progress: string | null
  /** Log of the running attempt so far; null unless running. `history` has the logs of earlier attempts. */
  readonly log: string | null
  /** The error of the last attempt. For a done job: why its result could not be stored, or null. */
  readonly error: string | null
  readonly timeoutMs: number | null
  /** Includes the scope as a prefix. */
  readonly dedupeKey: string | null
}

export interface AttemptRecord {
  readonly attempt: number
  readonly token: number
  /** Null if no instance ran it: the job was cancelled while waiting. */
  readonly instance: string | null
  readonly startedAt: number | null
  readonly endedAt: number
  readonly outcome: Outcome
  readonly error: string | null
  readonly log: string | null
  /** The version of the instance; null if it declared none, or ended too long ago. */
  readonly version: string | null
}

/** The end of a failed job's last attempt. */
export interface JobFailure extends Pick<AttemptRecord, 'error' | 'outcome' | 'version'> {
  /** When the attempt ended. */
  readonly at: number
  /** The last 400 characters of its log. Null without a log, and if the log has more than 16,384 bytes. */
  readonly logEnd: string | null
  /**
   * The oldest attempt in the history that failed, timed out or failed permanently. Null unless it is older
   * than the last attempt.
   */
  readonly first: { readonly at: number; readonly error: string | null } | null
}

/** The length of `logEnd` of a failure, and the largest log from which it is read. */
export const LOG_END = { chars: 400, mostBytes: 16_384 } as const
/** Where and when an attempt ran. */
export interface AttemptRun extends Pick<AttemptRecord, 'attempt' | 'endedAt' | 'outcome'> {
  readonly id: string
  readonly instance: string
  readonly startedAt: number
}

/** What a caller that awaits a job needs to know. */
export type JobResult = Pick<JobRecord, 'id' | 'state' | 'result' | 'error'>
