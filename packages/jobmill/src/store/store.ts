/**
 * The contract between the runtime and a database: few verbs, each for many items at once.
 *
 * Rules that hold for every verb:
 * - Time is the database's. Durations go in, the store adds them to its own now.
 * - A promise resolves after the commit. What rejects with a code other than OUTCOME_UNKNOWN changed nothing.
 * - An answer has one entry per item, in the order of the items.
 * - Every write on behalf of an attempt is fenced by the token of its claim; a stale one changes nothing.
 * - Every verb may be sent twice, also at once: the second finds the work done and says so.
 * The proof that a store keeps them is the suite in testing/.
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

/** `Tx` is what the store accepts as a transaction of the user's. */
export interface Store<Tx = unknown> extends WriteSide<Tx>, ReadSide, Notifier {
  /** For banners and messages, never with a password: `sqlite jobs.db`, `postgres app@localhost/app`. */
  readonly name: string
  /** Connects, checks the version, migrates. Safe twice. */
  open(): Promise<void>
  /** Lets go of every connection and timer. Safe twice, and before open. */
  close(): Promise<void>
}

/** A store that the command line can look after. */
export interface ToolStore<Tx = unknown> extends Store<Tx> {
  readonly tools: StoreTools
}

/** What a store accepts as a transaction; of one of several stores, what either accepts. */
export type TxOf<S> = S extends Store<infer Tx> ? Tx : never

export interface WriteSide<Tx> {
  /**
   * Writes new jobs. With `tx` they become visible when the user commits. `mayRepeat` says that some of the
   * ids may exist already (a re-send after an unknown outcome, an id the user gave): those are the same jobs.
   * `handOff` leases to the caller what its free workers can begin with; with one of the others it changes nothing.
   */
  enqueue(
    jobs: readonly NewJob[],
    options?: {
      readonly tx?: Tx | undefined
      readonly mayRepeat?: boolean
      readonly handOff?: HandOff | undefined
    },
  ): Promise<Enqueued[]>
  /** Makes due jobs, and jobs whose turn has come, ready: at most `limit` of each. */
  stage(limit: number): Promise<Staged>
  /** Leases ready jobs: by priority, then in the order of becoming ready; nothing from paused or cooling queues. */
  claim(request: ClaimRequest): Promise<Lease[]>
  /** Ends attempts. `tx` writes them in the user's transaction. */
  finish(items: readonly Finish[], options?: { readonly tx?: Tx | undefined }): Promise<Finished[]>
  /** Notes how far running attempts are; true where the token was current. */
  progress(items: readonly Progress[]): Promise<boolean[]>

  /** What waits is cancelled; what runs is asked to stop, and ends as cancelled unless it is done first. */
  cancel(ids: readonly string[], reason: string): Promise<Verdict[]>
  /** Dead and cancelled jobs begin again, attempts and crashes at 0, history kept. */
  retry(ids: readonly string[]): Promise<Verdict[]>
  /** Scheduled jobs become ready now. */
  runNow(ids: readonly string[]): Promise<Verdict[]>
  /** Removes jobs that do not run, with their history. */
  delete(ids: readonly string[]): Promise<Verdict[]>

  /** Makes an instance known and alive. Again with the same id: replaces what is known, also after it was lost. */
  register(instance: NewInstance): Promise<void>
  /** Keeps an instance alive, and tells it all it needs to know while idle. */
  renew(request: HeartbeatRequest): Promise<Heartbeat>
  /** Ends an instance; jobs it still holds go back as if never claimed. Returns how many those were. */
  deregister(instance: string): Promise<number>
  /** Takes back the jobs of instances that expired: at most `limit` instances. */
  reap(options: { readonly crashesUntilDead: number; readonly limit: number }): Promise<Reaped>
  /** Deletes what the settings no longer keep, by age and by number: at most `limit` jobs; and what else has become too old. */
  retain(request: RetainRequest): Promise<Retained>
  /** Brings open counter rows together, at most `limit`; returns how many there were. */
  fold(limit: number): Promise<number>
  /** Merges open figures into their buckets of every resolution, at most `limit`; returns how many there were. Late ones are merged like any other. */
  rollUp(limit: number): Promise<number>
  /** Keeps figures and events of a process. Sent again with the same `seq`, it changes nothing. */
  record(recording: Recording): Promise<void>

