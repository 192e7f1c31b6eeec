/** Which jobs are meant: the same in lists, previews and acts on many. */
import { z } from '@hono/zod-openapi'
import type { BulkFilter } from '../../runtime/bulk.ts'
import type { JobFilter } from '../../store/job-list.ts'
import { readPayloadAt } from '../../store/payload-at.ts'
import type { ListFilter } from '../../runtime/list-filter.ts'
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

/** As it stands in an address. */
export const filterQuery = {
  queue: names.openapi({ description: 'one or several: repeated, or separated by commas' }),
  kind: names.openapi({ description: 'one or several: repeated, or separated by commas' }),
  state: listOf(listedStateShape).openapi({
    description:
      'one or several: repeated, or separated by commas; retrying are scheduled jobs whose last attempt failed',
  }),
  tag: severalTimes.openapi({
    description: 'a tag that jobs have; several times for jobs that have all of them',
  }),
  enqueuedFrom: z.coerce.number().int().optional(),
  enqueuedBefore: z.coerce.number().int().optional(),
  endedFrom: z.coerce.number().int().optional(),
  endedBefore: z.coerce.number().int().optional(),
  errorText: z.string().optional().openapi({
    description: 'what the last error of jobs contains that are not done; 1 to 1,000 characters',
  }),
  payloadText: z.string().min(1).optional().openapi({ description: 'what payloads contain, as JSON text' }),
  payloadAt: severalTimes.openapi({
    description:
      'what payloads have at a path: user.id:42, items.0.sku:a-1; a dot, colon or backslash of a key has a backslash before it; up to 5 times for payloads that have all of them',
  }),
}

/** And of an act on many. */
export const bulkQuery = {
  ...filterQuery,
  fingerprint: z.string().optional().openapi({ description: 'of an error, as errors.list tells it' }),
  id: severalTimes.openapi({ description: 'a job; up to 1,000 times, and then only state beside it' }),
}

function oneOrMore<T extends z.ZodType<string>>(one: T) {
  return z.union([one, z.array(one)]).optional()
}

/** As it stands in a body. */
export const filterShape = z
  .strictObject({
    queue: oneOrMore(z.string()),
    kind: oneOrMore(z.string()),
    state: oneOrMore(listedStateShape),
    tags: z.array(z.string()).optional(),
    enqueuedFrom: z.int().optional(),
    enqueuedBefore: z.int().optional(),
    endedFrom: z.int().optional(),
    endedBefore: z.int().optional(),
    errorText: z.string().optional(),
    payloadText: z.string().min(1).optional(),
    payloadAt: z.array(z.string()).optional().openapi({ description: 'as in an address: user.id:42' }),
    fingerprint: z.string().optional().openapi({ description: 'of an error, as errors.list tells it' }),
    ids: z
      .array(z.string())
      .optional()
      .openapi({ description: '1 to 1,000 jobs, and then only state beside them' }),
  })
  .openapi('JobFilter')

type FilterQuery = z.infer<z.ZodObject<typeof filterQuery>>
type BulkQuery = z.infer<z.ZodObject<typeof bulkQuery>>
type FilterBody = z.infer<typeof filterShape>

export function filterOf({ tag, payloadAt, ...rest }: FilterQuery): ListFilter {
  return {
    ...rest,
    ...(tag !== undefined && { tags: [tag].flat() }),
    ...(payloadAt !== undefined && { payloadAt: valuesOf([payloadAt].flat(), 'payloadAt') }),
  } as ListFilter
}

export function bulkFilterOf({ id, fingerprint, ...rest }: BulkQuery): BulkFilter {
  return {
    ...filterOf(rest),
    ...(fingerprint !== undefined && { fingerprint }),
    ...(id !== undefined && { ids: [id].flat() }),
  }
}

export function filterOfBody({ payloadAt, ...rest }: FilterBody): BulkFilter {
  return {
    ...rest,
    ...(payloadAt !== undefined && { payloadAt: valuesOf(payloadAt, 'filter.payloadAt') }),
  } as BulkFilter
}

function valuesOf(texts: readonly string[], field: string): JobFilter['payloadAt'] {
  return texts.map((text, at) => readPayloadAt(text, texts.length === 1 ? field : `${field}[${at}]`))
}
