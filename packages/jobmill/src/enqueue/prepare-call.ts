/** The jobs of one call, checked and as JSON. A large call is prepared in slices, between which the event loop turns. */
import type { EnqueueItem } from '../job/handle.ts'
import type { NewJob } from '../job/new-job.ts'
import { checkJobsPerCall, type JobRequest, prepareJobs, type PrepareOptions } from '../job/prepare-jobs.ts'
import type { Platform } from '../platform/platform.ts'
import { type RequestTools, requestsFor, type Target } from './requests.ts'

export interface CallOptions extends PrepareOptions {
  readonly placeOf: (index: number) => string
}

/** JSON that takes about 10 ms to check and write. */
const SLICE_BYTES = 256 * 1024
const FIRST_ITEMS = 4
const MOST_ITEMS = 1_000

/** In one go: what is written in a transaction on SQLite must be written before the call returns. */
export function prepareAtOnce(
  target: Target,
  items: readonly EnqueueItem<unknown>[],
  how: CallOptions,
  tools: RequestTools,
): NewJob[] | Promise<NewJob[]> {
  const requests = requestsFor(target, items, how.placeOf, tools)
  return requests instanceof Promise
    ? requests.then((late) => prepareJobs(late, how))
    : prepareJobs(requests, how)
}

/** The same in slices. A promise only when there is more than one, or the schema gives one. */
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

  function add(requests: readonly JobRequest[]): void {
    for (const job of prepareJobs(requests, { ...how, from: jobs.length, seen })) {
      jobs.push(job)
      bytes += job.payload.length
    }
  }

  function proceed(): NewJob[] | Promise<NewJob[]> {
    const sliceEnd = bytes + SLICE_BYTES
    while (jobs.length < items.length) {
      if (bytes >= sliceEnd) return nextTurn(tools.platform).then(proceed)
      const to = jobs.length + itemsAtATime(jobs.length, bytes)
      const requests = requestsFor(target, items, how.placeOf, tools, jobs.length, to)
      // A schema that takes its time is asked for all of the items at once.
      if (requests instanceof Promise) return restAtOnce(requests, to)
      add(requests)
    }
    return jobs
  }

  async function restAtOnce(first: Promise<JobRequest[]>, to: number): Promise<NewJob[]> {
    const rest = requestsFor(target, items, how.placeOf, tools, to)
    add((await Promise.all([first, rest])).flat())
    return jobs
  }

  return proceed()
}

/** Few while it is not known how large they are. */
function itemsAtATime(done: number, bytes: number): number {
  if (done === 0) return FIRST_ITEMS
  return Math.max(1, Math.min(MOST_ITEMS, Math.floor((SLICE_BYTES * done) / Math.max(1, bytes))))
}

function nextTurn(platform: Platform): Promise<void> {
  return new Promise((resolve) => platform.nextTurn(resolve))
}
