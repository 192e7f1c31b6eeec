/**
 * Listing jobs: filters, pages, and a budget for scans. Each listing uses the order of its index, which is
 * what operators expect. Scheduled jobs are sorted by due time, ready jobs in claim order, and running jobs
 * by start. Ended jobs come newest first, and all states together by newest id.
 */
import { BOUNDS, DEFAULTS } from '../../job/defaults.ts'
import { invalidValue, type JobmillError } from '../../job/errors.ts'
import { checkWhole } from '../../job/numbers.ts'
import type { JobState } from '../../job/state.ts'
import type { Platform } from '../../platform/platform.ts'
import type { JobSummary } from './job-record.ts'
import type { PayloadAt } from '../payload-at.ts'

export interface JobFilter {
  /** One queue, or any of several (at most 100). */
  readonly queue?: string | readonly string[]
  /** One kind, or any of several (at most 100). */
  readonly kind?: string | readonly string[]
  readonly state?: JobState
  /** Only jobs whose last attempt failed. With the state `scheduled`: jobs that wait for a retry. */
  readonly retrying?: boolean
  /** Jobs that have all of these tags. */
  readonly tags?: readonly string[]
  /** Lists by the index of the first tag, newest id first, even with a state. Requires a tag. */
  readonly byTag?: boolean
  /** Enqueued at or after `enqueuedFrom`, and before `enqueuedBefore`. */
  readonly enqueuedFrom?: number
  readonly enqueuedBefore?: number
  /** Ended at or after `endedFrom`, and before `endedBefore`. Matches only done, dead and cancelled jobs. */
  readonly endedFrom?: number
  readonly endedBefore?: number
  /**
   * The last attempt started at or after `startedFrom`, and before `startedBefore`. For a running job this is
   * the running attempt.
   */
  readonly startedFrom?: number
  readonly startedBefore?: number
  /**
   * The last failed attempt ended at or after `failedFrom`, and before `failedBefore`. An attempt counts as
   * failed as in `inspect.failures`, so for a dead job this is when it ended.
   */
  readonly failedFrom?: number
  readonly failedBefore?: number
  /** The last attempt ran on an instance of this version, or of any of several (at most 100). */
  readonly version?: string | readonly string[]
  readonly orderKey?: string
  readonly group?: string
  /** The dedupe key of the job, with or without its scope. */
  readonly dedupeKey?: string
  /** Jobs whose payload, as JSON text, contains this text. Case-sensitive. */
  readonly payloadText?: string
  /** Jobs whose payload has all of these values. */
  readonly payloadAt?: readonly PayloadAt[]
  /**
   * Jobs whose last error, as returned by `get`, contains this text. Never matches done jobs. Case-sensitive.
   */
  readonly errorText?: string
}

export interface ReadOptions {
  /**
   * The caller bases no decision on the answer, which may be some seconds old. A store with a replica may
   * read from it, if the replica has everything that this process wrote or read before. Other stores ignore
   * this option.
   */
  readonly mayLag?: boolean
}

/** For reads of operators and dashboards. */
export const MAY_LAG: ReadOptions = { mayLag: true }

export interface PageRequest {
  /** 1 to 500. */
  readonly limit: number
  /** `next` of the previous page. */
  readonly cursor?: string | undefined
  /** The most rows to read, 1 to 50,000 (the default). A page that reached it is not complete. */
  readonly mostScanned?: number
}

export interface JobPage {
  readonly jobs: readonly JobSummary[]
  /** The cursor of the next page; null at the end. */
  readonly next: string | null
  /** How many rows were read. */
  readonly scanned: number
  /** False if the scan used up its budget before the page was full. Continue from `next`. */
  readonly complete: boolean
}

/** The position of a row in its order: one or two numbers, then the id. */
export type Position = readonly (number | string)[]

/** One bounded read: the matching rows among the `scanned` rows after the start position. */
export interface Chunk {
  readonly jobs: readonly { readonly job: JobSummary; readonly position: Position }[]
  readonly scanned: number
  /** Position of the last row read; null if there was none. */
  readonly last: Position | null
  /** True if no rows follow. */
  readonly end: boolean
}

const CHUNK_ROWS = 1_000
const FIRST_TEXT_ROWS = 20
const LONG_READ_MS = 25

