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
 * The conformance suite (`jobmill-conformance`) tests that a store follows these rules.
 */
import type { NewJob } from '../job/enqueue/new-job.ts'
import type { ClaimRequest, DirectDispatchOffer, Lease } from './types/claim.ts'
import type { Finish, Finished, Progress } from './types/finish.ts'
import type { JobFilter, JobPage, PageRequest, ReadOptions } from './types/job-list.ts'
import type { AttemptRecord, JobRecord, JobResult } from './types/job-record.ts'
import type { NewPayload } from './types/new-payload.ts'
import type {
  AlertsPart,
  GroupsPart,
  InspectPart,
  InstancesPart,
  LimitsPart,
  MetricsPart,
  NotifierPart,
  OverridesPart,
  QueuesPart,
  SchedulesPart,
  StepsPart,
  ViewsPart,
} from './parts.ts'
import type { QueueCounts } from './types/queue-record.ts'
import type { Enqueued, Retained, RetainRequest, Staged, Verdict } from './types/replies.ts'
import type { StoreTools } from './admin/tools.ts'

/**
 * The verbs for jobs, and the other parts of a store. A mill works without an optional part, and refuses
 * calls that need it. `Tx` is the type of user transaction that the store accepts.
 */
export interface Store<Tx = unknown> extends JobStore<Tx> {
  readonly queues: QueuesPart
  readonly instances: InstancesPart
  readonly overrides?: OverridesPart | undefined
  readonly inspect?: InspectPart | undefined
  readonly schedules?: SchedulesPart | undefined
  readonly limits?: LimitsPart | undefined
  readonly groups?: GroupsPart | undefined
  readonly alerts?: AlertsPart | undefined
  readonly views?: ViewsPart | undefined
  readonly metrics?: MetricsPart | undefined
  readonly steps?: StepsPart<Tx> | undefined
  readonly notifier?: NotifierPart | undefined
}

/** A store with every part, as the runtime uses it: see absent-parts.ts. */
export interface FullStore<Tx = unknown> extends Store<Tx> {
  readonly overrides: OverridesPart
  readonly inspect: InspectPart
  readonly schedules: SchedulesPart
  readonly limits: LimitsPart
  readonly groups: GroupsPart
  readonly alerts: AlertsPart
  readonly views: ViewsPart
  readonly metrics: MetricsPart
  readonly steps: StepsPart<Tx>
  readonly notifier: NotifierPart
}

/** A store with the admin and transfer tools that the command line needs. */
export interface ToolStore<Tx = unknown> extends FullStore<Tx> {
  readonly tools: StoreTools
}

/** The transaction type of a store. For a union of stores, the union of their transaction types. */
export type TxOf<S> = S extends Store<infer Tx> ? Tx : never

export interface JobStore<Tx> {
  /**
   * For banners and messages: `sqlite jobs.db`, `postgres app@localhost/app`. Must never contain a password.
   */
  readonly name: string
  /** The maximum size of the payloads and metadata of one `enqueue` call in bytes (default 256 MiB). */
  readonly callLimitBytes?: number
  /** The `limit` of the `retain` calls of a pass: how many jobs one call should delete (default 500). */
  readonly retainBatch?: number
  /** Connects, checks the schema version and runs pending migrations. Idempotent. */
  open(): Promise<void>
  /** Closes every connection and cancels every timer. Idempotent, and allowed before `open`. */
  close(): Promise<void>

  /**
   * Inserts new jobs. With `tx`, they become visible when the user's transaction commits. `mayRepeat` says
   * that some ids may exist already, because a call was retried or the user chose the id. The store treats
   * an existing id as the same job. `directDispatch` allows direct dispatch: the store leases jobs to the
   * free workers of the caller. It is ignored together with `tx` or `mayRepeat`, and by a store that has no
   * direct dispatch.
   */
  enqueue(
    jobs: readonly NewJob[],
    options?: {
      readonly tx?: Tx | undefined
      readonly mayRepeat?: boolean
      readonly directDispatch?: DirectDispatchOffer | undefined
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
   * history. `payloads`, one for each id, are their new payloads. No id appears twice then.
   */
  retry(ids: readonly string[], payloads?: readonly NewPayload[]): Promise<Verdict[]>
  /** Makes scheduled jobs ready now. */
  runNow(ids: readonly string[]): Promise<Verdict[]>
  /** Deletes jobs that are not running, with their history. */
  delete(ids: readonly string[]): Promise<Verdict[]>
  get(ids: readonly string[], options?: ReadOptions): Promise<(JobRecord | null)[]>
  /** The states and results of awaited jobs. Omits payloads, so that frequent polling is cheap. */
  results(ids: readonly string[], options?: ReadOptions): Promise<(JobResult | null)[]>
  /** The attempts of a job, oldest first. */
  history(id: string): Promise<AttemptRecord[]>
  list(filter: JobFilter, page: PageRequest, options?: ReadOptions): Promise<JobPage>
  /** Exact job counts of every queue, sorted by name. Must not scan ended jobs. */
  counts(options?: ReadOptions): Promise<QueueCounts[]>
  /**
   * Deletes at most `limit` ended jobs that exceed the retention settings, by age or by number. Also deletes
   * other expired records, such as ticks, events and metrics.
   */
  retain(request: RetainRequest): Promise<Retained>
  /** Merges at most `limit` counter rows that are not folded yet, and returns how many it merged. */
  fold(limit: number): Promise<number>
  /**
   * The database's current time, for callers that pass an instant with which the database compares others.
   */
  now(): Promise<number>
}
