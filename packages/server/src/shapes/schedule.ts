/** The schemas of schedules. */
import { z } from '@hono/zod-openapi'
import type { ScheduleView } from 'jobmill'
import { type ListedSchedule, MISSED, OVERLAPS, type TickView } from 'jobmill/internal'
import { duration } from './enqueue.ts'
import { stateShape } from './job.ts'

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

/** The current state of a job of the schedule; null if the job was deleted. */
const jobState = z.union([stateShape, z.null()])

export const tickShape = z
  .object({ at: ms, outcome: tickOutcomeShape, job: z.string(), servedAt: ms, state: jobState })
  .openapi('Tick') satisfies z.ZodType<TickView>

export const listedScheduleShape = scheduleShape
  .extend({
    lastState: jobState.openapi({ description: 'state of lastJob; null if it was deleted' }),
    runs: z.array(tickShape).readonly().openapi({ description: 'the latest runs, newest first' }),
  })
  .openapi('ListedSchedule')

/** Checks at compile time that the schema has every field of the view. */
void ((view: ScheduleView): z.infer<typeof scheduleShape> => view)
void ((view: ListedSchedule): z.infer<typeof listedScheduleShape> => view)

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
    job: z.string().openapi({ description: 'job kind' }),
    when: z.string().openapi({ example: '0 6 * * 1-5' }),
    ...change,
  })
  .openapi('NewSchedule')
