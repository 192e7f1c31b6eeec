/**
 * Prepares the jobs of one enqueue call: applies the defaults and the route of their kind, validates them and
 * their payloads, and encodes them as JSON. A large call is prepared in slices that yield to the event loop.
 */
import { DEFAULTS } from '../job/defaults.ts'
import { checkTarget, type JobDeclaration } from '../job/kind/declaration.ts'
import { invalidValue } from '../job/errors.ts'
import type { EnqueueItem } from '../job/enqueue/handle.ts'
import type { NewJob } from '../job/enqueue/new-job.ts'
import type { JobKind } from '../job/kind/job-kind.ts'
import { checkArray } from '../job/numbers.ts'
import { checkObjectKeys } from '../job/options/known-keys.ts'
import {
  checkJobsPerCall,
  ITEM_OPTIONS,
  type JobRequest,
  prepareJobs,
  type PrepareOptions,
} from '../job/enqueue/prepare-jobs.ts'
import { checkStored } from '../job/payload/check-stored.ts'
import { indexedJob } from '../job/payload/indexed.ts'
import { expectedPayload, missingPayload, type Schema } from '../job/payload/schema.ts'
import type { Platform } from '../platform/platform.ts'

export interface RequestTools {
  /** The definition of a kind in this process, if there is one. */
  readonly definition: (kind: string) => JobDeclaration | undefined
  readonly queueOf: (kind: string) => string
}

export type Target = string | JobKind

/** The items from one index to another. */
export function requestsFor(
  target: Target,
  items: readonly EnqueueItem<unknown>[],
  placeOf: (index: number) => string,
  tools: RequestTools,
  from = 0,
  to = Number.POSITIVE_INFINITY,
): JobRequest[] {
  const definition = definitionOf(target, tools)
  const kind = typeof target === 'string' ? target : target.kind
  checkArray(items, 'items', 'Pass [{ payload }, { payload, delay }, …]')
  const requests: JobRequest[] = []
  // A loop by index, because `map` would skip a hole in the array instead of refusing it.
  for (let at = from; at < Math.min(to, items.length); at += 1) {
    const item = items[at] as EnqueueItem<unknown>
    requests.push(requestFor(kind, definition, item, placeOf(at), tools))
  }
  const schema = definition?.payload
  if (schema === undefined) return requests
  for (const [at, { payload }] of requests.entries())
    if (payload === undefined) throw missingPayload(schema, `${placeOf(from + at)}.payload`, from + at)
  return requests
}

/** Validates each payload. Returns a promise only when the schema does: see `checkStored`. */
function checkPayloads(
  target: Target,
  jobs: readonly NewJob[],
  requests: readonly JobRequest[],
  placeOf: (index: number) => string,
  tools: RequestTools,
  from = 0,
): Promise<unknown> | undefined {
  const schema = definitionOf(target, tools)?.payload
  if (schema === undefined) return undefined
  const late = jobs.flatMap((job, at) => {
    const index = from + at
    const given = { text: job.payload, payload: requests[at]?.payload }
    return checkStored(schema, given, `${placeOf(index)}.payload`, index) ?? []
  })
  return late.length === 0 ? undefined : Promise.all(late)
}

/** Adds the index entries of the paths that the kind declares. */
function withEntries(target: Target, jobs: NewJob[], tools: Pick<RequestTools, 'definition'>): NewJob[] {
  const paths = definitionOf(target, tools)?.indexedPayload
  return paths === undefined ? jobs : jobs.map((job) => indexedJob(job, paths))
}

function definitionOf(target: Target, tools: Pick<RequestTools, 'definition'>): JobDeclaration | undefined {
  return typeof target === 'string' ? tools.definition(target) : checkTarget(target, 'job')
}

function requestFor(
  kind: string,
  definition: JobDeclaration | undefined,
  item: EnqueueItem<unknown>,
  at: string,
  { queueOf }: RequestTools,
): JobRequest {
  if (typeof item !== 'object' || item === null || !('payload' in item)) {
    const fix = `Pass { payload, …options }; ${payloadHint(definition?.payload)}`
    throw invalidValue(at, item, 'has no payload', fix)
  }
  if ('kind' in item) checkObjectKeys(item, at, ITEM_OPTIONS)
  const own = 'dedupeKey' in item ? withDedupe(item, at) : item
  // Null is refused later, like any other value that is not a name.
  const queue = own.queue === undefined ? (definition?.queue ?? queueOf(kind)) : own.queue
  const group = own.group === undefined ? definition?.group?.of(own.payload) : own.group
  // Most kinds have no defaults, and then copying the options once is enough.
  if (definition?.priority === undefined && definition?.maxAttempts === undefined)
    return withGroup({ ...own, queue, kind }, group)
  const { priority = DEFAULTS.priority, maxAttempts = DEFAULTS.maxAttempts } = definition
  return withGroup({ priority, maxAttempts, ...own, queue, kind }, group)
}

/** The group is checked with the other options. */
function withGroup(request: JobRequest, group: unknown): JobRequest {
  return group === undefined ? request : { ...request, group: group as string }
}

/** Suggests null only without a schema: a schema rarely accepts null. */
function payloadHint(schema: Schema | undefined): string {
  if (schema === undefined) return 'use null for an empty payload'
  return `the payload must be ${expectedPayload(schema) ?? 'valid for the schema of the kind'}`
}

/** Expands `dedupeKey` to `dedupe`. */
function withDedupe(item: EnqueueItem<unknown>, at: string): EnqueueItem<unknown> {
  const { dedupeKey, ...own } = item
  if (dedupeKey === undefined) return own
  if (own.dedupe === undefined) return { ...own, dedupe: { key: dedupeKey } }
  const fix = 'Pass dedupe with its key, or dedupeKey alone'
  throw invalidValue(`${at}.dedupeKey`, dedupeKey, 'cannot be combined with dedupe', fix, 'OPTION_CONFLICT')
}

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
