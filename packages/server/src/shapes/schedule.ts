/** The schemas of schedules. */
import { z } from '@hono/zod-openapi'
import type { ScheduleView } from 'jobmill'
import { MISSED, OVERLAPS } from 'jobmill/internal'
import type { TickRecord } from 'jobmill/store'
import { duration } from './enqueue.ts'

const ms = z.number()

export const tickOutcomeShape = z.enum(['enqueued', 'skipped'])

export const scheduleShape = z
  .object({
    name: z.string(),
    when: z.string(),
    zone: z.string(),
    jitterMs: ms,
    startAt: ms.nullable(),
    endAt: ms.nullable(),
    missed: z.enum(MISSED),
    missedWithinMs: ms,
    overlap: z.enum(OVERLAPS),
    paused: z.boolean(),
    kind: z.string(),
    queue: z.string(),
    payload: z.unknown(),
    priority: z.int(),
    maxAttempts: z.int(),
    timeoutMs: ms.nullable(),
    tags: z.array(z.string()).readonly(),
    text: z.string().openapi({ description: 'description of its timing in English' }),
    nextAt: ms.nullable(),
    lastAt: ms.nullable(),
    lastOutcome: z.union([tickOutcomeShape, z.null()]),
    lastJob: z.string().nullable(),
    missedRuns: z.int(),
    error: z.string().nullable(),
    version: z.int().nullable(),
    differs: z.array(z.string()).readonly().openapi({ description: 'options that an operator changed' }),
    createdAt: ms,
  })
  .openapi('Schedule')

/** Checks at compile time that the schema has every field of the view. */
void ((view: ScheduleView): z.infer<typeof scheduleShape> => view)

export const tickShape = z
  .object({ at: ms, outcome: tickOutcomeShape, job: z.string(), servedAt: ms })
  .openapi('Tick') satisfies z.ZodType<TickRecord>

const instant = z.union([z.number(), z.string()])

const change = {
  zone: z.string().optional(),
  jitter: duration.optional(),
  start: instant.nullable().optional(),
  end: instant.nullable().optional(),
  missed: z.union([z.enum(MISSED), z.strictObject({ all: duration })]).optional(),
  overlap: z.enum(OVERLAPS).optional(),
  paused: z.boolean().optional(),
  queue: z.string().optional(),
  payload: z.unknown().optional(),
  priority: z.int().optional(),
  maxAttempts: z.int().optional(),
  timeout: duration.nullable().optional(),
  tags: z.array(z.string()).optional(),
}

export const scheduleChangeShape = z
  .strictObject({ when: z.string().optional(), ...change })
  .openapi('ScheduleChange')

export const newScheduleShape = z
  .strictObject({
    name: z.string(),
    job: z.string().openapi({ description: 'kind of its jobs' }),
    when: z.string().openapi({ example: '0 6 * * 1-5' }),
    ...change,
  })
  .openapi('NewSchedule')
