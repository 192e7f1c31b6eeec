/** Routes for errors, grouped by fingerprint. */
import { z } from '@hono/zod-openapi'
import { ERROR_SORTS, type ErrorGroup, type ErrorReport, omitUndefined } from 'jobmill/internal'
import { ok, route, type Routes } from '../app.ts'
import { optional } from '../shapes/enqueue.ts'
import { filterQuery } from '../shapes/filter.ts'
import { instant } from '../shapes/job.ts'

const errorGroupShape = z
  .object({
    fingerprint: z.string().openapi({ description: 'identifies the group in filters and bulk actions' }),
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
    frame: z.string().nullable().openapi({
      description:
        'function and file of your application that threw the latest error; null if the stack names none',
    }),
    folded: z.int().openapi({
      description:
        'number of similar groups that this one combines (same error class and first words, or same frame); 0 if it combines none',
    }),
    example: z.object({ id: z.uuid(), error: z.string() }).openapi({ description: 'the latest failed job' }),
    versions: z
      .array(z.object({ version: z.string().nullable(), jobs: z.int() }))
      .readonly()
      .openapi({ description: 'failures by version, latest first; null: unknown version' }),
    newIn: z.string().nullable().openapi({
      description:
        'version that introduced this error; versions then also lists the previous version, with 0 jobs; null if unknown',
    }),
    over: z.array(z.object({ at: instant, jobs: z.int() })).readonly(),
  })
  .openapi('ErrorGroup') satisfies z.ZodType<ErrorGroup>

const errorsShape = z
  .object({
    groups: z
      .array(errorGroupShape)
      .readonly()
      .openapi({ description: 'the first 200 in the order of sort' }),
    total: z.int().openapi({ description: 'number of groups, including those that are not listed' }),
    looked: z.int(),
    complete: z.boolean().openapi({ description: 'false when more jobs exist than were scanned' }),
    from: instant
      .nullable()
      .openapi({ description: 'start of the first bucket; null when there are no groups' }),
    bucketMs: z.int(),
  })
  .openapi('Errors') satisfies z.ZodType<ErrorReport>

export const list = route('viewer', 'errors.list', 'get /errors', {
  summary: 'List errors of dead and failing jobs, grouped by similarity',
  request: {
    query: z.strictObject({
      queue: z.string().optional(),
      kind: z.string().optional(),
      failedFrom: filterQuery.failedFrom,
      failedBefore: filterQuery.failedBefore,
      text: optional(z.string(), 'text that an error of the group contains (case-insensitive)'),
      sort: optional(z.enum(ERROR_SORTS), 'largest, latest or newest group first'),
      fingerprint: optional(z.string(), 'fingerprint of a folded group, to list the groups that it combines'),
    }),
  },
  responses: ok(errorsShape, 'The errors'),
})

export const routes: Routes = (api, { errors }) => {
  api.openapi(list, async (c) => c.json(await errors(omitUndefined(c.req.valid('query'))), 200))
}
