/** The schemas of job filters, shared by lists, previews and bulk actions. */
import { z } from '@hono/zod-openapi'
import type { BulkFilter, ListFilter } from 'jobmill'
import { readPayloadAt } from 'jobmill/internal'
import type { JobFilter } from 'jobmill/store'
import { optional } from './enqueue.ts'
import { listedStateShape } from './job.ts'

const severalTimes = z.union([z.string(), z.array(z.string())]).optional()

/** Repeated, or separated by commas, which no name contains. */
export function listOf<T extends z.ZodType<string>>(one: T) {
  return z.preprocess((given) => {
    if (given === undefined) return undefined
    return [given].flat().flatMap((text) => (typeof text === 'string' ? text.split(',') : [text]))
  }, z.array(one).optional())
}

const names = listOf(z.string())

const SEVERAL = 'one or more: repeated or comma-separated'
const fingerprint = optional(z.string(), 'fingerprint of an error group, from errors.list')
const number = z.coerce.number().int().optional()

const KEYS = { order: 'order key', dedupe: 'dedupe key, with or without its scope' }

const INDEXED =
  'like payloadAt, from the index of the paths that the kind declares in indexedPayload; lists the newest id first, and does not find jobs enqueued before the declaration'

/** The filter as URL parameters. */
export const filterQuery = {
  queue: names.openapi({ description: SEVERAL }),
  kind: names.openapi({ description: SEVERAL }),
  state: listOf(listedStateShape).openapi({
    description: `${SEVERAL}; retrying means scheduled after a failed attempt`,
  }),
  version: names.openapi({ description: `version on which the last attempt ran; ${SEVERAL}` }),
  tag: severalTimes.openapi({ description: 'tag; repeat to require several' }),
  enqueuedFrom: number,
  enqueuedBefore: number,
  startedFrom: number.openapi({ description: 'the last attempt started at or after this instant' }),
  startedBefore: number.openapi({ description: 'the last attempt started before this instant' }),
  endedFrom: number,
  endedBefore: number,
  failedFrom: number.openapi({ description: 'the last failed attempt ended at or after this instant' }),
  failedBefore: number.openapi({ description: 'the last failed attempt ended before this instant' }),
  orderKey: optional(z.string(), KEYS.order),
  group: optional(z.string(), 'group of the job in its queue'),
  dedupeKey: optional(z.string(), KEYS.dedupe),
  errorText: optional(
    z.string(),
    'text that the last error contains (never matches done jobs); 1 to 1,000 characters',
  ),
  payloadText: optional(z.string().min(1), 'text that the payload JSON contains'),
  payloadAt: severalTimes.openapi({
    description:
      'value at a path of the payload: user.id:42, items.0.sku:a-1; escape dots, colons and backslashes in keys with a backslash; repeat up to 5 times to require all',
  }),
  indexedPayload: severalTimes.openapi({ description: INDEXED }),
}

/** The filter of a bulk action, as URL parameters. */
export const bulkQuery = {
  ...filterQuery,
  fingerprint,
  id: severalTimes.openapi({
    description: 'job id; repeat up to 1,000 times; can only be combined with state',
  }),
}

function oneOrMore<T extends z.ZodType<string>>(one: T) {
  return z.union([one, z.array(one)]).optional()
}

/** The filter in a request body. */
export const filterShape = z
  .strictObject({
    queue: oneOrMore(z.string()),
    kind: oneOrMore(z.string()),
    version: oneOrMore(z.string()),
    state: oneOrMore(listedStateShape),
    tags: z.array(z.string()).optional(),
    enqueuedFrom: z.int().optional(),
    enqueuedBefore: z.int().optional(),
    startedFrom: z.int().optional(),
    startedBefore: z.int().optional(),
    endedFrom: z.int().optional(),
    endedBefore: z.int().optional(),
    failedFrom: z.int().optional(),
    failedBefore: z.int().optional(),
    orderKey: z.string().optional(),
    group: z.string().optional(),
    dedupeKey: z.string().optional(),
    errorText: z.string().optional(),
    payloadText: z.string().min(1).optional(),
    payloadAt: optional(z.array(z.string()), 'as in a URL: user.id:42'),
    indexedPayload: optional(z.array(z.string()), INDEXED),
    fingerprint,
    ids: optional(z.array(z.string()), '1 to 1,000 job ids; can only be combined with state'),
  })
  .openapi('JobFilter')

type FilterQuery = z.infer<z.ZodObject<typeof filterQuery>>
type BulkQuery = z.infer<z.ZodObject<typeof bulkQuery>>
type FilterBody = z.infer<typeof filterShape>

export function filterOf({ tag, payloadAt, indexedPayload, ...rest }: FilterQuery): ListFilter {
  return {
    ...rest,
    ...(tag !== undefined && { tags: [tag].flat() }),
    ...(payloadAt !== undefined && { payloadAt: valuesOf([payloadAt].flat(), 'payloadAt') }),
    ...(indexedPayload !== undefined && {
      indexedPayload: valuesOf([indexedPayload].flat(), 'indexedPayload'),
    }),
  } as ListFilter
}

export function bulkFilterOf({ id, ...rest }: BulkQuery): BulkFilter {
  return { ...filterOf(rest), ...(id !== undefined && { ids: [id].flat() }) }
}

export function filterOfBody({ payloadAt, indexedPayload, ...rest }: FilterBody): BulkFilter {
  return {
    ...rest,
    ...(payloadAt !== undefined && { payloadAt: valuesOf(payloadAt, 'filter.payloadAt') }),
    ...(indexedPayload !== undefined && {
      indexedPayload: valuesOf(indexedPayload, 'filter.indexedPayload'),
    }),
  } as BulkFilter
}

function valuesOf(texts: readonly string[], field: string): JobFilter['payloadAt'] {
  return texts.map((text, at) => readPayloadAt(text, texts.length === 1 ? field : `${field}[${at}]`))
}
