/** Selects the jobs of a bulk action: by list filter, by error fingerprint, or by id. */
import { ALERT_KIND } from '../../../job/alert/rule.ts'
import { invalidValue, JobmillError } from '../../../job/errors.ts'
import { checkNoUndefined, checkObject } from '../../../job/options/known-keys.ts'
import { checkId } from '../../../job/names.ts'
import type { JobState } from '../../../job/state.ts'
import { type JobFilter, namesOf } from '../../../store/types/job-list.ts'
import type { JobSummary } from '../../../store/types/job-record.ts'
import type { FullStore } from '../../../store/store.ts'
import { keepFailed } from '../errors/scan-failures.ts'
import { checkFingerprint, hasFingerprint } from '../errors/fingerprint-filter.ts'
import { inState, type ListedState, type ListFilter, splitFilter, storedState } from '../list-filter.ts'

/**
 * Bulk actions requested over HTTP run as jobs. They have a queue of their own, so that they do not wait
 * behind the jobs they act on.
 */
export const BULK_KIND = 'jobmill.bulk'
export const BULK_QUEUE = 'jobmill'

export interface BulkFilter extends ListFilter {
  /**
   * Dead, scheduled or ready jobs whose last attempt failed with this error. Take it from `mill.errors()`.
   * That of a folded group selects the jobs of all its groups.
   */
  readonly fingerprint?: string
  /**
   * These jobs, 1 to 1,000. Only `state` can be combined with it. Unknown ids and jobs that run a bulk action
   * are skipped.
   */
  readonly ids?: readonly string[]
}

const MOST_IDS = 1_000
const BATCH = 500
/** Jobs given by id are read with their payloads, so the batch is small. */
const NAMED_BATCH = 100

export function checkBulkFilter(given: BulkFilter): BulkFilter {
  checkObject(given, 'filter', "{ queue: 'mail', state: 'dead' }")
  checkNoUndefined(given, 'filter')
  const { fingerprint, ids, ...filter } = given
  splitFilter(filter)
  if (fingerprint !== undefined) checkFingerprint(fingerprint, 'filter.fingerprint')
  if (ids === undefined) return { ...filter, ...(fingerprint !== undefined && { fingerprint }) }
  checkAlone({ ...filter, fingerprint })
  const uniqueIds = [...new Set(checkIds(ids, 'filter.ids'))]
  if (ids.length < 1 || ids.length > MOST_IDS) {
    const fix = `Pass 1 to ${MOST_IDS} ids, or use another filter`
    throw invalidValue('filter.ids', ids, `must have 1 to ${MOST_IDS} ids`, fix)
  }
  return { ...filter, ids: uniqueIds }
}

function checkIds(ids: readonly string[], field: string): string[] {
  if (!Array.isArray(ids)) {
    throw invalidValue(field, ids, 'must be an array of job ids', 'Pass an array, even for a single id')
  }
  return ids.map((id: unknown, at) => checkId(id, `${field}[${at}]`))
}

function checkAlone(rest: object): void {
  const other = Object.entries(rest).find(([key, value]) => key !== 'state' && value !== undefined)
  if (other === undefined) return
  throw new JobmillError('OPTION_CONFLICT', 'cannot be combined with ids', {
    field: `filter.${other[0]}`,
    fix: 'Pass ids or other filters, not both; only state can be combined with ids',
  })
}

/**
 * Whether the filter names bulk actions. Other filters skip them, because a bulk action that cancels all jobs
 * would otherwise cancel itself halfway.
 */
export function isAboutActs({ kind, queue }: Pick<BulkFilter, 'kind' | 'queue'>): boolean {
  const kinds = namesOf(kind) ?? []
  return (
    kinds.includes(BULK_KIND) || kinds.includes(ALERT_KIND) || namesOf(queue)?.includes(BULK_QUEUE) === true
  )
}

/**
 * Yields the matching jobs page by page. The caller may change the jobs of a page before it asks for the next
 * one: the cursor is then past them, so no job is skipped or returned twice.
 */
export async function* findJobs(
  store: FullStore,
  filter: BulkFilter,
  states: readonly ListedState[],
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly JobSummary[]> {
  const { ids, fingerprint, state: _states, ...rest } = filter
  if (ids !== undefined) {
    yield* jobsById(store, ids, states.map(storedState), signal)
    return
  }
  const { filter: listed } = splitFilter(rest)
  for (const state of states)
    for await (const jobs of pages(store, { ...listed, ...inState(state) }, signal)) {
      const meant = fingerprint === undefined ? jobs : await withError(store, jobs, fingerprint)
      if (meant.length > 0) yield meant
    }
}

async function* pages(
  store: FullStore,
  filter: JobFilter,
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly JobSummary[]> {
  let cursor: string | null = null
  do {
    signal?.throwIfAborted()
    const page = await store.list(filter, { limit: BATCH, ...(cursor !== null && { cursor }) })
    const jobs = isAboutActs(filter)
      ? page.jobs
      : page.jobs.filter(({ kind, queue }) => kind !== BULK_KIND && queue !== BULK_QUEUE)
    if (jobs.length > 0) yield jobs
    cursor = page.next
  } while (cursor !== null)
}

async function withError(
  store: FullStore,
  jobs: readonly JobSummary[],
  fingerprint: string,
): Promise<readonly JobSummary[]> {
  const keys = checkFingerprint(fingerprint, 'filter.fingerprint')
  return (await keepFailed(store, jobs))
    .filter(([{ kind }, failure]) => hasFingerprint(kind, failure, keys))
    .map(([job]) => job)
}

/** Reads the payloads only of jobs in a matching state. */
async function* jobsById(
  store: FullStore,
  ids: readonly string[],
  states: readonly JobState[],
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly JobSummary[]> {
  for (let from = 0; from < ids.length; from += NAMED_BATCH) {
    signal?.throwIfAborted()
    const results = await store.results(ids.slice(from, from + NAMED_BATCH))
    const there = results.flatMap((one) => (one !== null && states.includes(one.state) ? [one.id] : []))
    const jobs = (await store.get(there)).filter(
      (job) => job !== null && states.includes(job.state) && job.kind !== BULK_KIND,
    ) as JobSummary[]
    if (jobs.length > 0) yield jobs
  }
}
