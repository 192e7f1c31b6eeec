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
import type { QueuePatch, QueueSettings } from '../job/queue-settings.ts'
import type { ClaimRequest, Held, Lease } from './claim.ts'
import type { Finish, Finished, Progress } from './finish.ts'
import type { InstanceRecord, NewInstance, Pulse, PulseRequest } from './instance.ts'
import type { AttemptRecord, JobRecord, JobResult } from './job-record.ts'
import type { JobFilter, JobPage, PageRequest } from './job-list.ts'
import type { QueueCounts, QueueRecord, Unserved } from './queue-record.ts'
import type { Enqueued, Reaped, Retained, Staged, Verdict } from './replies.ts'

/** `Tx` is what the store accepts as a transaction of the user's. */
export interface Store<Tx = unknown> extends WriteSide<Tx>, ReadSide, Doorbell {
  /** For banners and messages, never with a password: `sqlite jobs.db`, `postgres app@localhost/app`. */
  readonly name: string
  /** Connects, checks the version, migrates. Safe twice. */
  open(): Promise<void>
  /** Lets go of every connection and timer. Safe twice, and before open. */
  close(): Promise<void>
}

/** What a store accepts as a transaction; of one of several stores, what either accepts. */
export type TxOf<S> = S extends Store<infer Tx> ? Tx : never

export interface WriteSide<Tx> {
  /**
   * Writes new jobs. With `tx` they become visible when the user commits. `mayRepeat` says that some of the
   * ids may exist already (a re-send after an unknown outcome, an id the user gave): those are the same jobs.
   */
  enqueue(
    jobs: readonly NewJob[],
    options?: { readonly tx?: Tx | undefined; readonly mayRepeat?: boolean },
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
  renew(request: PulseRequest): Promise<Pulse>
  /** Ends an instance; jobs it still holds go back as if never claimed. Returns how many those were. */
  deregister(instance: string): Promise<number>
  /** Takes back the jobs of instances that expired: at most `limit` instances. */
  reap(options: { readonly crashesUntilDead: number; readonly limit: number }): Promise<Reaped>
  /** Deletes what the settings no longer keep: at most `limit` jobs. */
  retain(limit: number): Promise<Retained>
  /** Brings open counter rows together, at most `limit`; returns how many there were. */
  fold(limit: number): Promise<number>

  /** Creates queues that are not there yet; never changes one that is. */
  declareQueues(queues: readonly { readonly name: string; readonly settings: QueueSettings }[]): Promise<void>
  /** Changes the settings of one queue, which must exist (QUEUE_UNKNOWN). */
  changeQueue(name: string, patch: QueuePatch): Promise<QueueRecord>
}

export interface ReadSide {
  get(ids: readonly string[]): Promise<(JobRecord | null)[]>
  /** How jobs stand that somebody awaits: without payloads, so that asking often is cheap. */
  results(ids: readonly string[]): Promise<(JobResult | null)[]>
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
  unserved(): Promise<Unserved[]>
  /** What the database believes an instance is running. */
  held(instance: string): Promise<Held[]>
}

/** Wake-ups only shorten a wait. Everything is correct without any, by polling. */
export interface Doorbell {
  /** True when one of these queues may have work, false when the time is over or the signal fired. */
  wait(options: {
    readonly queues: readonly string[]
    readonly timeoutMs: number
    readonly signal?: AbortSignal
  }): Promise<boolean>
  /** Wakes whoever waits for these queues, here and in other processes. Best effort, never throws. */
  ring(queues: readonly string[]): void
}
