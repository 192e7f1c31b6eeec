/**
 * Validates the jobs of one call and encodes them as JSON. A large call is prepared in slices that yield to
 * the event loop.
 */
import type { EnqueueItem } from '../job/enqueue/handle.ts'
import type { NewJob } from '../job/enqueue/new-job.ts'
import { checkJobsPerCall, prepareJobs, type PrepareOptions } from '../job/enqueue/prepare-jobs.ts'
import type { Platform } from '../platform/platform.ts'
import { checkPayloads, type RequestTools, requestsFor, type Target, withEntries } from './requests.ts'

export interface CallOptions extends PrepareOptions {
  readonly placeOf: (index: number) => string
}

/** JSON that takes about 10 ms to validate and encode. */
const SLICE_BYTES = 256 * 1024
const FIRST_ITEMS = 4
const MOST_ITEMS = 1_000

/**
 * Prepares everything synchronously: on SQLite, an enqueue in a transaction must write before the call
 * returns. Encodes each payload once. Its schema then validates the parsed text. Without `to`, prepares all
 * items up to the last one.
 */
export function prepareAtOnce(
  target: Target,
  items: readonly EnqueueItem<unknown>[],
  how: CallOptions,
  tools: RequestTools,
  to?: number,
): NewJob[] | Promise<NewJob[]> {
  const { placeOf, from } = how
  const requests = requestsFor(target, items, placeOf, tools, from, to)
  const jobs = withEntries(target, prepareJobs(requests, how), tools)
  const checking = checkPayloads(target, jobs, requests, placeOf, tools, from)
  return checking === undefined ? jobs : checking.then(() => jobs)
}

/**
 * As prepareAtOnce, in slices. Returns a promise only if there are several slices or the schema is
 * asynchronous.
 */
export function prepareInSlices(
  target: Target,
  items: readonly EnqueueItem<unknown>[],
  how: CallOptions,
  tools: RequestTools & { readonly platform: Platform },
): NewJob[] | Promise<NewJob[]> {
  if (!Array.isArray(items) || items.length <= FIRST_ITEMS) return prepareAtOnce(target, items, how, tools)
  checkJobsPerCall(items)
  const jobs: NewJob[] = []
  const seen = new Set<string>()
  let bytes = 0

  function add(more: readonly NewJob[]): void {
    for (const job of more) {
      jobs.push(job)
      bytes += job.payload.length
    }
  }

  function proceed(): NewJob[] | Promise<NewJob[]> {
    const sliceEnd = bytes + SLICE_BYTES
    while (jobs.length < items.length) {
      if (bytes >= sliceEnd) return nextTurn(tools.platform).then(proceed)
      const to = jobs.length + itemsAtATime(jobs.length, bytes)
      const more = prepareAtOnce(target, items, { ...how, from: jobs.length, seen }, tools, to)
      // An asynchronous schema validates all of the items at once.
      if (more instanceof Promise) return restAtOnce(more, to)
      add(more)
    }
    return jobs
  }

  async function restAtOnce(first: Promise<NewJob[]>, to: number): Promise<NewJob[]> {
    const rest = prepareAtOnce(target, items, { ...how, from: to, seen }, tools)
    add((await Promise.all([first, rest])).flat())
    return jobs
  }

  return proceed()
}

/** Starts with a few items, until their average size is known. */
function itemsAtATime(done: number, bytes: number): number {
  if (done === 0) return FIRST_ITEMS
  return Math.max(1, Math.min(MOST_ITEMS, Math.floor((SLICE_BYTES * done) / Math.max(1, bytes))))
}

function nextTurn(platform: Platform): Promise<void> {
  return new Promise((resolve) => platform.nextTurn(resolve))
}
