/**
 * The contract between the runtime and a database. Each verb takes a batch of items.
 *
 * Rules for every verb:
 * - Time is the database's time. Callers pass durations, and the store adds them to its own clock.
 * - A promise resolves after the commit. A rejection with any code except OUTCOME_UNKNOWN means that
 *   nothing was written.
 * - A reply has one entry per item, in the order of the items.
 * - Every write for an attempt is fenced by its lease token. A write with a stale token changes nothing.
 * - Every verb except `claim` and `acquire` is idempotent, even when the same call is sent twice
 *   concurrently. The second call reports that the work is done.
 *
 * The conformance suite in testing/ proves that a store follows these rules.
 */
import type { NewJob } from '../job/new-job.ts'
import type { QueuePatch } from '../job/queue-settings.ts'
import type { ScheduleDefinition, ScheduleOption, SchedulePatch } from '../job/schedule.ts'
import type { LimitParts } from '../job/limit.ts'
import type { Overridable, OverrideRecord } from '../job/overrides.ts'
import type { ClaimRequest, HandedOver, HandOff, Held, Lease, StandBy } from './claim.ts'
import type { DutyRecord, Slot, SlotChange } from './duty.ts'
import type { Finish, Finished, Progress } from './finish.ts'
import type { InstanceRecord, NewInstance, Heartbeat, HeartbeatRequest } from './instance.ts'
import type { AttemptRecord, JobFailure, JobRecord, JobResult } from './job-record.ts'
import type { JobFilter, JobPage, PageRequest } from './job-list.ts'
import type { DeclaredLimit, LimitRecord, PermitOf, AcquireRequest, Acquired } from './limit.ts'
import type { MetricQuery, MetricRecord, Recording, TimelineEvent, TimelineQuery } from './metrics.ts'
import type { DeclaredQueue, QueueCounts, QueueRecord, UnservedKind } from './queue-record.ts'
import type { Enqueued, Reaped, Retained, RetainRequest, Staged, Verdict } from './replies.ts'
import type { WakeUp } from './wake-up.ts'
import type { DeclaredSchedule, ScheduleRecord, Tick, Ticked, TickRecord } from './schedule.ts'
import type { StoreTools } from './tools.ts'

/** `Tx` is the type of user transaction that the store accepts. */
export interface Store<Tx = unknown> extends WriteSide<Tx>, ReadSide, Notifier {
  /**
   * For banners and messages: `sqlite jobs.db`, `postgres app@localhost/app`. Must never contain a password.
   */
  readonly name: string
  /** The most bytes of payloads and metadata that one `enqueue` call may have (default 256 MiB). */
  readonly callLimitBytes?: number
  /** Connects, checks the schema version and runs pending migrations. Idempotent. */
  open(): Promise<void>
  /** Closes every connection and cancels every timer. Idempotent, and allowed before `open`. */
  close(): Promise<void>
}

/** A store with the admin and transfer tools that the command line needs. */
export interface ToolStore<Tx = unknown> extends Store<Tx> {
  readonly tools: StoreTools
}

/** The transaction type of a store. For a union of stores, the union of their transaction types. */
export type TxOf<S> = S extends Store<infer Tx> ? Tx : never

export interface WriteSide<Tx> {
  /**
   * Inserts new jobs. With `tx`, they become visible when the user's transaction commits. `mayRepeat` says
   * that some ids may exist already, because a call was retried or the user chose the id. The store treats
   * an existing id as the same job. `handOff` allows direct dispatch: the store leases jobs to the free
   * workers of the caller. It is ignored together with `tx` or `mayRepeat`.
   */
  enqueue(
    jobs: readonly NewJob[],
    options?: {
      readonly tx?: Tx | undefined
      readonly mayRepeat?: boolean
      readonly handOff?: HandOff | undefined
    },
  ): Promise<Enqueued[]>
  /** Makes due jobs ready, and also jobs whose order lock became free: at most `limit` of each. */
  stage(limit: number): Promise<Staged>
  /**
   * Leases ready jobs by priority, then in the order in which they became ready. Skips paused queues and
   * queues that are cooling down.
   */
  claim(request: ClaimRequest): Promise<Lease[]>
  /**
   * Ends attempts. With `tx`, writes their outcomes in the user's transaction. With `rehearse`, writes them
   * and rolls back: the reply or the error shows whether the database would accept them. It is ignored
   * together with `tx`.
   */
  finish(
    items: readonly Finish[],
    options?: { readonly tx?: Tx | undefined; readonly rehearse?: boolean },
  ): Promise<Finished[]>
  /** Stores the progress and log of running attempts. Returns true for each item whose token was current. */
  progress(items: readonly Progress[]): Promise<boolean[]>

