/**
 * What travels from one database to another, as it is kept and not as it is told: both stores can hold all of it, so that what was carried and is read back is
 * equal to the last character. Instants are carried as they are, like those that users name.
 */
import type { LimitSettings } from '../job/limit.ts'
import type { LimitSources } from '../job/limit-sources.ts'
import type { QueueSources } from '../job/queue-sources.ts'
import type { Stamps } from '../job/schedule-sources.ts'
import type { HoldAfter } from '../job/new-job.ts'
import type { QueueSettings } from '../job/queue-settings.ts'
import type { JobState } from '../job/state.ts'
import type { AttemptRecord, JobRecord } from './job-record.ts'
import type { ScheduleRecord, TickRecord } from './schedule.ts'

/** A part of `StoreTools`. The caller sees to it that nobody works on either database meanwhile. */
export interface Transfer {
  /** The same for the same database, by whatever name or address it was opened. */
  identity(): Promise<string>
  /** Which jobs there are, without those that run: the next ones by id. Cheap, so that what is missing elsewhere is found without reading all of it. */
  exportIds(page: Page<'jobs'>): Promise<string[]>
  /**
   * The next ones after `after`. Fewer than `limit` where they are large, so only an empty page is the end. Jobs come by id, without those that run; the others in
   * an order of the database's own.
   */
  exportItems<P extends Part>(part: P, page: Page<P>): Promise<TransferredParts[P][]>
  /** Writes them as they were, in one transaction; what is there already stays as it is. How many were new. The rest goes before jobs. */
  importItems<P extends Part>(part: P, items: readonly TransferredParts[P][]): Promise<number>
  exportRest(): Promise<TransferredRest>
  /** What is there under the same name becomes as it is here; counters only rise. */
  importRest(rest: TransferredRest): Promise<void>
}

/** Of these there may be any number, so they travel in pages. */
export interface TransferredParts {
  readonly jobs: TransferredJob
  readonly keys: TransferredKey
  readonly ticks: TransferredTick
}

export type Part = keyof TransferredParts

/** Where a page begins: behind an item, of which only what it is found by is looked at. */
interface Places {
  readonly jobs: Pick<TransferredJob, 'id'>
  readonly keys: Pick<TransferredKey, 'key'>
  readonly ticks: Pick<TransferredTick, 'schedule' | 'at'>
}

export interface Page<P extends Part> {
  readonly after: Places[P] | null
  readonly limit: number
}

type Kept = Pick<
  JobRecord,
  | 'id'
  | 'kind'
  | 'queue'
  | 'priority'
  | 'attempt'
  | 'maxAttempts'
  | 'crashes'
  | 'tags'
  | 'orderKey'
  | 'waitsForOrder'
  | 'enqueuedAt'
  | 'dueAt'
  | 'endedAt'
  | 'payload'
  | 'metadata'
  | 'result'
  | 'timeoutMs'
  | 'dedupeKey'
>

/** A job with its whole history, which is at most 32 attempts. */
export interface TransferredJob extends Kept {
  readonly state: Exclude<JobState, 'running'>
  /** How long its dedupe key stays held after it is done, or has ended; 0 when it has none. Whether it holds it now is told by the keys. */
  readonly holdMs: number
  readonly holdAfter: HoldAfter
  /** Since when it is ready; null when it is not. */
  readonly readyAt: number | null
  /** Its place among the ready jobs, or in the line of its order key; null when it waits in neither. Numbers of one row of numbers, so that order holds over queues too. */
  readonly place: number | null
  /** It has the turn of its order key, also while it waits for another attempt. */
  readonly hasOrderLock: boolean
  /** Oldest first. */
  readonly attempts: readonly TransferredAttempt[]
}

/** `token` is the one that is kept, also of a cancel that needed no lease. */
export interface TransferredAttempt extends AttemptRecord {
  /** Recorded by whoever took the job back: a finish under this token was not written. */
  readonly takenBack: boolean
}

/** A dedupe key that a job holds, or that is held on after it, also when the job is gone. */
export interface TransferredKey {
  readonly key: string
  readonly job: string
  /** Null while the job lives. */
  readonly expiresAt: number | null
}

/** An instant of a schedule that was served. */
export interface TransferredTick extends TickRecord {
  readonly schedule: string
}

/** Few of each. By name. */
export interface TransferredRest {
  readonly queues: readonly TransferredQueue[]
  readonly limits: readonly TransferredLimit[]
  readonly schedules: readonly TransferredSchedule[]
  /** The last place in the order, and the last token, that were given out. */
  readonly lastPlace: number
  readonly lastToken: number
}

export interface TransferredQueue {
  readonly name: string
  readonly settings: QueueSettings
  /** What code named of it last, and what an operator overrode. */
  readonly sources: QueueSources
  readonly coolUntil: number
  readonly throttles: number
}

/** What was spent stays spent. The line of those who wait is forgotten, as when its settings change: they come back and ask again. */
interface TransferredLimit {
  readonly name: string
  readonly settings: LimitSettings
  /** What code named of it last, and what an operator overrode. */
  readonly sources: LimitSources
  readonly paidAt: number
  readonly drainedUntil: number
}

/** Also a deleted one, which keeps code from bringing it back. */
interface TransferredSchedule extends Omit<ScheduleRecord, 'live' | 'readAt'> {
  readonly deleted: boolean
  /** Who set each option that an operator overrode, and when. */
  readonly stamps: Stamps
}

/** So that a page of jobs with large payloads or logs fits into memory and into one statement. */
const MOST_BYTES = 4 * 1024 * 1024

/** The first jobs that fit into a page, at least one. */
export function fitting(jobs: readonly { readonly id: string; readonly bytes: number }[]): string[] {
  let bytes = 0
  const end = jobs.findIndex((job, at) => {
    bytes += job.bytes
    return at > 0 && bytes > MOST_BYTES
  })
  return jobs.slice(0, end === -1 ? jobs.length : end).map(({ id }) => id)
}
