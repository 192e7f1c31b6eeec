/** What is sent to enqueue a job, and what is told of that. */
import { z } from '@hono/zod-openapi'
import { stateShape } from './job.ts'

export const duration = z
  .union([z.number(), z.string()])
  .openapi({ description: 'milliseconds, or a text such as "10m"', example: '10m' })

export const enqueueShape = z
  .strictObject({
    kind: z.string().openapi({ description: 'who runs it' }),
    payload: z.unknown().optional().openapi({ description: 'left out, it is null' }),
    id: z.string().optional().openapi({ description: 'a UUID; enqueued again it is the same job' }),
    queue: z.string().optional().openapi({ description: 'the lane it waits in; else that of its kind' }),
    priority: z.int().optional().openapi({ description: 'lower runs first' }),
    maxAttempts: z.int().optional().openapi({ description: 'dead after so many' }),
    delay: duration.optional().openapi({ description: 'due so long from now: milliseconds, or "10m"' }),
    runAt: z
      .union([z.number(), z.string()])
      .optional()
      .openapi({ description: 'due then: milliseconds since 1970, or ISO 8601 with its zone' }),
    timeout: duration
      .optional()
      .openapi({ description: 'how long one attempt may take: milliseconds, or "10m"' }),
    tags: z.array(z.string()).optional().openapi({ description: 'to find it by' }),
    metadata: z.record(z.string(), z.unknown()).optional().openapi({ description: 'travels with it' }),
    dedupeKey: z.string().optional().openapi({ description: 'short for dedupe.key' }),
    dedupe: z
      .strictObject({
        key: z.string().openapi({ description: 'at most one such job waits or runs' }),
        scope: z
          .enum(['global', 'queue', 'kind'])
          .optional()
          .openapi({ description: 'among which jobs; else global' }),
        holdFor: duration
          .optional()
          .openapi({ description: 'also so long after it is done: milliseconds, or "10m"' }),
        holdAfter: z
          .enum(['done', 'ended'])
          .optional()
          .openapi({ description: 'hold it after done (default), or however the job ended' }),
        onConflict: z
          .enum(['keep', 'replace'])
          .optional()
          .openapi({ description: 'keep the job that has the key (default), or give it this payload' }),
      })
      .optional(),
    orderKey: z
      .string()
      .optional()
      .openapi({ description: 'jobs of a queue that share it run one at a time' }),
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