  /**
   * Cancels waiting jobs at once. Asks running jobs to stop: they end as cancelled unless they complete
   * first.
   */
  cancel(ids: readonly string[], reason: string): Promise<Verdict[]>
  /**
   * Makes dead and cancelled jobs ready again. Resets their attempts and crashes to 0 and keeps their
   * history.
   */
  retry(ids: readonly string[]): Promise<Verdict[]>
  /** Makes scheduled jobs ready now. */
  runNow(ids: readonly string[]): Promise<Verdict[]>
  /** Deletes jobs that are not running, with their history. */
  delete(ids: readonly string[]): Promise<Verdict[]>

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
   * Deletes at most `limit` ended jobs that exceed the retention settings, by age or by number. Also deletes
   * other expired records, such as ticks, events and metrics.
   */
  retain(request: RetainRequest): Promise<Retained>
  /** Merges at most `limit` counter rows that are not folded yet, and returns how many it merged. */
  fold(limit: number): Promise<number>
  /**
   * Merges at most `limit` recorded metrics into their buckets of every resolution, and returns how many it
   * merged. Metrics that arrive late are merged in the same way.
   */
  rollUp(limit: number): Promise<number>
  /**
   * Stores the metrics and timeline events of a process. A recording with the same `seq` is stored only once.
   */
  record(recording: Recording): Promise<void>

  /**
   * Stores the queue settings from code and creates missing queues. A setting from code applies unless it is
   * overridden; a setting that code no longer names returns to its default. `settings: null` only creates the
   * queue. If a queue is declared twice, the last declaration wins. Fails with LIMIT_UNKNOWN and
   * OPTION_CONFLICT like `changeQueue`.
   */
  declareQueues(queues: readonly DeclaredQueue[]): Promise<void>
  /**
   * Overrides settings of one queue. `by` names the operator. Setting a pause back to the value from code
   * removes that override. Fails with QUEUE_UNKNOWN, with LIMIT_UNKNOWN if its limit does not exist, and with
   * OPTION_CONFLICT if that limit is per key.
   */
  changeQueue(name: string, patch: QueuePatch, by?: string): Promise<QueueRecord>

  /**
   * Assigns workers to instances. Writes only changed assignments of live instances, and returns their
   * number.
   */
  assign(slots: readonly SlotChange[]): Promise<number>

  /**
   * Stores the schedule definitions from code. Creates new ones and updates changed ones, unless the stored
   * version is higher. Changes and deletions by an operator remain in effect in every version.
   */
  declareSchedules(schedules: readonly DeclaredSchedule[]): Promise<void>
  /**
   * Creates a schedule at run time, or recreates a deleted one. Fails with SCHEDULE_EXISTS if the name is
   * taken. If code defines the schedule too, the overrides are the options in `named` and those that differ
   * from code.
   */
  createSchedule(
    name: string,
    definition: ScheduleDefinition,
    by?: string,
    named?: readonly ScheduleOption[],
  ): Promise<ScheduleRecord>
  /**
   * Overrides options of a schedule. Setting a pause back to the value from code removes that override. Fails
   * with SCHEDULE_UNKNOWN.
   */
  changeSchedule(name: string, patch: SchedulePatch, by?: string): Promise<ScheduleRecord>
  /**
   * Deletes a schedule and keeps its jobs. Returns false if it does not exist. If code defines the schedule,
   * the deletion is stored as an override by `by`, and its other overrides end.
   */
  deleteSchedule(name: string, by?: string): Promise<boolean>
  /**
   * Serves planned instants. Each instant is served exactly once, across all callers and retries. A
   * refused tick changes nothing and does not affect the other ticks.
   */
  tick(ticks: readonly Tick[]): Promise<Ticked[]>
  /**
   * Stores the error of a schedule that could not be served, or null after a success. Changes nothing else.
   */
  scheduleFailed(name: string, error: string | null): Promise<void>

