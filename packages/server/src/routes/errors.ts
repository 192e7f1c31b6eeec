/** Routes for errors, grouped by fingerprint. */
import { z } from '@hono/zod-openapi'
import { type ErrorGroup, type ErrorReport, omitUndefined } from 'jobmill/internal'
import { ok, route, type Routes } from '../app.ts'
import { instant } from '../shapes/job.ts'

const errorGroupShape = z
  .object({
    fingerprint: z
      .string()
      .openapi({ description: 'fingerprint of kind, words and codes, for bulk actions' }),
    kind: z.string(),
    shape: z
      .string()
      .openapi({ description: 'message of the latest error in one line, with variable parts replaced' }),
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

const errorsShape = z
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

export const list = route('viewer', 'errors.list', 'get /errors', {
  summary: 'List errors of dead and failing jobs, grouped by similarity',
  request: { query: z.strictObject({ queue: z.string().optional(), kind: z.string().optional() }) },
  responses: ok(errorsShape, 'The errors'),
})

export const routes: Routes = (api, { errors }) => {
  api.openapi(list, async (c) => c.json(await errors(omitUndefined(c.req.valid('query'))), 200))
}
