/** The parts of a store besides its jobs. The rules in store.ts apply to every verb. */
import type { LimitParts } from '../job/limit/limit.ts'
import type { Overridable, OverrideRecord } from '../job/queue/overrides.ts'
import type { QueuePatch } from '../job/queue/queue-settings.ts'
import type { ScheduleDefinition, ScheduleOption, SchedulePatch } from '../job/schedule/schedule.ts'
import type { AlertRecord, AlertWrite } from './types/alert.ts'
import type { DispatchedJob, Held, IdleWorkerOffer } from './types/claim.ts'
import type { DutyRecord, Slot, SlotChange } from './types/duty.ts'
import type {
  Heartbeat,
  HeartbeatRequest,
  InstanceRecord,
  InstanceRequest,
  NewInstance,
  VersionRecord,
} from './types/instance.ts'
import type { ReadOptions } from './types/job-list.ts'
import type { AttemptRun, JobFailure } from './types/job-record.ts'
import type { Acquired, AcquireRequest, DeclaredLimit, LimitRecord, PermitOf } from './types/limit.ts'
import type { GroupListRequest, GroupPatch, GroupRecord } from './types/group.ts'
import type { NewView, ViewRecord } from './types/view.ts'
import type { MetricQuery, MetricRecord, Recording, TimelineEvent, TimelineQuery } from './types/metrics.ts'
import type { DeclaredQueue, QueueRecord, UnservedKind } from './types/queue-record.ts'
import type { Reaped } from './types/replies.ts'
import type { DeclaredSchedule, ScheduleRecord, Tick, Ticked, TickRecord } from './types/schedule.ts'
import type { WakeUp } from './types/wake-up.ts'

export type { StepsPart } from './steps-part.ts'

export interface QueuesPart {
  /**
   * Stores the queue settings from code and creates missing queues. A setting from code applies unless it is
   * overridden; a setting that code no longer names returns to its default. `settings: null` only creates the
   * queue. `unlessDeclared` leaves a queue unchanged that has settings from code, unlike one that a job
   * created. If a queue is declared twice, the last declaration wins. Fails with LIMIT_UNKNOWN and
   * OPTION_CONFLICT like `change`.
   */
  declare(queues: readonly DeclaredQueue[]): Promise<void>
  /**
   * Overrides settings of one queue. `by` names the operator. Setting a pause back to the value from code
   * removes that override. Fails with QUEUE_UNKNOWN, with LIMIT_UNKNOWN if its limit does not exist, and with
   * OPTION_CONFLICT if that limit is per key.
   */
  change(name: string, patch: QueuePatch, by?: string): Promise<QueueRecord>
  list(): Promise<QueueRecord[]>
}

/** The processes that run jobs, the workers assigned to them, and the duties that one of them leads. */
export interface InstancesPart {
  /**
   * Registers an instance as alive. A second call with the same id replaces the record, even after the
   * instance was reaped.
   */
  register(instance: NewInstance): Promise<void>
  /** Extends the lease of an instance and returns everything that an idle instance needs to know. */
  renew(request: HeartbeatRequest): Promise<Heartbeat>
  /**
   * Ends an instance. The jobs that it still holds return to their queues as if never claimed. Returns their
   * number.
   */
  deregister(instance: string): Promise<number>
  /** Returns the jobs of at most `limit` expired instances to their queues. */
  reap(options: { readonly crashesUntilDead: number; readonly limit: number }): Promise<Reaped>
  /**
   * Stores what an operator requests of a running instance; null withdraws `quiet`. From then on the
   * instance gets no lease, and after `stop` it leads no duty. Changes `membersVersion`. A registration keeps
   * the request. The same request again changes nothing. Fails with INSTANCE_UNKNOWN, and with INSTANCE_ENDED
   * if the instance was lost, has stopped, or was asked to stop.
   */
  request(instance: string, request: InstanceRequest | null, by: string): Promise<InstanceRecord>
  list(): Promise<InstanceRecord[]>
  /** The leases that the database has on record for an instance. */
  held(instance: string): Promise<Held[]>
  /**
   * Assigns workers to instances. Writes only changed assignments of live instances, and returns their
   * number.
   */
  assign(slots: readonly SlotChange[]): Promise<number>
  /** The workers assigned to live instances, sorted by queue and instance. */
  slots(): Promise<Slot[]>
  /** Every duty that ever had a leader, sorted by name. */
  duties(): Promise<DutyRecord[]>
}

/** Settings of queues, limits and schedules that an operator changed. */
export interface OverridesPart {
  /**
   * The overrides of queues, limits and schedules, in this order, sorted by name and option. Excludes objects
   * that were created at run time.
   */
  list(): Promise<OverrideRecord[]>
  /**
   * Removes overrides of a queue, limit or schedule, so that the values from code apply again. `options:
   * null` means all. Resetting the option `deleted` restores a schedule. Returns the options that were
   * overridden. Fails with QUEUE_UNKNOWN, LIMIT_UNKNOWN or SCHEDULE_UNKNOWN, and with OPTION_CONFLICT for
   * limits and schedules created at run time.
   */
  reset(what: Overridable, name: string, options: readonly string[] | null): Promise<string[]>
}

