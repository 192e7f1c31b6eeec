/** All that the oracle knows, as plain data: no indexes, nothing derived, nothing kept twice. */
import type { BudgetState } from '../../job/budget.ts'
import type { LimitSettings } from '../../job/limit.ts'
import type { LimitSources } from '../../job/limit-sources.ts'
import type { QueueSources } from '../../job/queue-sources.ts'
import type { Stamps } from '../../job/schedule-sources.ts'
import type { MetricData } from '../../job/metric-data.ts'
import type { QueueSettings } from '../../job/queue-settings.ts'
import type { JobState } from '../../job/state.ts'
import type { NewJob } from '../../job/new-job.ts'
import type { DutyRecord, Slot } from '../../store/duty.ts'
import type { NewInstance } from '../../store/instance.ts'
import type { AttemptRecord } from '../../store/job-record.ts'
import type { TimelineEvent } from '../../store/metrics.ts'
import type { ScheduleRecord, TickRecord } from '../../store/schedule.ts'

export interface OracleState {
  readonly jobs: Map<string, OracleJob>
  /** By dedupe key. Apart from the jobs: a hold outlives the job that is deleted. */
  readonly holds: Map<string, Hold>
  /** Jobs that wait for the turn of their order key, in the order of joining, all keys together. */
  orderQueue: string[]
  /** Those in it that stand in front of all others. */
  firsts: Set<string>
  /** The job that has the turn, by queue and order key. */
  readonly orderLocks: Map<string, string>
  readonly queues: Map<string, OracleQueue>
  readonly instances: Map<string, OracleInstance>
  /** What the reaper took from instances, by instance: the crashes to take back if it registers again. */
  readonly lostJobs: Map<string, { readonly id: string; readonly token: number }[]>
  /** By name, whoever led them last. */
  readonly duties: Map<string, Writable<DutyRecord>>
  slots: Slot[]
  readonly schedules: Map<string, OracleSchedule>
  /** All schedules together, also of those that were deleted. */
  ticks: OracleTick[]
  readonly limits: Map<string, OracleLimit>
  /** The last recording of each source. */
  readonly recorded: Map<string, { readonly seq: number; readonly at: number }>
  /** Figures that were not rolled up yet. `at` is where their bucket of 10 s begins. */
  openDeltas: OracleDelta[]
  buckets: OracleBucket[]
  events: TimelineEvent[]
  lastSeq: number
  lastToken: number
  lastEvent: number
  settingsVersion: number
  membersVersion: number
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] }

export interface OracleJob extends Omit<NewJob, 'payload' | 'dueAt' | 'delayMs'> {
  readonly enqueuedAt: number
  payload: string
  state: JobState
  attempt: number
  crashes: number
  /** Means something while it is scheduled. */
  dueAt: number
  /** These two mean something while it is ready or running. */
  seq: number
  readyAt: number
  /** Null unless it is running. */
  run: Run | null
  result: string | null
  endedAt: number | null
  attempts: OracleAttempt[]
}

export interface Run {
  readonly token: number
  readonly instance: string
  readonly startedAt: number
  cancelReason: string | null
  progress: string | null
  log: string | null
}

export interface OracleAttempt extends AttemptRecord {
  /** Where a finish sent the job, for when it is sent again. Null when no finish wrote this: then it stays stale. */
  readonly wentTo: JobState | null
}

export interface Hold {
  readonly holder: string
  /** Null while the holder has not ended. */
  readonly until: number | null
}

export interface OracleQueue {
  settings: QueueSettings
  sources: QueueSources
  coolUntil: number
  throttles: number
}

export interface OracleInstance extends Omit<NewInstance, 'leaseMs' | 'stoodStill'> {
  readonly startedAt: number
  renewedAt: number
  expiresAt: number
  ended: 'lost' | 'stopped' | null
  endedAt: number | null
}

/** Without what is made of it when it is read. */
export interface OracleSchedule extends Writable<Omit<ScheduleRecord, 'live' | 'readAt'>> {
  /** Marked and not removed, so that the code's definition does not bring it back. */
  deleted: boolean
  stamps: Stamps
}

interface OracleTick extends TickRecord {
  readonly schedule: string
}

export interface OracleLimit {
  settings: LimitSettings
  sources: LimitSources
  budget: BudgetState
  /** Holders that were sent away and go before newcomers, and since when. */
  places: Map<string, number>
  /** By holder. */
  readonly permits: Map<string, Permit>
  /** The budgets of its keys, where it counts for each key by itself. */
  readonly keys: Map<string, OracleLimit>
}

export interface Permit {
  readonly amount: number
  /** That it goes with; null for the permit of a job, which goes with its attempt. */
  readonly instance: string | null
}

export interface OracleDelta {
  readonly scope: string
  readonly at: number
  readonly data: MetricData
}

export interface OracleBucket extends OracleDelta {
  readonly resolution: number
}

export function emptyState(): OracleState {
  return {
    jobs: new Map(),
    holds: new Map(),
    orderQueue: [],
    firsts: new Set(),
    orderLocks: new Map(),
    queues: new Map(),
    instances: new Map(),
    lostJobs: new Map(),
    duties: new Map(),
    slots: [],
    schedules: new Map(),
    ticks: [],
    limits: new Map(),
    recorded: new Map(),
    openDeltas: [],
    buckets: [],
    events: [],
    lastSeq: 0,
    lastToken: 0,
    lastEvent: 0,
    settingsVersion: 1,
    membersVersion: 1,
  }
}
