/** What is sent to enqueue a job, and what is told of that. */
import { z } from '@hono/zod-openapi'
import { stateShape } from './job.ts'

export const duration = z
  .union([z.number(), z.string()])
  .openapi({ description: 'milliseconds, or a text such as "10m"', example: '10m' })

export const enqueueShape = z
  .strictObject({
    kind: z.string(),
    payload: z.unknown().optional(),
    id: z.string().optional(),
    queue: z.string().optional(),
    priority: z.int().optional(),
    maxAttempts: z.int().optional(),
    delay: duration.optional(),
    runAt: z.union([z.number(), z.string()]).optional(),
    timeout: duration.optional(),
    tags: z.array(z.string()).optional(),
    metadata: z.record(z.string(), z.unknown()).optional(),
    dedupeKey: z.string().optional(),
    dedupe: z
      .strictObject({
        key: z.string(),
        scope: z.enum(['global', 'queue', 'kind']).optional(),
        holdFor: duration.optional(),
        onConflict: z.enum(['keep', 'replace']).optional(),
      })
      .optional(),
    orderKey: z.string().optional(),
  })
  .openapi('NewJob')

export const enqueuedShape = z
  .object({ id: z.uuid(), outcome: z.enum(['enqueued', 'duplicate', 'replaced']) })
  .openapi('Enqueued')

export const verdictShape = z
  .object({
    id: z.uuid(),
    verdict: z.enum(['changed', 'unchanged', 'refused', 'unknown']),
    // A union, because an enum that may be null is not written as one.
    state: z.union([stateShape, z.null()]),
    holder: z.uuid().optional(),
    hint: z.string().optional(),
  })
  .openapi('Verdict')
