/**
 * The records that `jobmill transfer` copies from one database to another. They have the stored form, so that
 * both stores can hold every field and a copy is identical to its source. Instants are copied unchanged.
 */
import type { LimitSettings } from '../../job/limit/limit.ts'
import type { LimitSources } from '../../job/limit/limit-sources.ts'
import type { QueueSources } from '../../job/queue/queue-sources.ts'
import type { HeldAfter } from '../../job/enqueue/new-job.ts'
import type { QueueSettings } from '../../job/queue/queue-settings.ts'
import type { JobState } from '../../job/state.ts'
import type { AttemptRecord, JobRecord } from '../types/job-record.ts'
import type { StoredSchedule } from '../stored-schedule.ts'
import type { GroupPatch } from '../types/group.ts'
import type { AlertRecord } from '../types/alert.ts'
import type { ChildRecord, StepRecord } from '../types/step.ts'
import type { ViewRecord } from '../types/view.ts'
import type { TickRecord } from '../types/schedule.ts'

/** Part of `StoreTools`. The caller ensures that no process uses either database during a transfer. */
export interface Transfer {
  /** Equal for the same database, whatever name or address it was opened with. */
  identity(): Promise<string>
  /**
   * The ids of the next jobs, sorted, without running jobs. Cheap, so that missing jobs are found without
   * reading payloads.
   */
  exportIds(page: Page<'jobs'>): Promise<string[]>
  /**
   * The next items after `after`. A page of large items may be shorter than `limit`, so only an empty page is
   * the end. Jobs are sorted by id and exclude running ones. Other items have an order defined by the store.
   */
  exportItems<P extends Part>(part: P, page: Page<P>): Promise<TransferredParts[P][]>
  /**
   * Inserts the items unchanged, in one transaction, and returns how many were new. Existing items are not
   * modified. Call `importRest` before importing jobs.
   */
  importItems<P extends Part>(part: P, items: readonly TransferredParts[P][]): Promise<number>
  exportRest(): Promise<TransferredRest>
  /** Replaces existing records with the same names. Counters only rise. */
  importRest(rest: TransferredRest): Promise<void>
  /** The tables next to those of the store, sorted by name. A transfer does not copy them. */
  otherTables(): Promise<OtherTable[]>
}

export interface OtherTable {
  readonly name: string
  /** The application that created it with jobmill-tables. Null if it is a table of the user. */
  readonly app: string | null
}

/** Parts of unbounded size, copied in pages. */
export interface TransferredParts {
  readonly jobs: TransferredJob
  readonly keys: TransferredKey
  readonly ticks: TransferredTick
}

export type Part = keyof TransferredParts

/** The start of a page: the item before it. Only its key fields are used. */
interface Places {
  readonly jobs: Pick<TransferredJob, 'id'>
  readonly keys: Pick<TransferredKey, 'key'>
  readonly ticks: Pick<TransferredTick, 'schedule' | 'at'>
}

export interface Page<P extends Part> {
  readonly after: Places[P] | null
  readonly limit: number
}

type Kept = Omit<
  JobRecord,
  'state' | 'startedAt' | 'instance' | 'cancelReason' | 'progress' | 'log' | 'error'
>

/** A job with its complete history of at most 32 attempts. */
export interface TransferredJob extends Kept {
  readonly state: Exclude<JobState, 'running'>
  /**
   * How long its dedupe key stays held after it is done or has ended; null without a key. Whether it holds
   * the key now is part of `keys`.
   */
  readonly holdMs: number | null
  readonly holdAfter: HeldAfter | null
  /** When it became ready; null unless it is ready. */
  readonly readyAt: number | null
  /**
   * Its sequence number among the ready jobs or in its order queue; null if it is in neither. All queues
   * share one sequence, so that the order also holds across queues. Of a job in a fair queue, only the last
   * 31 bits are known.
   */
  readonly place: number | null
  /** Whether it holds its order lock, which it keeps while it waits for a retry. */
  readonly hasOrderLock: boolean
  /** Whether it has passed the limits of its group, so that it counts as one of its running jobs. */
  readonly hasPassed: boolean
  /** Oldest first. */
  readonly attempts: readonly TransferredAttempt[]
  /** Its durable steps, by place, and the events that it was sent, oldest first. Nearly always empty. */
  readonly steps: readonly TransferredStep[]
  readonly events: readonly TransferredEvent[]
  /** The child jobs of its steps. */
  readonly children: readonly ChildRecord[]
  /** Whether a step of another job waits for it. */
  readonly isChild: boolean
}

export interface TransferredStep extends StepRecord {
  /** The token of the attempt that last wrote it. */
  readonly token: number
}

export interface TransferredEvent {
  readonly id: string
  readonly name: string
  readonly payload: string
  readonly sentAt: number
  /** The step that has taken it, or null. */
  readonly step: string | null
}

/** `token` is the stored one, even for a cancel that needed no lease. */
export interface TransferredAttempt extends Omit<AttemptRecord, 'version'> {
  /** Recorded by the reaper: no finish was written under this token. */
  readonly takenBack: boolean
}

/** A dedupe key that a job holds, or that stays held after the job ended or was deleted. */
export interface TransferredKey {
  readonly key: string
  readonly job: string
  /** Null until the job ends. */
  readonly expiresAt: number | null
}

/** A served instant of a schedule. */
export interface TransferredTick extends TickRecord {
  readonly schedule: string
}

/** Parts with few records, sorted by name. */
export interface TransferredRest {
  readonly queues: readonly TransferredQueue[]
  readonly limits: readonly TransferredLimit[]
  /** The groups that an operator changed. */
  readonly groups: readonly TransferredGroup[]
  /** Includes deleted schedules, so that code does not recreate them. */
  readonly schedules: readonly StoredSchedule[]
  /** The versions of the instances of the source, sorted by id, for the attempts that they ran. */
  readonly versions: readonly TransferredVersion[]
  /** Including their secrets, and the problems that were sent. */
  readonly alerts: readonly AlertRecord[]
  readonly views: readonly ViewRecord[]
  /** The last sequence number and the last lease token that were issued. */
  readonly lastPlace: number
  readonly lastToken: number
}

export interface TransferredVersion {
  readonly instance: string
  readonly version: string
  readonly startedAt: number
  /** When it ended, or was last known to be alive. */
  readonly endedAt: number
}

export interface TransferredGroup extends Required<GroupPatch> {
  readonly queue: string
  readonly name: string
  readonly by: string | null
  readonly at: number
}

/** How many last bits of the place of a job in a fair queue are transferred. */
export const TRANSFERRED_PLACES = 2 ** 31

interface Transferred<Settings, Sources> {
  readonly name: string
  readonly settings: Settings
  /** The settings that code last set, and the operator's overrides. */
  readonly sources: Sources
}

export interface TransferredQueue extends Transferred<QueueSettings, QueueSources> {
  readonly coolUntil: number
  readonly throttles: number
}

/**
 * Spent tokens stay spent. Places of waiting holders are not copied, as after a change of settings: the
 * holders request again.
 */
interface TransferredLimit extends Transferred<LimitSettings, LimitSources> {
  readonly paidAt: number
  readonly drainedUntil: number
}

/** Limits a page of jobs with large payloads or logs, so that it fits into memory and into one statement. */
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
