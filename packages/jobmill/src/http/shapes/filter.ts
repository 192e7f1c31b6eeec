/** Which jobs are meant: the same in lists, previews and acts on many. */
import { z } from '@hono/zod-openapi'
import type { BulkFilter } from '../../runtime/bulk.ts'
import type { JobFilter } from '../../store/job-list.ts'
import { readPayloadAt } from '../../store/payload-at.ts'
import { stateShape } from './job.ts'

const severalTimes = z.union([z.string(), z.array(z.string())]).optional()

/** As it stands in an address. */
export const filterQuery = {
  queue: z.string().optional(),
  kind: z.string().optional(),
  state: stateShape.optional(),
  tag: severalTimes.openapi({
    description: 'a tag that jobs have; several times for jobs that have all of them',
  }),
  enqueuedFrom: z.coerce.number().int().optional(),
  enqueuedBefore: z.coerce.number().int().optional(),
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

/** As it stands in a body. */
export const filterShape = z
  .strictObject({
    queue: z.string().optional(),
    kind: z.string().optional(),
    state: stateShape.optional(),
    tags: z.array(z.string()).optional(),
    enqueuedFrom: z.int().optional(),
    enqueuedBefore: z.int().optional(),
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

export function filterOf({ tag, payloadAt, ...rest }: FilterQuery): JobFilter {
  return {
    ...rest,
    ...(tag !== undefined && { tags: [tag].flat() }),
    ...(payloadAt !== undefined && { payloadAt: valuesOf([payloadAt].flat(), 'payloadAt') }),
  } as JobFilter
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
