/** The schemas of errors, grouped by fingerprint. */
import { z } from '@hono/zod-openapi'
import type { ErrorGroup, ErrorReport } from 'jobmill/internal'

const instant = z.int().openapi({ description: 'milliseconds since 1970' })

const errorGroupShape = z
  .object({
    fingerprint: z.string().openapi({ description: 'fingerprint of kind and shape, for bulk actions' }),
    kind: z.string(),
    shape: z.string().openapi({ description: 'first line of the error, with variable parts replaced' }),
    text: z
      .string()
      .openapi({ description: 'text that all errors of the group contain, for errorText; may be empty' }),
    dead: z.int(),
    failing: z.int().openapi({ description: 'scheduled or ready jobs whose last attempt failed' }),
    firstAt: instant,
    lastAt: instant,
    queues: z.array(z.string()).readonly(),
    example: z.object({ id: z.uuid(), error: z.string() }).openapi({ description: 'the latest failed job' }),
    over: z.array(z.object({ at: instant, jobs: z.int() })).readonly(),
  })
  .openapi('ErrorGroup') satisfies z.ZodType<ErrorGroup>

export const errorsShape = z
  .object({
    groups: z.array(errorGroupShape).readonly().openapi({ description: 'largest groups first, at most 200' }),
    looked: z.int(),
    complete: z.boolean().openapi({ description: 'false when more jobs or groups exist' }),
    from: instant
      .nullable()
      .openapi({ description: 'start of the first bucket; null when there are no groups' }),
    bucketMs: z.int(),
  })
  .openapi('Errors') satisfies z.ZodType<ErrorReport>
