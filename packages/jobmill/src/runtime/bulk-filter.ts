/** Which jobs an act on many is about: those of a listing, those with one error, or those that are named. */
import { JobmillError, shown } from '../job/errors.ts'
import { FINGERPRINT, fingerprintOf } from '../job/fingerprint.ts'
import { checkObject } from '../job/known-keys.ts'
import { checkWhole } from '../job/numbers.ts'
import type { JobState } from '../job/state.ts'
import { checkIds } from '../store/check-requests.ts'
import { type JobFilter, namesOf } from '../store/job-list.ts'
import type { JobSummary } from '../store/job-record.ts'
import type { Store } from '../store/store.ts'
import { failed } from './errors.ts'
import { inState, type ListedState, type ListFilter, splitFilter, storedState } from './list-filter.ts'

/** Acts are jobs too, where somebody asks for them over HTTP; in a queue of their own, so that they do not wait behind the jobs that they are about. */
export const BULK_KIND = 'jobmill.bulk'
export const BULK_QUEUE = 'jobmill'

export interface BulkFilter extends ListFilter {
  /** Jobs that are dead, scheduled or ready and whose last attempt failed with this error: `mill.errors()` tells it. */
  readonly fingerprint?: string
  /** These jobs, 1 to 1,000; with them only `state` may stand. Those that are not there are passed over, and so are acts on many. */
  readonly ids?: readonly string[]
}

const MOST_IDS = 1_000
const BATCH = 500
/** Those that are named are read with their payloads. */
const NAMED_BATCH = 100

export function checkBulkFilter(given: BulkFilter): BulkFilter {
  checkObject(given, 'filter', "{ queue: 'mail', state: 'dead' }")
  const { fingerprint, ids, ...filter } = given
  splitFilter(filter)
  if (fingerprint !== undefined && !(typeof fingerprint === 'string' && FINGERPRINT.test(fingerprint)))
    throw new JobmillError('OPTION_INVALID', 'is not a fingerprint', {
      field: 'filter.fingerprint',
      value: shown(fingerprint),
      fix: 'Take it from the errors that are listed: 16 hex digits',
    })
  if (ids === undefined) return { ...filter, ...(fingerprint !== undefined && { fingerprint }) }
  checkAlone({ ...filter, fingerprint })
  const named = [...new Set(checkIds(ids, 'filter.ids'))]
  checkWhole(ids.length, 'filter.ids.length', { least: 1, most: MOST_IDS })
  return { ...filter, ids: named }
}

function checkAlone(rest: object): void {
  const other = Object.entries(rest).find(([key, value]) => key !== 'state' && value !== undefined)
  if (other === undefined) return
  throw new JobmillError('OPTION_CONFLICT', 'cannot be combined with ids', {
    field: `filter.${other[0]}`,
    fix: 'Name the jobs or give filters, not both; only state may be combined with ids',
  })
}

/** An act on everything does not mean itself, and those that were before it: to cancel all jobs would end it half-way. */
export function isAboutActs({ kind, queue }: Pick<BulkFilter, 'kind' | 'queue'>): boolean {
  return namesOf(kind)?.includes(BULK_KIND) === true || namesOf(queue)?.includes(BULK_QUEUE) === true
}

/** A page at a time, however many rows have to be looked at for one. What an act takes out of its list is behind the cursor by then. */
export async function* found(
  store: Store,
  filter: BulkFilter,
  states: readonly ListedState[],
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly JobSummary[]> {
  const { ids, fingerprint, state: _states, ...listed } = filter
  if (ids !== undefined) {
    yield* named(store, ids, states.map(storedState), signal)
    return
  }
  for (const state of states)
    for await (const jobs of pages(store, { ...listed, ...inState(state) }, signal)) {
      const meant = fingerprint === undefined ? jobs : await withError(store, jobs, fingerprint)
      if (meant.length > 0) yield meant
    }
}

async function* pages(
  store: Store,
  filter: JobFilter,
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly JobSummary[]> {
  let cursor: string | null = null
  do {
    signal?.throwIfAborted()
    const page = await store.list(filter, { limit: BATCH, ...(cursor !== null && { cursor }) })
    const jobs = isAboutActs(filter) ? page.jobs : page.jobs.filter(({ kind }) => kind !== BULK_KIND)
    if (jobs.length > 0) yield jobs
    cursor = page.next
  } while (cursor !== null)
}

async function withError(
  store: Store,
  jobs: readonly JobSummary[],
  fingerprint: string,
): Promise<readonly JobSummary[]> {
  return (await failed(store, jobs))
    .filter(([{ kind }, { error }]) => fingerprintOf(kind, error).fingerprint === fingerprint)
    .map(([job]) => job)
}

/** Payloads are read only of those that are in such a state. */
async function* named(
  store: Store,
  ids: readonly string[],
  states: readonly JobState[],
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly JobSummary[]> {
  for (let from = 0; from < ids.length; from += NAMED_BATCH) {
    signal?.throwIfAborted()
    const stand = await store.results(ids.slice(from, from + NAMED_BATCH))
    const there = stand.flatMap((one) => (one !== null && states.includes(one.state) ? [one.id] : []))
    const jobs = (await store.get(there)).filter(
      (job) => job !== null && states.includes(job.state) && job.kind !== BULK_KIND,
    ) as JobSummary[]
    if (jobs.length > 0) yield jobs
  }
}
