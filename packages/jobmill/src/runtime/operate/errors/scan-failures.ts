/** Reads the failed jobs that a report of errors covers: the newest dead ones, and the first that wait. */
import { BOUNDS } from '../../../job/defaults.ts'
import type { FullStore } from '../../../store/store.ts'
import { type JobFilter, MAY_LAG, type ReadOptions } from '../../../store/types/job-list.ts'
import type { JobFailure, JobSummary } from '../../../store/types/job-record.ts'

/** The states in which a job can have failed. */
export const FAILED_STATES = ['dead', 'scheduled', 'ready'] as const
type FailedState = (typeof FAILED_STATES)[number]

/** The failed jobs of each state that a report covers. */
const MOST_JOBS: Readonly<Record<FailedState, number>> = { dead: 2_000, scheduled: 2_000, ready: 1_000 }
/** With a filter, the rows in which they are searched: most of them may be others. */
const MOST_ROWS: Readonly<Record<FailedState, number>> = { dead: 10_000, scheduled: 5_000, ready: 5_000 }
/** The rows in which dead jobs from before a deploy are searched. */
const MOST_ROWS_BEFORE = 2_000

type Query = Pick<JobFilter, 'queue' | 'kind' | 'failedFrom' | 'failedBefore'>
type Failed = readonly [job: JobSummary, failure: JobFailure]
type Reader = Pick<FullStore, 'list' | 'inspect'>

const isFiltered = (query: Query): boolean => Object.values(query).some((part) => part !== undefined)

/** Errors can be long, so each one is passed on instead of collected. */
type Take = (job: JobSummary, failure: JobFailure) => void

interface Scan {
  /** The number of failed jobs. */
  readonly failed: number
  /** False when there are more jobs than were read. */
  readonly complete: boolean
  /** When the dead ones ended. */
  readonly endedAt: readonly number[]
  /** Whether all dead jobs were read. */
  readonly hasAllDead: boolean
}

export async function scanFailures(store: Reader, query: Query, take: Take): Promise<Scan> {
  const scans = await Promise.all(FAILED_STATES.map((state) => scanState(store, query, state, take)))
  return {
    hasAllDead: scans[0]?.complete === true,
    failed: scans.reduce((sum, { failed }) => sum + failed, 0),
    complete: scans.every(({ complete }) => complete),
    endedAt: scans.flatMap(({ endedAt }) => endedAt),
  }
}

async function scanState(
  store: Reader,
  query: Query,
  state: FailedState,
  take: Take,
): Promise<Omit<Scan, 'hasAllDead'>> {
  // The store leaves out jobs that never failed, without reading all of their columns.
  const filter = { ...query, state, ...(state !== 'dead' && { retrying: true }) }
  const endedAt: number[] = []
  let failed = 0
  let jobs = MOST_JOBS[state]
  let rows = (isFiltered(query) ? MOST_ROWS : MOST_JOBS)[state]
  let cursor: string | undefined
  do {
    const limit = Math.min(jobs, BOUNDS.pageLimit)
    const page = await store.list(filter, { limit, cursor, mostScanned: rows }, MAY_LAG)
    for (const [job, failure] of await keepFailed(store, page.jobs, MAY_LAG)) {
      take(job, failure)
      failed += 1
      if (job.endedAt !== null) endedAt.push(job.endedAt)
    }
    jobs -= page.jobs.length
    rows -= page.scanned
    cursor = page.next ?? undefined
  } while (cursor !== undefined && jobs > 0 && rows > 0)
  return { failed, complete: cursor === undefined, endedAt }
}

/** The newest dead jobs from before an instant. */
export async function failuresBefore(store: Reader, query: Query, at: number): Promise<readonly Failed[]> {
  const filter = { ...query, state: 'dead', endedBefore: at } as const
  const page = { limit: BOUNDS.pageLimit, mostScanned: MOST_ROWS_BEFORE }
  return keepFailed(store, (await store.list(filter, page, MAY_LAG)).jobs, MAY_LAG)
}

/** Whether a scan has read as many of these as `failuresBefore` would. */
export function coversBefore({ endedAt, hasAllDead }: Scan, at: number): boolean {
  return hasAllDead || endedAt.filter((one) => one < at).length >= BOUNDS.pageLimit
}

/**
 * Keeps the jobs whose last attempt failed. Jobs without an attempt since they were enqueued or retried are
 * skipped without a read.
 */
export async function keepFailed(
  store: Pick<FullStore, 'inspect'>,
  jobs: readonly JobSummary[],
  how?: ReadOptions,
): Promise<Failed[]> {
  const tried = jobs.filter(({ state, attempt }) => state === 'dead' || attempt > 0)
  if (tried.length === 0) return []
  const ids = tried.map(({ id }) => id)
  const failures = await store.inspect.failures(ids, how)
  return tried.flatMap((job, at) => {
    // The job may have changed since it was listed.
    const failure = failures[at] ?? null
    return failure === null ? [] : [[job, failure] as const]
  })
}
