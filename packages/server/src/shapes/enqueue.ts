/** The schemas of enqueue requests and responses. */
import { z } from '@hono/zod-openapi'
import { stateShape } from './job.ts'

export const duration = z
  .union([z.number(), z.string()])
  .openapi({ description: 'milliseconds, or text such as "10m"', example: '10m' })

/** A field that may be omitted. */
export function optional<S extends z.ZodType>(shape: S, description: string): z.ZodOptional<S> {
  return shape.optional().openapi({ description })
}

const dedupeShape = z.strictObject({
  key: z.string().openapi({ description: 'at most one job with this key may be pending or running' }),
  scope: optional(z.enum(['global', 'queue', 'kind']), 'where the key must be unique (default global)'),
  holdFor: optional(
    duration,
    'also reject duplicates this long after the job is done: milliseconds, or "10m"',
  ),
  holdAfter: optional(
    z.enum(['done', 'ended']),
    'hold the key after the job is done (default), or also if it is dead or cancelled',
  ),
  onConflict: optional(
    z.enum(['keep', 'replace']),
    'keep the existing job (default), or replace its payload and due time',
  ),
  window: optional(duration, 'reject duplicates this long after the enqueue: milliseconds, or "10m"'),
  until: optional(
    z.enum(['ended', 'started']),
    'hold the key until the job has ended (default), or until it has started',
  ),
})

const debounceShape = z.strictObject({
  key: z.string().openapi({ description: 'jobs of one kind with the same key are debounced together' }),
  wait: duration.openapi({
    description: 'run this long after the last enqueue with the key: milliseconds, or "5s"',
  }),
  maxWait: optional(duration, 'run at the latest this long after the first enqueue: milliseconds, or "1m"'),
})

/**
 * An object with any keys. `z.record` would visit each key, and copy it; the library stops at its size limit.
 */
const anyObject = z
  .custom<Record<string, unknown>>()
  .check(({ value, issues }) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      issues.push({ code: 'invalid_type', expected: 'record', input: value })
  })
  .openapi({ type: 'object', additionalProperties: {} })

export const enqueueShape = z
  .strictObject({
    kind: z.string().openapi({ description: 'kind of the job, which selects its handler' }),
    payload: optional(z.unknown(), 'payload (default null)'),
    id: optional(z.string(), 'UUID; enqueuing the same id again is a no-op with the same response'),
    queue: optional(z.string(), 'queue (default: the queue of its kind)'),
    priority: optional(z.int(), 'a lower number runs first'),
    maxAttempts: optional(z.int(), 'attempts before the job is dead'),
    delay: optional(duration, 'delay before the job is due: milliseconds, or "10m"'),
    runAt: optional(
      z.union([z.number(), z.string()]),
      'when the job is due: milliseconds since 1970, or ISO 8601 with a time zone',
    ),
    timeout: optional(duration, 'time limit of one attempt: milliseconds, or "10m"'),
    tags: optional(z.array(z.string()), 'tags to filter by'),
    metadata: optional(anyObject, 'JSON object stored with the job'),
    dedupeKey: optional(z.string(), 'shorthand for dedupe.key'),
    dedupe: dedupeShape.optional(),
    debounce: debounceShape.optional(),
    orderKey: optional(z.string(), 'jobs in a queue with the same key run one at a time, in order'),
    group: optional(z.string(), 'group of the job in its queue, such as a tenant'),
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
    holder: optional(z.uuid(), 'the job that holds the dedupe key, or the order key that this job waits for'),
    hint: optional(z.string(), 'why nothing changed, or what to do instead'),
  })
  .openapi('Verdict')
