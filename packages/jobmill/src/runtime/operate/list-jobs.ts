/**
 * `mill.list` and `mill.count`: jobs of one or several states, with their errors and, on request, payloads
 * and results.
 */
import { BOUNDS, DEFAULTS } from '../../job/defaults.ts'
import { withoutEntries } from '../../job/payload/indexed.ts'
import { checkObjectKeys } from '../../job/options/known-keys.ts'
import { checkArray, checkOneOf, checkSignal, checkWhole } from '../../job/numbers.ts'
import { JOB_STATES, type JobState } from '../../job/state.ts'
import {
  cursorInvalid,
  MAY_LAG,
  type JobFilter,
  type JobPage,
  namesOf,
  type PageRequest,
} from '../../store/types/job-list.ts'
import type { JobRecord, JobSummary } from '../../store/types/job-record.ts'
import type { QueueCounts } from '../../store/types/queue-record.ts'
import type { FullStore } from '../../store/store.ts'
import type { MillTools } from '../tools.ts'
import { jobView, type JobView } from './job-view.ts'
import { inState, type ListedState, type ListFilter, splitFilter } from './list-filter.ts'

/** Parts that a list contains only on request, because they can be large. */
export const INCLUDABLE = ['payload', 'metadata', 'result', 'progress'] as const
export type Includable = (typeof INCLUDABLE)[number]

interface ListRequest extends Partial<PageRequest> {
  /**
   * Additional parts of each job. Costs one more statement for every 10 jobs. The page ends early when its
   * jobs have 4 MiB of JSON and logs; `next` continues there.
   */
  readonly include?: readonly Includable[]
}

/** A job of a list. Parts that `include` did not name are absent. */
export interface ListedJob extends JobSummary, Partial<Pick<JobView, Includable>> {
  /**
   * The error of the last attempt, or the reason of the cancel. Null for done jobs and jobs that never
   * failed.
   */
  readonly error: string | null
}

interface ListPage extends Omit<JobPage, 'jobs'> {
  readonly jobs: readonly ListedJob[]
}

interface JobCount {
  readonly jobs: number
  readonly byState: Readonly<Partial<Record<ListedState, number>>>
}

interface CountOptions {
  /** Aborts the count. */
  readonly signal?: AbortSignal
}

export interface Listing {
  /**
   * Without `state`: newest first. With several states: one state after the other, as listed. The order
   * within a state: scheduled by due time, ready in claim order, running by start, ended newest first.
   */
  list(filter?: ListFilter, page?: ListRequest): Promise<ListPage>
  /** The number of jobs that match. A filter of only queues and states is answered without reading jobs. */
  count(filter?: ListFilter, options?: CountOptions): Promise<JobCount>
}

const LISTED = 50

export function listing({ opened }: MillTools): Listing {
  return {
    async list(given = {}, page = {}) {
      checkObjectKeys(page, 'page', ['limit', 'cursor', 'mostScanned', 'include'])
      const { include = [], limit = LISTED, ...rest } = page
      checkArray(include, 'page.include').forEach((one, at) =>
        checkOneOf(one, `page.include[${at}]`, INCLUDABLE),
      )
      checkWhole(limit, 'page.limit', { least: 1, most: BOUNDS.pageLimit })
      if (rest.mostScanned !== undefined)
        checkWhole(rest.mostScanned, 'page.mostScanned', { least: 1, most: DEFAULTS.listScanRows })
      const { filter, states } = splitFilter(given)
      const store = await opened()
      const listed = async (most: number): Promise<JobPage> =>
        withOwnTags(await pageOf(store, filter, states, { ...rest, limit: most }))
      if (include.length > 0) return withIncluded(store, listed, limit, include)
      const found = await listed(limit)
      return { ...found, jobs: await withErrors(store, found.jobs) }
    },
    async count(given = {}, options = {}) {
      checkObjectKeys(options, 'options', ['signal'])
      checkSignal(options.signal, 'options.signal')
      const { filter, states } = splitFilter(given)
      const store = await opened()
      const queues = namesOf(filter.queue)
      const byState: Partial<Record<ListedState, number>> = isCounted(filter, states)
        ? countedBy(
            await store.counts(MAY_LAG),
            (queue) => queues?.includes(queue) ?? true,
            states ?? JOB_STATES,
          )
        : await countedOneByOne(store, filter, states, options.signal)
      return { jobs: Object.values(byState).reduce((sum, n) => sum + n, 0), byState }
    },
  }
}

