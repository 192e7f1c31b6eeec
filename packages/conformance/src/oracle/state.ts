/** The state of the oracle as plain data: no indexes, no derived values, no duplicates. */
import type {
  AlertRecord,
  BudgetState,
  ChildRecord,
  DutyRecord,
  GroupPatch,
  InstanceRow,
  JobRow,
  LimitSettings,
  LimitSources,
  MetricData,
  Overrides,
  QueueRow,
  ScheduleRecord,
  Slot,
  Stamp,
  StepRecord,
  TickRecord,
  TimelineEvent,
  Turn,
  ViewRecord,
} from 'jobmill/store'

export interface OracleState {
  /** The time of the current call, by the clock of its handle. */
  now: number
  readonly jobs: Map<string, OracleJob>
  /** Keyed by dedupe key. Separate from the jobs, because a hold outlives a deleted job. */
  readonly holds: Map<string, Hold>
  /** Jobs that wait for the order lock of their key, in the order of joining, all keys together. */
  orderQueue: string[]
  /** Jobs in `orderQueue` that come before all others. */
  firsts: Set<string>
  /** The job that holds the order lock, by queue and order key. */
  readonly orderLocks: Map<string, string>
  /** Jobs that wait for their group, in the order of joining, all groups together. */
  groupQueue: string[]
  /** Jobs that have passed the limits of their group, and are ready or running. */
  readonly passed: Set<string>
  /** What operators changed, and the used tokens, by queue and group. */
  readonly groups: Map<string, OracleGroup>
  /** Where the next claim of each fair queue continues. */
  readonly turns: Map<string, Turn>
  readonly queues: Map<string, QueueRow>
  readonly instances: Map<string, InstanceRow>
  /** The versions of instances that retention deleted, by instance. */
  readonly pastInstances: Map<string, PastInstance>
  /** Jobs that the reaper reclaimed, by instance: the crash counts to revert if it registers again. */
  readonly lostJobs: Map<string, { readonly id: string; readonly token: number }[]>
  /** The kinds whose cancelled jobs get a follow-up. */
  readonly followed: Set<string>
  /** Keyed by name, with the last leader. */
  readonly duties: Map<string, DutyRecord>
  slots: readonly Slot[]
  readonly schedules: Map<string, OracleSchedule>
  /** Ticks of all schedules, including deleted ones. */
  ticks: OracleTick[]
  readonly limits: Map<string, OracleLimit>
  readonly alerts: Map<string, AlertRecord>
  readonly views: Map<string, ViewRecord>
  /** The sequence number and time of the last metrics of each source. */
  readonly recorded: Map<string, { readonly seq: number; readonly at: number }>
  /** Metrics that are not rolled up yet. `at` is the start of their 10 s bucket. */
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

export interface OracleJob extends JobRow {
  readonly steps: Map<string, OracleStep>
  /** In the order of arrival. */
  readonly events: OracleEvent[]
  /** The children of its steps, in the order of their start. */
  children: OracleChild[]
}

export type OracleChild = Writable<ChildRecord>

export interface OracleStep extends Writable<StepRecord> {
  /** The token of the attempt that last wrote it. */
  token: number
}

interface OracleEvent {
  readonly id: string
  readonly name: string
  readonly payload: string
  /** The step that has taken it. */
  step: string | null
}

export interface Hold {
  readonly holder: string
  /** Null while the holder has not ended. */
  readonly until: number | null
}

interface PastInstance {
  readonly version: string
  readonly startedAt: number
  readonly endedAt: number
}

/** A stored schedule, without the fields that are computed on read. */
export interface OracleSchedule extends Writable<Omit<ScheduleRecord, 'operator' | 'live' | 'readAt'>> {
  overrides: Overrides
  /** Marked instead of removed, so that the definition in code does not restore it. */
  deleted: boolean
}

interface OracleTick extends TickRecord {
  readonly schedule: string
}

export interface OracleLimit {
  settings: LimitSettings
  sources: LimitSources
  budget: BudgetState
  /** Holders that were refused, with the time. They are served before new holders. */
  places: Map<string, number>
  /** Keyed by holder. */
  readonly permits: Map<string, Permit>
  /** The budgets of its keys, for a limit per key. */
  readonly keys: Map<string, OracleLimit>
}

export interface OracleGroup extends Required<GroupPatch> {
  readonly by: string | null
  /** Null if nothing is changed. */
  readonly at: number | null
  /** The instant up to which tokens are used, in microseconds. */
  readonly usedUntil: number
}

export interface Permit {
  readonly amount: number
  /** The instance it belongs to. Null for the permit of a job, which belongs to its attempt. */
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
    now: 0,
    jobs: new Map(),
    holds: new Map(),
    orderQueue: [],
    firsts: new Set(),
    orderLocks: new Map(),
    groupQueue: [],
    passed: new Set(),
    groups: new Map(),
    turns: new Map(),
    queues: new Map(),
    instances: new Map(),
    pastInstances: new Map(),
    lostJobs: new Map(),
    followed: new Set(),
    duties: new Map(),
    slots: [],
    schedules: new Map(),
    ticks: [],
    limits: new Map(),
    alerts: new Map(),
    views: new Map(),
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

/** Who changes something, and when. */
export function stampOf({ now }: OracleState, by: string | undefined): Stamp {
  return { by: by ?? null, at: now }
}
