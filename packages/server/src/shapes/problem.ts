/** The schema of error responses. */
import { z } from '@hono/zod-openapi'

export const problemShape = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    code: z.string(),
    detail: z.string().optional(),
    field: z.string().optional(),
    fix: z.string().optional(),
    index: z.int().optional(),
  })
  .openapi('Problem')
