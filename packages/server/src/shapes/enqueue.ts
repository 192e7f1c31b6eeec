/** The schemas of enqueue requests and responses. */
import { z } from '@hono/zod-openapi'
import { stateShape } from './job.ts'

export const duration = z
  .union([z.number(), z.string()])
  .openapi({ description: 'milliseconds, or text such as "10m"', example: '10m' })

export const enqueueShape = z
  .strictObject({
    kind: z.string().openapi({ description: 'kind of the job, which selects its handler' }),
    payload: z.unknown().optional().openapi({ description: 'payload (default null)' }),
    id: z.string().optional().openapi({
      description: 'UUID; enqueuing the same id again changes nothing, and the answer is the same',
    }),
    queue: z.string().optional().openapi({ description: 'queue (default: the queue of its kind)' }),
    priority: z.int().optional().openapi({ description: 'a lower number runs first' }),
    maxAttempts: z.int().optional().openapi({ description: 'attempts before the job is dead' }),
    delay: duration
      .optional()
      .openapi({ description: 'delay before the job is due: milliseconds, or "10m"' }),
    runAt: z
      .union([z.number(), z.string()])
      .optional()
      .openapi({ description: 'when the job is due: milliseconds since 1970, or ISO 8601 with a time zone' }),
    timeout: duration
      .optional()
      .openapi({ description: 'time limit of one attempt: milliseconds, or "10m"' }),
    tags: z.array(z.string()).optional().openapi({ description: 'tags to filter by' }),
    metadata: z
      .record(z.string(), z.unknown())
      .optional()
      .openapi({ description: 'JSON object stored with the job' }),
    dedupeKey: z.string().optional().openapi({ description: 'shorthand for dedupe.key' }),
    dedupe: z
      .strictObject({
        key: z.string().openapi({ description: 'at most one job with this key may be pending or running' }),
        scope: z
          .enum(['global', 'queue', 'kind'])
          .optional()
          .openapi({ description: 'where the key must be unique (default global)' }),
        holdFor: duration.optional().openapi({
          description: 'also reject duplicates this long after the job is done: milliseconds, or "10m"',
        }),
        holdAfter: z
          .enum(['done', 'ended'])
          .optional()
          .openapi({ description: 'hold the key after done (default), or after any end' }),
        onConflict: z
          .enum(['keep', 'replace'])
          .optional()
          .openapi({ description: 'keep the existing job (default), or replace its payload' }),
      })
      .optional(),
    orderKey: z
      .string()
      .optional()
      .openapi({ description: 'jobs in a queue with the same key run one at a time, in order' }),
  })
  .openapi('NewJob')

export const enqueuedShape = z
  .object({ id: z.uuid(), outcome: z.enum(['enqueued', 'duplicate', 'replaced']) })
  .openapi('Enqueued')

export const verdictShape = z
  .object({
    id: z.uuid(),
    verdict: z.enum(['changed', 'unchanged', 'refused', 'unknown']),
    // A union, because a nullable enum is generated incorrectly.
    state: z.union([stateShape, z.null()]),
    holder: z.uuid().optional(),
    hint: z.string().optional(),
  })
  .openapi('Verdict')