  /**
   * Writes what code names of queues, and creates those that are not there. Every option counts as code says unless it is overridden; one that code no longer
   * names is at its default again. `settings: null` only creates. Of several declarations the last one counts. LIMIT_UNKNOWN, OPTION_CONFLICT as for changeQueue.
   */
  declareQueues(queues: readonly DeclaredQueue[]): Promise<void>
  /**
   * Overrides settings of one queue, which must exist (QUEUE_UNKNOWN), and so must the limit that it names (LIMIT_UNKNOWN), which may not be one for each key
   * (OPTION_CONFLICT). `by` is who does it. A pause that is set back to what code says is no override any more.
   */
  changeQueue(name: string, patch: QueuePatch, by?: string): Promise<QueueRecord>

  /** Sets how many workers instances run. Writes only what differs; returns how many that were. Of instances that are not alive nothing is written. */
  assign(slots: readonly SlotChange[]): Promise<number>

  /**
   * Writes the definitions of code: new ones are created, changed ones updated, except where the stored version is higher. What an operator changed or
   * deleted stays so, whatever the version.
   */
  declareSchedules(schedules: readonly DeclaredSchedule[]): Promise<void>
  /**
   * Creates one at run time. SCHEDULE_EXISTS when there is one of this name; one that was deleted comes back as it is given here. Where code defines it, the
   * overrides are the options that differ from code and those that the caller `named`.
   */
  createSchedule(
    name: string,
    definition: ScheduleDefinition,
    by?: string,
    named?: readonly ScheduleOption[],
  ): Promise<ScheduleRecord>
  /** Overrides options of one (SCHEDULE_UNKNOWN). A pause that is set back to what code says is no override any more. */
  changeSchedule(name: string, patch: SchedulePatch, by?: string): Promise<ScheduleRecord>
  /** False when there is none. Its jobs stay. Of a schedule of code the deletion is an override, by `by`, and its other overrides end. */
  deleteSchedule(name: string, by?: string): Promise<boolean>
  /** Serves planned instants: once each, whoever asks and however often. One that is refused changes nothing, and its neighbours all the same. */
  tick(ticks: readonly Tick[]): Promise<Ticked[]>
  /** Notes why a schedule could not be served, or null that it could; it stays as it is. */
  scheduleFailed(name: string, error: string | null): Promise<void>

  /**
   * Writes what code names of limits, and creates those that are not there. Every option counts as code says unless it is overridden. Whether it counts for each
   * key by itself changes too, and all budgets are full then; not while a queue names it (OPTION_CONFLICT).
   */
  declareLimits(limits: readonly DeclaredLimit[]): Promise<void>
  /** Creates one at run time. OPTION_CONFLICT when there is one of this name that counts otherwise. */
  createLimit(name: string, settings: LimitParts, by?: string): Promise<LimitRecord>
  /**
   * Overrides what is named (LIMIT_UNKNOWN). Who holds permits keeps them, also when there are more than the new number. The budgets of keys change with it.
   * Whether it counts for each key by itself cannot be overridden (OPTION_CONFLICT).
   */
  changeLimit(name: string, settings: LimitParts, by?: string): Promise<LimitRecord>
  /** False when there is none; refused (LIMIT_IN_USE) while a queue names it. The budgets of its keys go with it. */
  deleteLimit(name: string): Promise<boolean>
  /**
   * Ends overrides of a queue, limit or schedule: of these options, or of all; then code counts. The option `deleted` of a schedule brings it back. Returns those
   * that were overridden. QUEUE_UNKNOWN, LIMIT_UNKNOWN,
   * SCHEDULE_UNKNOWN; OPTION_CONFLICT for what was created at run time, of which code says nothing.
   */
  resetOverrides(what: Overridable, name: string, options: readonly string[] | null): Promise<string[]>
  /** Draws on limits; items of one limit in their order. */
  acquire(items: readonly AcquireRequest[]): Promise<Acquired[]>
  /** Gives permits back before their job ends; true where there was one. */
  release(items: readonly PermitOf[]): Promise<boolean[]>
  /**
   * Empties a limit: nothing is granted for `forMs`, what had gathered is gone (LIMIT_UNKNOWN). One that counts for each key by itself is drained key by key (OPTION_CONFLICT without
   * one), and the reply has the figures of that key.
   */
  drain(name: string, forMs: number, key?: string): Promise<LimitRecord>
}