/** Reads for operators. No job depends on them. */
export interface InspectPart {
  /**
   * The failure of each job's last ended attempt, for at most 500 jobs. Null for jobs that are unknown, never
   * ran, or whose last attempt did not fail. An attempt counts as failed if it failed, timed out, failed
   * permanently, or left the job dead. A job that is being retried counts as failed until an attempt ends
   * without a failure.
   */
  failures(ids: readonly string[], options?: ReadOptions): Promise<(JobFailure | null)[]>
  /**
   * The attempts of at most 500 jobs that an instance ran and that ended at or after `endedFrom`, sorted by
   * the end, then by the id of the job. Unknown ids are ignored.
   */
  runs(ids: readonly string[], endedFrom: number, options?: ReadOptions): Promise<AttemptRun[]>
  /**
   * The id of the job that holds each dedupe key, or null. Keys are passed as stored, with their scope. A key
   * can remain held after its job is gone.
   */
  holders(keys: readonly string[]): Promise<(string | null)[]>
  /**
   * How many ready jobs of the same queue would be claimed before this one, counted up to 10,000. In a fair
   * queue, how many of its group. Null unless the job is ready. `kinds` restricts the count, because jobs of
   * other kinds do not delay this one.
   */
  position(id: string, kinds?: readonly string[]): Promise<number | null>
  /**
   * For a job that waits for its order lock: the id of the job that holds the lock, or that gets it next
   * while it is free. Null for other jobs, and for the job that is next itself.
   */
  blocker(id: string): Promise<string | null>
  /**
   * Kinds with ready jobs that no live instance serves in their queue, sorted by queue and kind. A store may
   * read only the first 10,000 ready jobs of each queue, because jobs without a worker accumulate there.
   */
  unservedKinds(options?: ReadOptions): Promise<UnservedKind[]>
  /**
   * The versions that instances declared, latest first, at most 100. Remembers the instances of the last 90
   * days, and at most 20,000 that ended.
   */
  versions(options?: ReadOptions): Promise<VersionRecord[]>
}

export interface SchedulesPart {
  /**
   * Stores the schedule definitions from code. Creates new ones and updates changed ones, unless the stored
   * version is higher. Changes and deletions by an operator remain in effect in every version.
   */
  declare(schedules: readonly DeclaredSchedule[]): Promise<void>
  /**
   * Creates a schedule at run time, or recreates a deleted one. Fails with SCHEDULE_EXISTS if the name is
   * taken. If code defines the schedule too, the overrides are the options in `named` and those that differ
   * from code.
   */
  create(
    name: string,
    definition: ScheduleDefinition,
    by?: string,
    named?: readonly ScheduleOption[],
  ): Promise<ScheduleRecord>
  /**
   * Overrides options of a schedule. Setting a pause back to the value from code removes that override. Fails
   * with SCHEDULE_UNKNOWN.
   */
  change(name: string, patch: SchedulePatch, by?: string): Promise<ScheduleRecord>
  /**
   * Deletes a schedule and keeps its jobs. Returns false if it does not exist. If code defines the schedule,
   * the deletion is stored as an override by `by`, and its other overrides end.
   */
  delete(name: string, by?: string): Promise<boolean>
  /**
   * Serves planned instants. Each instant is served exactly once, across all callers and retries. A
   * refused tick changes nothing and does not affect the other ticks.
   */
  tick(ticks: readonly Tick[]): Promise<Ticked[]>
  /**
   * Stores the error of a schedule that could not be served, or null after a success. Changes nothing else.
   */
  failed(name: string, error: string | null): Promise<void>
  /** All schedules except deleted ones, sorted by name. */
  list(): Promise<ScheduleRecord[]>
  /** The served instants of a schedule, newest first. */
  ticks(schedule: string, limit: number): Promise<TickRecord[]>
}

export interface LimitsPart {
  /**
   * Stores the limit settings from code and creates missing limits. A setting from code applies unless it is
   * overridden. If `perKey` changes, all budgets start full. Fails with OPTION_CONFLICT if `perKey` would
   * change while a queue uses the limit. `queues` are declared in the same transaction, after the limits: if
   * one of them is refused, no limit is written.
   */
  declare(limits: readonly DeclaredLimit[], queues?: readonly DeclaredQueue[]): Promise<void>
  /**
   * Creates a limit at run time. Fails with OPTION_CONFLICT if a limit with this name but other settings
   * exists.
   */
  create(name: string, settings: LimitParts, by?: string): Promise<LimitRecord>
  /**
   * Overrides settings of a limit, including the budgets of its keys. Granted permits stay valid, even if
   * they now exceed the limit. Fails with LIMIT_UNKNOWN, and with OPTION_CONFLICT on an attempt to override
   * `perKey`.
   */
  change(name: string, settings: LimitParts, by?: string): Promise<LimitRecord>
  /**
   * Deletes a limit and the budgets of its keys. Returns false if it does not exist. Fails with LIMIT_IN_USE
   * while a queue uses it.
   */
  delete(name: string): Promise<boolean>
  /** Acquires tokens or permits. Requests for the same limit are served in the order of the items. */
  acquire(items: readonly AcquireRequest[]): Promise<Acquired[]>
  /** Releases permits before their job ends. Returns true for each permit that existed. */
  release(items: readonly PermitOf[]): Promise<boolean[]>
  /**
   * Empties a limit: grants nothing for `forMs` and discards the accumulated budget. A per-key limit needs a
   * `key` and replies with the numbers of that key. Fails with LIMIT_UNKNOWN, and with OPTION_CONFLICT if a
   * required key is missing.
   */
  drain(name: string, forMs: number, key?: string): Promise<LimitRecord>
  /** All limits, sorted by name. */
  list(): Promise<LimitRecord[]>
}

