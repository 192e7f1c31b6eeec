/**
 * Lists: filters, pages, and the budget of a scan.
 *
 * Each listing has the order an operator expects, which is also the order of its index: scheduled by due time,
 * ready as they will be claimed, running by start, ended ones newest first, all states newest id first.
 */
import { BOUNDS, DEFAULTS } from '../job/defaults.ts'
import { JobmillError, shown } from '../job/errors.ts'
import { checkWhole } from '../job/numbers.ts'
import type { JobState } from '../job/state.ts'
import type { Platform } from '../platform/platform.ts'
import type { JobSummary } from './job-record.ts'
import type { PayloadAt } from './payload-at.ts'

export interface JobFilter {
  /** Of this queue, or of any of these (at most 100). */
  readonly queue?: string | readonly string[]
  /** Of this kind, or of any of these (at most 100). */
  readonly kind?: string | readonly string[]
  readonly state?: JobState
  /** Only jobs whose last attempt failed; with the state `scheduled`, those that wait for a retry. */
  readonly retrying?: boolean
  /** Jobs that have all of these. */
  readonly tags?: readonly string[]
  /** Enqueued at or after, and before. */
  readonly enqueuedFrom?: number
  readonly enqueuedBefore?: number
  /** Ended at or after, and before: only jobs that are done, dead or cancelled. */
  readonly endedFrom?: number
  readonly endedBefore?: number
  /** Jobs whose payload, as JSON text, contains this. Case matters. */
  readonly payloadText?: string
  /** Jobs whose payload has all of these. */
  readonly payloadAt?: readonly PayloadAt[]
  /** Jobs whose last error, as `get` tells it, contains this; never done ones. Case matters. */
  readonly errorText?: string
}

export interface PageRequest {
  /** 1 to 500. */
  readonly limit: number
  /** `next` of the page before. */
  readonly cursor?: string | undefined
}

export interface JobPage {
  readonly jobs: readonly JobSummary[]
  /** Where to go on; null at the end. */
  readonly next: string | null
  /** How many rows were looked at. */
  readonly scanned: number
  /** False when the scan stopped at its budget with the page not full: go on from `next`. */
  readonly complete: boolean
}

/** Where in its order a row stands: one or two numbers, then the id. */
export type Position = readonly (number | string)[]

/** One bounded read of a store: rows that match, out of `scanned` rows that came after `from`. */
export interface Chunk {
  readonly jobs: readonly { readonly job: JobSummary; readonly position: Position }[]
  readonly scanned: number
  /** Of the last row looked at; null when there was none. */
  readonly last: Position | null
  /** True when nothing comes after it. */
  readonly end: boolean
}

const CHUNK_ROWS = 2_000
const FIRST_TEXT_ROWS = 20
const LONG_READ_MS = 25

/** Reads chunks until the page is full, the list ends, or the budget is spent. */
export async function listWithinBudget(
  platform: Platform,
  filter: JobFilter,
  page: PageRequest,
  read: (from: Position | null, rows: number) => Promise<Chunk>,
): Promise<JobPage> {
  checkWhole(page.limit, 'limit', { least: 1, most: BOUNDS.pageLimit })
  const order = filter.state ?? 'all'
  const jobs: JobSummary[] = []
  let from = page.cursor === undefined ? null : positionOf(page.cursor, order)
  let scanned = 0
  // A page without filters needs one small read; the rarer the matches, the larger the next one, as long as reads stay short: on
  // SQLite the process stands still meanwhile. A text is looked for in payloads of any size, so that begins carefully.
  let rows = readsPayloads(filter) ? Math.min(page.limit, FIRST_TEXT_ROWS) : page.limit
  const began = platform.monotonic()
  for (;;) {
    const asked = platform.monotonic()
    const chunk = await read(from, Math.min(rows, DEFAULTS.listScanRows - scanned))
    scanned += chunk.scanned
    rows =
      platform.monotonic() - asked > LONG_READ_MS
        ? Math.max(1, Math.floor(rows / 2))
        : Math.min(rows * 2, CHUNK_ROWS)
    for (const { job, position } of chunk.jobs) {
      jobs.push(job)
      from = position
      if (jobs.length === page.limit)
        return { jobs, next: cursorOf(order, position), scanned, complete: true }
    }
    if (chunk.end || chunk.last === null) return { jobs, next: null, scanned, complete: true }
    from = chunk.last
    if (scanned >= DEFAULTS.listScanRows || platform.monotonic() - began >= DEFAULTS.listScanMs) {
      return { jobs, next: cursorOf(order, from), scanned, complete: false }
    }
  }
}

/** The names that a filter takes, one or several; undefined when it takes all. */
export function namesOf(names: string | readonly string[] | undefined): readonly string[] | undefined {
  return typeof names === 'string' ? [names] : names
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
    // Not JSON: not a cursor of ours, told below.
  }
  throw cursorInvalid(cursor)
}

/** For a cursor that is none, or whose position is none in the listing of a store. */
export function cursorInvalid(cursor: unknown): JobmillError {
  return new JobmillError('CURSOR_INVALID', 'is not a cursor of this listing', {
    field: 'cursor',
    value: shown(cursor),
    fix: 'Pass "next" of the page before, with the same state filter',
  })
}

function isPart(part: unknown): part is number | string {
  return typeof part === 'string' || (typeof part === 'number' && Number.isFinite(part))
}
