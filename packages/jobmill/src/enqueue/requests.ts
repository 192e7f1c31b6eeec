/**
 * Turns the items of an enqueue call into requests with the defaults and the route of their kind, and checks
 * their payloads against its schema.
 */
import { DEFAULTS } from '../job/defaults.ts'
import { checkTarget, type JobDeclaration } from '../job/kind/declaration.ts'
import { invalidValue } from '../job/errors.ts'
import type { EnqueueItem } from '../job/enqueue/handle.ts'
import type { NewJob } from '../job/enqueue/new-job.ts'
import type { JobKind } from '../job/kind/job-kind.ts'
import { checkArray } from '../job/numbers.ts'
import { checkObjectKeys } from '../job/options/known-keys.ts'
import { ITEM_OPTIONS, type JobRequest } from '../job/enqueue/prepare-jobs.ts'
import { checkStored } from '../job/payload/check-stored.ts'
import { indexedJob } from '../job/payload/indexed.ts'
import { expectedPayload, missingPayload, type Schema } from '../job/payload/schema.ts'

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
export function checkPayloads(
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
export function withEntries(
  target: Target,
  jobs: NewJob[],
  tools: Pick<RequestTools, 'definition'>,
): NewJob[] {
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
  // Most kinds have no defaults, and then copying the options once is enough.
  if (definition?.priority === undefined && definition?.maxAttempts === undefined)
    return { ...own, queue, kind }
  const { priority = DEFAULTS.priority, maxAttempts = DEFAULTS.maxAttempts } = definition
  return { priority, maxAttempts, ...own, queue, kind }
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
