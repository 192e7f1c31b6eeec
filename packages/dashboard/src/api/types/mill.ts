/** Queues, limits, processes, schedules and the store, as the API returns them. */

export interface Queue {
  readonly name: string
  readonly workers: number | null
  readonly paused: boolean
  readonly backoffEnabled: boolean
  readonly backoffBaseMs: number
  readonly backoffMaxMs: number
  readonly retainDoneMs: number | null
  readonly retainCancelledMs: number | null
  readonly retainDeadMs: number | null
  readonly keepDone: number | null
  readonly keepCancelled: number | null
  readonly keepDead: number | null
  readonly limit: string | null
  readonly coolingMs: number
  readonly throttles: number
}

export interface Counts {
  readonly queue: string
  readonly scheduled: number
  readonly ready: number
  readonly running: number
  readonly done: number
  readonly dead: number
  readonly cancelled: number
  readonly oldestReadyMs: number | null
}

export interface QueueAndCounts {
  readonly settings: Queue
  readonly counts: Counts
}

export interface UnservedKind {
  readonly queue: string
  readonly kind: string
  readonly jobs: number
}

export interface Limit {
  readonly name: string
  readonly settings:
    | {
        readonly type: 'rate'
        readonly amount: number
        readonly perMs: number
        readonly burst: number
        /** Each key has its own budget. */
        readonly perKey?: true
      }
    | { readonly type: 'concurrency'; readonly most: number }
  readonly available: number
  readonly held: number
  readonly nextInMs: number | null
  readonly drainedMs: number
  /** How many keys currently have a budget; null when the limit is not per key. Older servers omit it. */
  readonly keys?: number | null
}

export interface Instance {
  readonly id: string
  readonly label: string | null
  readonly version: string | null
  readonly queues: readonly string[]
  readonly kinds: readonly string[]
  readonly onDead: readonly string[]
  readonly capacity: number
  readonly state: 'alive' | 'expired' | 'lost' | 'stopped'
  readonly startedAt: number
  readonly renewedAt: number
  readonly expiresAt: number
  readonly endedAt: number | null
}

export interface Slot {
  readonly instance: string
  readonly queue: string
  readonly workers: number
}

export interface Duty {
  readonly name: string
  readonly leader: string | null
  readonly lastSuccessAt: number | null
  readonly failures: number
}

interface ConfigDrift {
  readonly what: 'queue' | 'limit' | 'schedule'
  readonly name: string
  readonly field: string
  readonly code?: unknown
  readonly stored?: unknown
}

/** An option set by an operator, with names and values as they are written in code. */
export interface Override {
  readonly what: ConfigDrift['what']
  readonly name: string
  readonly option: string
  readonly value?: unknown
  readonly code?: unknown
  /** False where `code` is the default. */
  readonly isInCode: boolean
  /** False where code has changed the type of the limit since. */
  readonly isApplied: boolean
  readonly by: string | null
  readonly at: number | null
}

export interface Overview {
  readonly store: string
  readonly version: string
  readonly here: string
  readonly you: { readonly name: string; readonly role: string }
  readonly queues: readonly QueueAndCounts[]
  readonly unservedKinds: readonly UnservedKind[]
  readonly instances: readonly Instance[]
  readonly limits: readonly Limit[]
  readonly duties: readonly Duty[]
  readonly drift: readonly ConfigDrift[]
  readonly degraded: readonly string[]
}

export interface Workers {
  readonly here: string
  readonly instances: readonly Instance[]
  readonly slots: readonly Slot[]
  readonly duties: readonly Duty[]
}

export interface Schedule {
  readonly name: string
  readonly when: string
  readonly zone: string
  readonly jitterMs: number
  readonly startAt: number | null
  readonly endAt: number | null
  readonly missed: 'skip' | 'last' | 'all'
  readonly missedWithinMs: number
  readonly overlap: 'allow' | 'skip'
  readonly paused: boolean
  readonly kind: string
  readonly queue: string
  readonly payload?: unknown
  readonly priority: number
  readonly maxAttempts: number
  readonly timeoutMs: number | null
  readonly tags: readonly string[]
  readonly text: string
  readonly nextAt: number | null
  readonly lastAt: number | null
  readonly lastOutcome: 'enqueued' | 'skipped' | null
  readonly lastJob: string | null
  readonly missedRuns: number
  readonly error: string | null
  readonly version: number | null
  readonly differs: readonly string[]
  readonly createdAt: number
}

export interface Tick {
  readonly at: number
  readonly outcome: 'enqueued' | 'skipped'
  readonly job: string
  readonly servedAt: number
}

export interface InspectedSchedule {
  readonly schedule: Schedule
  readonly runs: readonly number[]
  readonly history: readonly Tick[]
}

export interface Kind {
  readonly kind: string
  readonly queue: string | null
  readonly maxAttempts: number | null
  readonly served: boolean
  readonly instances: number
  /** JSON Schema of the payload, where it is known. */
  readonly schema: Readonly<Record<string, unknown>> | null
}

export interface Diagnostic {
  readonly check: string
  readonly level: 'warning' | 'error'
  readonly message: string
  readonly fix: string | null
  readonly about: {
    readonly what: 'queue' | 'kind' | 'duty' | 'instance' | 'limit' | 'schedule' | 'database' | null
    readonly name: string | null
  }
}

/** An application served behind the same access control. */
export interface App {
  readonly name: string
  readonly title: string
}
