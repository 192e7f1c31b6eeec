/** Which jobs are meant: the same in lists, previews and acts on many. */
import { z } from '@hono/zod-openapi'
import type { JobFilter } from '../../store/job-list.ts'
import { stateShape } from './job.ts'

/** As it stands in an address. */
export const filterQuery = {
  queue: z.string().optional(),
  kind: z.string().optional(),
  state: stateShape.optional(),
  tag: z
    .union([z.string(), z.array(z.string())])
    .optional()
    .openapi({ description: 'a tag that jobs have; several times for jobs that have all of them' }),
  enqueuedFrom: z.coerce.number().int().optional(),
  enqueuedBefore: z.coerce.number().int().optional(),
  payloadText: z.string().min(1).optional().openapi({ description: 'what payloads contain, as JSON text' }),
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
    payloadText: z.string().min(1).optional(),
  })
  .openapi('JobFilter')

type Query = z.infer<z.ZodObject<typeof filterQuery>>

export function filterOf({ tag, ...rest }: Query): JobFilter {
  return { ...rest, ...(tag !== undefined && { tags: [tag].flat() }) } as JobFilter
}