/**
 * Reads chunks until the page is full, the list ends, or the budget is spent. After a read that takes longer
 * than `longReadMs`, the next one is smaller.
 */
export async function listWithinBudget(
  platform: Platform,
  filter: JobFilter,
  page: PageRequest,
  read: (from: Position | null, rows: number) => Promise<Chunk>,
  { longReadMs = LONG_READ_MS }: { readonly longReadMs?: number } = {},
): Promise<JobPage> {
  checkWhole(page.limit, 'limit', { least: 1, most: BOUNDS.pageLimit })
  const { mostScanned = DEFAULTS.listScanRows } = page
  checkWhole(mostScanned, 'mostScanned', { least: 1, most: DEFAULTS.listScanRows })
  const order = orderOf(filter) ?? 'all'
  const jobs: JobSummary[] = []
  let from = page.cursor === undefined ? null : positionOf(page.cursor, order)
  let scanned = 0
  // A page without filters needs one small read. Rare matches make the next read larger, as long as reads
  // stay short, because a read on SQLite blocks the process. Payloads can be large, so a search in them
  // starts with few rows.
  let rows = readsPayloads(filter) ? Math.min(page.limit, FIRST_TEXT_ROWS) : page.limit
  const began = platform.monotonic()
  for (;;) {
    const asked = platform.monotonic()
    const chunk = await read(from, Math.min(rows, mostScanned - scanned))
    scanned += chunk.scanned
    const tookMs = platform.monotonic() - asked
    const growth = tookMs > longReadMs ? 0.5 : tookMs > longReadMs / 4 ? 2 : 4
    rows = Math.max(1, Math.min(Math.floor(rows * growth), CHUNK_ROWS))
    for (const { job, position } of chunk.jobs) {
      jobs.push(job)
      from = position
      if (jobs.length === page.limit)
        return { jobs, next: cursorOf(order, position), scanned, complete: true }
    }
    if (chunk.end || chunk.last === null) return { jobs, next: null, scanned, complete: true }
    from = chunk.last
    if (scanned >= mostScanned || platform.monotonic() - began >= DEFAULTS.listScanMs) {
      return { jobs, next: cursorOf(order, from), scanned, complete: false }
    }
  }
}

/** The state whose order a listing has; undefined for the newest id first. */
export function orderOf({ state, byTag }: JobFilter): JobState | undefined {
  return byTag === true ? undefined : state
}

/** The names in a filter; undefined if it matches all. */
export function namesOf(names: string | readonly string[] | undefined): readonly string[] | undefined {
  return typeof names === 'string' ? [names] : names
}

/**
 * The range of end times that can match, for a listing of one ended state. No attempt of a job ends after
 * the job does, and a dead job ended with its last failed attempt.
 */
export function endedRange(filter: JobFilter): { readonly from?: number; readonly before?: number } {
  const { state, endedFrom, startedFrom, failedFrom, endedBefore, failedBefore } = filter
  const from = [endedFrom, startedFrom, failedFrom].filter((at) => at !== undefined)
  const before = [endedBefore, state === 'dead' ? failedBefore : undefined].filter((at) => at !== undefined)
  return {
    ...(from.length > 0 && { from: Math.max(...from) }),
    ...(before.length > 0 && { before: Math.min(...before) }),
  }
}

function readsPayloads({ payloadText, payloadAt = [] }: JobFilter): boolean {
  return payloadText !== undefined || payloadAt.length > 0
}

function cursorOf(order: string, position: Position): string {
  return Buffer.from(JSON.stringify([order, ...position])).toString('base64url')
}

function positionOf(cursor: string, order: string): Position {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    if (Array.isArray(parts) && parts.length > 1 && parts[0] === order && parts.every(isPart))
      return parts.slice(1)
  } catch {
    // The text is not JSON, so it is not a cursor. The throw below reports it.
  }
  throw cursorInvalid(cursor)
}

/** The error for a malformed cursor, or one whose position does not fit the listing. */
export function cursorInvalid(cursor: unknown): JobmillError {
  const fix = { code: 'cursor.next' } as const
  return invalidValue('cursor', cursor, 'is not a cursor of this listing', fix, 'CURSOR_INVALID')
}

function isPart(part: unknown): part is number | string {
  return typeof part === 'string' || (typeof part === 'number' && Number.isFinite(part))
}