function withOwnTags(page: JobPage): JobPage {
  return { ...page, jobs: page.jobs.map((job) => ({ ...job, tags: withoutEntries(job.tags) })) }
}

async function pageOf(
  store: FullStore,
  filter: JobFilter,
  states: readonly ListedState[] | undefined,
  page: PageRequest,
): Promise<JobPage> {
  if (states === undefined) return store.list(filter, page, MAY_LAG)
  const [only, ...others] = states
  if (only !== undefined && others.length === 0)
    return store.list({ ...filter, ...inState(only) }, page, MAY_LAG)
  return pageOfStates(store, filter, states, page)
}

/**
 * Lists the states one after the other, each by the index of its own order. No index covers an order across
 * states.
 */
async function pageOfStates(
  store: FullStore,
  filter: JobFilter,
  states: readonly ListedState[],
  page: PageRequest,
): Promise<JobPage> {
  const from = page.cursor === undefined ? null : readCursor(page.cursor, states)
  const jobs: JobSummary[] = []
  let scanned = 0
  let cursor = from?.inner
  const rest = states.slice(from === null ? 0 : states.indexOf(from.state))
  for (const [at, state] of rest.entries()) {
    const limit = page.limit - jobs.length
    const mostScanned = Math.max(1, (page.mostScanned ?? DEFAULTS.listScanRows) - scanned)
    const found = await store.list({ ...filter, ...inState(state) }, { limit, cursor, mostScanned }, MAY_LAG)
    jobs.push(...found.jobs)
    scanned += found.scanned
    cursor = undefined
    const following = found.next === null ? rest[at + 1] : state
    const isFull = jobs.length === page.limit
    if (following === undefined) return { jobs, next: null, scanned, complete: true }
    if (isFull || found.next !== null)
      return { jobs, next: writeCursor(following, found.next), scanned, complete: isFull }
  }
  return { jobs, next: null, scanned, complete: true }
}

function writeCursor(state: ListedState, inner: string | null): string {
  return Buffer.from(JSON.stringify(['states', state, inner])).toString('base64url')
}

function readCursor(
  cursor: string,
  states: readonly ListedState[],
): { readonly state: ListedState; readonly inner: string | undefined } {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    if (Array.isArray(parts) && parts.length === 3 && parts[0] === 'states') {
      const [, state, inner] = parts as [string, unknown, unknown]
      const known = states.find((one) => one === state)
      if (known !== undefined && (inner === null || typeof inner === 'string'))
        return { state: known, inner: inner ?? undefined }
    }
  } catch {
    // Not JSON, so not a cursor from `list`: refused below.
  }
  throw cursorInvalid(cursor)
}

/** How many records one statement reads: payloads can be large, and their total is known only afterwards. */
const READ_AT_ONCE = 10

async function withIncluded(
  store: FullStore,
  listed: (most: number) => Promise<JobPage>,
  limit: number,
  include: readonly Includable[],
): Promise<ListPage> {
  let page = await listed(limit)
  const records = await recordsWithin(store, page.jobs, BOUNDS.pageBytes)
  if (records.size < page.jobs.length) {
    // The page ends early. Only the store knows the cursor after its last job.
    page = await listed(records.size)
    // Usually empty: jobs that entered the page between the two reads.
    const added = page.jobs.filter(({ id }) => !records.has(id))
    for (const [id, record] of await recordsWithin(store, added, Number.POSITIVE_INFINITY))
      records.set(id, record)
  }
  const jobs = page.jobs.flatMap((job) => {
    const record = records.get(job.id) ?? null
    // Skip a job that was deleted after it was listed.
    if (record === null) return []
    const view = jobView(record)
    const parts = Object.fromEntries(include.map((part) => [part, view[part]]))
    return [{ ...job, error: job.state === 'done' ? null : view.error, ...parts }]
  })
  return { ...page, jobs }
}