  /**
   * Stores the limit settings from code and creates missing limits. A setting from code applies unless it is
   * overridden. If `perKey` changes, all budgets start full. Fails with OPTION_CONFLICT if `perKey` would
   * change while a queue uses the limit.
   */
  declareLimits(limits: readonly DeclaredLimit[]): Promise<void>
  /**
   * Creates a limit at run time. Fails with OPTION_CONFLICT if a limit with this name but other settings
   * exists.
   */
  createLimit(name: string, settings: LimitParts, by?: string): Promise<LimitRecord>
  /**
   * Overrides settings of a limit, including the budgets of its keys. Granted permits stay valid, even if
   * they now exceed the limit. Fails with LIMIT_UNKNOWN, and with OPTION_CONFLICT on an attempt to override
   * `perKey`.
   */
  changeLimit(name: string, settings: LimitParts, by?: string): Promise<LimitRecord>
  /**
   * Deletes a limit and the budgets of its keys. Returns false if it does not exist. Fails with LIMIT_IN_USE
   * while a queue uses it.
   */
  deleteLimit(name: string): Promise<boolean>
  /**
   * Removes overrides of a queue, limit or schedule, so that the values from code apply again. `options:
   * null` means all. Resetting the option `deleted` restores a schedule. Returns the options that were
   * overridden. Fails with QUEUE_UNKNOWN, LIMIT_UNKNOWN or SCHEDULE_UNKNOWN, and with OPTION_CONFLICT for
   * limits and schedules created at run time.
   */
  resetOverrides(what: Overridable, name: string, options: readonly string[] | null): Promise<string[]>
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
}

export interface ReadSide {
  /** The database's current time, for callers that must name an instant which the database will compare. */
  now(): Promise<number>
  get(ids: readonly string[]): Promise<(JobRecord | null)[]>
  /** The states and results of awaited jobs. Omits payloads, so that frequent polling is cheap. */
  results(ids: readonly string[]): Promise<(JobResult | null)[]>
  /**
   * The id of the job that holds each dedupe key, or null. Keys are passed as stored, with their scope. A key
   * can remain held after its job is gone.
   */
  holders(keys: readonly string[]): Promise<(string | null)[]>
  /**
   * The failure of each job's last ended attempt, for at most 500 jobs. Null for jobs that are unknown, never
   * ran, or whose last attempt did not fail. An attempt counts as failed if it failed, timed out, failed
   * permanently, or left the job dead. A job that is being retried counts as failed until an attempt ends
   * without a failure.
   */
  failures(ids: readonly string[]): Promise<(JobFailure | null)[]>
  /** The attempts of a job, oldest first. */
  history(id: string): Promise<AttemptRecord[]>
  list(filter: JobFilter, page: PageRequest): Promise<JobPage>
  /** Exact job counts of every queue, sorted by name. Must not scan ended jobs. */
  counts(): Promise<QueueCounts[]>
  queues(): Promise<QueueRecord[]>
  instances(): Promise<InstanceRecord[]>
  /**
   * Kinds with ready jobs that no live instance serves in their queue, sorted by queue and kind. A store may
   * read only the first 10,000 ready jobs of each queue, because jobs without a worker accumulate there.
   */
  unservedKinds(): Promise<UnservedKind[]>
  /**
   * How many ready jobs of the same queue would be claimed before this one, counted up to 10,000. Null unless
   * the job is ready. `kinds` restricts the count, because jobs of other kinds do not delay this one.
   */
  position(id: string, kinds?: readonly string[]): Promise<number | null>
  /** The leases that the database has on record for an instance. */
  held(instance: string): Promise<Held[]>
  /** Every duty that ever had a leader, sorted by name. */
  duties(): Promise<DutyRecord[]>
  /** The workers assigned to live instances, sorted by queue and instance. */
  slots(): Promise<Slot[]>
  /** All schedules except deleted ones, sorted by name. */
  schedules(): Promise<ScheduleRecord[]>
  /** The served instants of a schedule, newest first. */
  ticks(schedule: string, limit: number): Promise<TickRecord[]>
  /** All limits, sorted by name. */
  limits(): Promise<LimitRecord[]>
  /**
   * The overrides of queues, limits and schedules, in this order, sorted by name and option. Excludes objects
   * that were created at run time.
   */
  overrides(): Promise<OverrideRecord[]>
  /** Metrics sorted by scope and time, including those that are not rolled up yet. */
  metrics(query: MetricQuery): Promise<MetricRecord[]>
  timeline(query: TimelineQuery): Promise<TimelineEvent[]>
}

/** Wake-ups only reduce latency. Every operation is correct without them, because instances also poll. */
export interface Notifier {
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
   * Offers an idle worker to the process that last sent a notification for this queue. Returns false if no
   * other process did, or if it already has this offer. Best effort; never throws. Does nothing in a store
   * whose processes cannot reach each other.
   */
  standBy(offer: StandBy): boolean
  /**
   * Registers the receiver of jobs that other processes lease to this instance by remote dispatch. Returns a
   * function that unregisters it. A job whose message is lost is recovered like a claim whose reply was lost.
   */
  receive(instance: string, acquire: (handed: HandedOver) => void): () => void
}