/** The groups of queues: shares, limits and pauses of single groups. */
export interface GroupsPart {
  /**
   * Changes the settings of one group, which need not have jobs. Fails with QUEUE_UNKNOWN. Jobs of a group
   * that is paused, or gets a limit, wait in the group; those that a claim took or that had already passed
   * its limits still run.
   */
  change(queue: string, group: string, patch: GroupPatch, by?: string): Promise<GroupRecord>
  /**
   * The groups of a queue that have jobs to run or settings of their own, at most `limit`: most waiting jobs
   * first, then by name. A store may read only the first 1,000 groups by name. Fails with QUEUE_UNKNOWN.
   */
  list(queue: string, request: GroupListRequest, options?: ReadOptions): Promise<GroupRecord[]>
}

/** Alert rules with their state. There are few rules, and each is read and written as a whole. */
export interface AlertsPart {
  /** All rules, sorted by name. */
  list(): Promise<AlertRecord[]>
  /**
   * Writes a rule and its state, if the stored revision is still the given one, or if the name is free and
   * the given revision is null. Returns the new revision, or null if nothing was written. A new rule starts
   * at the current time in milliseconds, so that no revision of a deleted rule returns.
   */
  put(write: AlertWrite): Promise<number | null>
  /** Deletes a rule and its state. Returns false if it does not exist. */
  delete(name: string): Promise<boolean>
}

/** Saved views of the job list. There are few. */
export interface ViewsPart {
  /** All views, sorted by name: by its bytes in UTF-8. */
  list(): Promise<ViewRecord[]>
  /**
   * Writes a new view, with the current time. Returns false and writes nothing if a different view has its
   * name. A repeated call returns true.
   */
  add(view: NewView): Promise<boolean>
  /** Returns false if the view does not exist. */
  delete(name: string): Promise<boolean>
}

export interface MetricsPart {
  /**
   * Stores the metrics and timeline events of a process. A recording with the same `seq` is stored only once.
   */
  record(recording: Recording): Promise<void>
  /**
   * Merges at most `limit` recorded metrics into their buckets of every resolution, and returns how many it
   * merged. Metrics that arrive late are merged in the same way.
   */
  rollUp(limit: number): Promise<number>
  /** Metrics sorted by scope and time, including those that are not rolled up yet. */
  read(query: MetricQuery, options?: ReadOptions): Promise<MetricRecord[]>
  timeline(query: TimelineQuery, options?: ReadOptions): Promise<TimelineEvent[]>
}

/** Wake-ups only reduce latency. Every operation is correct without them, because instances also poll. */
export interface NotifierPart {
  /** Waits for wake-ups of these queues. Resolves with an empty list on timeout or abort. */
  wait(options: {
    readonly queues: readonly string[]
    readonly timeoutMs: number
    readonly signal?: AbortSignal
  }): Promise<readonly WakeUp[]>
  /** Wakes the instances that wait for these queues, in all processes. Best effort; never throws. */
  notify(queues: readonly string[]): void
  /**
   * Forwards a wake-up to the instances after the first `skip` in its order, because this one has no free
   * worker. Best effort; never throws.
   */
  forward(wakeUp: WakeUp): void
  /**
   * Whether a wake-up announces all work that another process leaves for this one, so that an idle instance
   * may poll less often. See docs/internals/store-contract.md. Absent means never. When this becomes false,
   * every wait ends.
   */
  isListening?(): boolean
  /** Absent in a store whose processes cannot reach each other. */
  readonly remote?: RemoteDispatch | undefined
}

/** Leases new jobs to idle workers of other processes without a claim. */
export interface RemoteDispatch {
  /**
   * Offers an idle worker to the process that last sent a notification for this queue. Returns false if no
   * other process did, or if it already has this offer. Best effort; never throws.
   */
  offerWorker(offer: IdleWorkerOffer): boolean
  /**
   * Registers the receiver of jobs that other processes lease to this instance by remote dispatch. Returns a
   * function that unregisters it. A job whose message is lost is recovered like a claim whose reply was lost.
   */
  receive(instance: string, take: (dispatched: DispatchedJob) => void): () => void
}
