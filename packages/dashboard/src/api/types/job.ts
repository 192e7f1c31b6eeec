/**
 * Jobs as the API returns them. Times are milliseconds since 1970. A test compares these types with the
 * server's shapes.
 */

export const STATES = ['scheduled', 'ready', 'running', 'done', 'dead', 'cancelled'] as const
export type State = (typeof STATES)[number]

/** The states that a list can be filtered by. `retrying`: scheduled jobs whose last attempt failed. */
export const LISTED_STATES = [...STATES, 'retrying'] as const
export type ListedState = (typeof LISTED_STATES)[number]

export type Outcome =
  | 'returned'
  | 'failed'
  | 'timed-out'
  | 'snoozed'
  | 'throttled'
  | 'failed-permanently'
  | 'cancelled'
  | 'interrupted'

export interface JobSummary {
  readonly id: string
  readonly kind: string
  readonly queue: string
  readonly state: State
  readonly priority: number
  readonly attempt: number
  readonly maxAttempts: number
  readonly crashes: number
  readonly tags: readonly string[]
  readonly orderKey: string | null
  readonly waitsForOrder: boolean
  readonly enqueuedAt: number
  readonly dueAt: number | null
  readonly startedAt: number | null
  readonly endedAt: number | null
  readonly instance: string | null
  readonly cancelReason: string | null
}

export interface LogLine {
  readonly at: number
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  readonly fields?: Readonly<Record<string, unknown>>
}

export interface Job extends JobSummary {
  readonly payload: unknown
  readonly metadata: Readonly<Record<string, unknown>> | null
  readonly result: unknown
  readonly progress: unknown
  readonly log: readonly LogLine[]
  readonly error: string | null
  readonly timeoutMs: number | null
  /** The timeout that applies when the job has none; null when the answering process does not know one. */
  readonly kindTimeoutMs: number | null
  readonly dedupeKey: string | null
}

export interface Attempt {
  readonly attempt: number
  readonly token: number
  readonly instance: string | null
  readonly startedAt: number | null
  readonly endedAt: number
  readonly outcome: Outcome
  readonly error: string | null
  readonly log: readonly LogLine[]
}

export interface Reason {
  readonly why: string
  readonly message: string
  readonly until: number | null
}

export interface Why {
  readonly state: State
  readonly reasons: readonly Reason[]
}

export interface Inspected {
  readonly job: Job
  readonly attempts: readonly Attempt[]
  readonly why: Why
  /** Sizes in bytes of the values that were too large to include. */
  readonly left: { readonly payload?: number; readonly result?: number }
}

export interface JobPage {
  readonly jobs: readonly JobSummary[]
  readonly next: string | null
  readonly scanned: number
  readonly complete: boolean
}

export type BulkAct = 'retry' | 'run-now' | 'cancel' | 'delete'

export interface BulkPreview {
  readonly jobs: number
  readonly byState: Readonly<Partial<Record<State, number>>>
}

export interface ErrorGroup {
  readonly fingerprint: string
  readonly kind: string
  readonly shape: string
  /** The longest constant part of the error's shape, used for search. */
  readonly text: string
  readonly dead: number
  readonly failing: number
  readonly firstAt: number
  readonly lastAt: number
  readonly queues: readonly string[]
  readonly example: { readonly id: string; readonly error: string }
  readonly over: readonly { readonly at: number; readonly jobs: number }[]
}

export interface Errors {
  readonly groups: readonly ErrorGroup[]
  readonly from: number
  readonly bucketMs: number
  readonly looked: number
  readonly complete: boolean
}