/** Reads the first jobs with at most this many bytes together, but at least one. Deleted jobs are null. */
async function recordsWithin(
  store: FullStore,
  jobs: readonly JobSummary[],
  mostBytes: number,
): Promise<Map<string, JobRecord | null>> {
  const records = new Map<string, JobRecord | null>()
  let bytes = 0
  for (let from = 0; from < jobs.length; from += READ_AT_ONCE) {
    const ids = jobs.slice(from, from + READ_AT_ONCE).map(({ id }) => id)
    const read = await store.get(ids, MAY_LAG)
    for (const [at, id] of ids.entries()) {
      const record = read[at] ?? null
      if (record !== null) bytes += bytesOf(record)
      if (bytes > mostBytes && records.size > 0) return records
      records.set(id, record)
    }
  }
  return records
}

function bytesOf({ payload, metadata, result, progress, log }: JobRecord): number {
  return [payload, metadata, result, progress, log].reduce(
    (sum, text) => sum + (text === null ? 0 : Buffer.byteLength(text)),
    0,
  )
}

/** Uses at most one more statement per page. */
async function withErrors(store: FullStore, jobs: readonly JobSummary[]): Promise<ListedJob[]> {
  const tried = jobs.filter(mayHaveError).map(({ id }) => id)
  const results = tried.length === 0 ? [] : await store.results(tried, MAY_LAG)
  const errors = new Map(results.flatMap((one) => (one === null ? [] : [[one.id, one.error] as const])))
  return jobs.map((job) => ({ ...job, error: errors.get(job.id) ?? null }))
}

function mayHaveError({ state, attempt, crashes }: JobSummary): boolean {
  if (state === 'done') return false
  return state === 'dead' || state === 'cancelled' || attempt > 0 || crashes > 0
}

/** Whether the queue counts give the answer, so that no job has to be read. */
export function isCounted(
  filter: object,
  states: readonly ListedState[] | undefined,
): states is readonly JobState[] | undefined {
  if (states?.includes('retrying') === true) return false
  return Object.entries(filter).every(
    ([key, value]) => value === undefined || key === 'queue' || key === 'state',
  )
}

export function countedBy(
  all: readonly QueueCounts[],
  isMeant: (queue: string) => boolean,
  states: readonly JobState[],
): Partial<Record<JobState, number>> {
  const counts = all.filter(({ queue }) => isMeant(queue))
  return Object.fromEntries(states.map((state) => [state, counts.reduce((sum, one) => sum + one[state], 0)]))
}

async function countedOneByOne(
  store: FullStore,
  filter: JobFilter,
  states: readonly ListedState[] | undefined,
  signal: AbortSignal | undefined,
): Promise<Partial<Record<ListedState, number>>> {
  const byState: Partial<Record<ListedState, number>> = {}
  for (const state of states ?? [undefined]) {
    let cursor: string | undefined
    if (state !== undefined) byState[state] = 0
    do {
      signal?.throwIfAborted()
      const asked = state === undefined ? filter : { ...filter, ...inState(state) }
      const page = await store.list(asked, { limit: BOUNDS.pageLimit, cursor }, MAY_LAG)
      for (const job of page.jobs) byState[state ?? job.state] = (byState[state ?? job.state] ?? 0) + 1
      cursor = page.next ?? undefined
    } while (cursor !== undefined)
  }
  return byState
}