export interface ReadSide {
  /** The database's now: for whoever has to name an instant that it will be compared with. */
  now(): Promise<number>
  get(ids: readonly string[]): Promise<(JobRecord | null)[]>
  /** How jobs stand that somebody awaits: without payloads, so that asking often is cheap. */
  results(ids: readonly string[]): Promise<(JobResult | null)[]>
  /** Which job holds each of these dedupe keys, as jobs carry them; null where nobody does. A hold may outlive its job. */
  holders(keys: readonly string[]): Promise<(string | null)[]>
  /**
   * Of up to 500 jobs, how the last attempt ended that each of them has, where it failed; null for those that did well, have none, or are unknown. It failed
   * when it threw, timed out or gave up, or the job is dead of it. The last one is the last that ended, wherever the job is now: a job that waits for
   * its next attempt, is ready for it or runs it has failed until that one ends well.
   */
  failures(ids: readonly string[]): Promise<(JobFailure | null)[]>
  /** The attempts of a job, oldest first. */
  history(id: string): Promise<AttemptRecord[]>
  list(filter: JobFilter, page: PageRequest): Promise<JobPage>
  /** Exact, and without a scan of ended jobs. Every queue, by name. */
  counts(): Promise<QueueCounts[]>
  queues(): Promise<QueueRecord[]>
  instances(): Promise<InstanceRecord[]>
  /**
   * Kinds that wait although no living instance takes them from their queue. Looks at the first 10,000 ready jobs of each queue:
   * what nobody takes gathers there. By queue, then kind.
   */
  unservedKinds(): Promise<UnservedKind[]>
  /**
   * How many ready jobs of its queue would be claimed before this one, counted up to 10,000; null unless it is ready. With `kinds`, only jobs of these: what
   * nobody takes stands in nobody's way.
   */
  position(id: string, kinds?: readonly string[]): Promise<number | null>
  /** What the database believes an instance is running. */
  held(instance: string): Promise<Held[]>
  /** Every duty that ever had a leader, by name. */
  duties(): Promise<DutyRecord[]>
  /** The assigned workers of living instances, by queue and instance. */
  slots(): Promise<Slot[]>
  /** By name, without the deleted ones. */
  schedules(): Promise<ScheduleRecord[]>
  /** The newest served instants of a schedule first. */
  ticks(schedule: string, limit: number): Promise<TickRecord[]>
  /** By name. */
  limits(): Promise<LimitRecord[]>
  /** Of queues, limits and schedules in this order, each by name, and by option. Not of what was created at run time. */
  overrides(): Promise<OverrideRecord[]>
  /** By scope and time; also what was not rolled up yet. */
  metrics(query: MetricQuery): Promise<MetricRecord[]>
  timeline(query: TimelineQuery): Promise<TimelineEvent[]>
}

/** Wake-ups only shorten a wait. Everything is correct without any, by polling. */
export interface Notifier {
  /** What rang for these queues: empty when the time is over or the signal fired. */
  wait(options: {
    readonly queues: readonly string[]
    readonly timeoutMs: number
    readonly signal?: AbortSignal
  }): Promise<readonly WakeUp[]>
  /** Wakes whoever waits for these queues, here and in other processes. Best effort, never throws. */
  notify(queues: readonly string[]): void
  /** Hands a ring on to those who come after the first `skip` of its order: who heard it first has no room. Best effort, never throws. */
  forward(wakeUp: WakeUp): void
  /**
   * Tells the process that rang last for this queue, if it was another one, that a worker is free here. False when there is nobody to tell, or it knows. Best effort, never
   * throws; where processes cannot reach each other it does nothing.
   */
  standBy(offer: StandBy): boolean
  /** Who takes what other processes lease to this instance. Returns what ends that. A job that is not brought is found as one whose claim had no answer. */
  receive(instance: string, acquire: (handed: HandedOver) => void): () => void
}
