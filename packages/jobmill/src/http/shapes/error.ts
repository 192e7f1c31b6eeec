/** Errors, gathered by their fingerprints. */
import { z } from '@hono/zod-openapi'
import type { ErrorGroup, ErrorReport } from '../../runtime/errors.ts'

const instant = z.int().openapi({ description: 'milliseconds since 1970' })

const errorGroupShape = z
  .object({
    fingerprint: z.string().openapi({ description: 'of the kind and the shape: acts on many take it' }),
    kind: z.string(),
    shape: z.string().openapi({ description: 'the first line of the errors with what varies replaced' }),
    text: z.string().openapi({ description: 'what all of the errors contain, for errorText; may be empty' }),
    dead: z.int(),
    failing: z.int().openapi({ description: 'scheduled or ready, with a last attempt that failed' }),
    firstAt: instant,
    lastAt: instant,
    queues: z.array(z.string()).readonly(),
    example: z
      .object({ id: z.uuid(), error: z.string() })
      .openapi({ description: 'the job that failed last' }),
    over: z.array(z.object({ at: instant, jobs: z.int() })).readonly(),
  })
  .openapi('ErrorGroup') satisfies z.ZodType<ErrorGroup>

export const errorsShape = z
  .object({
    groups: z.array(errorGroupShape).readonly().openapi({ description: 'most jobs first, at most 200' }),
    looked: z.int(),
    complete: z.boolean().openapi({ description: 'false when there are more jobs, or groups, than those' }),
    from: instant.nullable().openapi({ description: 'where the first bucket begins; null without a group' }),
    bucketMs: z.int(),
  })
  .openapi('Errors') satisfies z.ZodType<ErrorReport>
