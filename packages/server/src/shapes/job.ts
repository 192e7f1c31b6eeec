/** The schemas of jobs. Instants are milliseconds since 1970. */
import { z } from '@hono/zod-openapi'
import type { JobView, Why } from 'jobmill'
import {
  type AttemptView,
  BACKOFF_TYPES,
  LISTED_STATES,
  POLICY_SOURCES,
  type PolicyView,
  REASONS,
} from 'jobmill/internal'
import { JOB_STATES, type JobSummary, OUTCOMES } from 'jobmill/store'

export const instant = z.int().openapi({ description: 'milliseconds since 1970' })

export const stateShape = z.enum(JOB_STATES).openapi('JobState')

export const listedStateShape = z.enum(LISTED_STATES).openapi('ListedState')

/** Null unless the job recorded a step in this version of its definition. */
export const minVersionShape = z
  .int()
  .nullable()
  .openapi({ description: 'the lowest version of the definition that may run it; null for any' })

const jobSummaryShape = z
  .object({
    id: z.uuid(),
    kind: z.string(),
    minVersion: minVersionShape,
    queue: z.string(),
    state: stateShape,
    priority: z.int(),
    attempt: z.int(),
    maxAttempts: z.int(),
    crashes: z.int(),
    tags: z.array(z.string()).readonly(),
    orderKey: z.string().nullable(),
    group: z.string().nullable(),
    waitsForOrder: z.boolean(),
    waitsForGroup: z.boolean(),
    enqueuedAt: instant,
    dueAt: instant.nullable(),
    startedAt: instant.nullable(),
    endedAt: instant.nullable(),
    instance: z.uuid().nullable(),
    cancelReason: z.string().nullable(),
  })
  .openapi('JobSummary') satisfies z.ZodType<JobSummary>

const logLineShape = z
  .object({
    at: instant,
    level: z.enum(['debug', 'info', 'warn', 'error']),
    message: z.string(),
    fields: z.record(z.string(), z.unknown()).readonly().exactOptional(),
  })
  .openapi('LogLine')

export const attemptShape = z
  .object({
    attempt: z.int(),
    token: z.int(),
    instance: z.uuid().nullable(),
    startedAt: instant.nullable(),
    endedAt: instant,
    outcome: z.enum(OUTCOMES),
    error: z.string().nullable(),
    log: z.array(logLineShape).readonly(),
    version: z
      .string()
      .nullable()
      .openapi({ description: 'version of the instance; null if it declared none, or ended too long ago' }),
  })
  .openapi('Attempt') satisfies z.ZodType<AttemptView>

export const jobShape = jobSummaryShape
  .extend({
    payload: z.unknown(),
    metadata: z.record(z.string(), z.unknown()).readonly().nullable(),
    result: z.unknown(),
    progress: z.unknown(),
    log: z.array(logLineShape).readonly(),
    error: z.string().nullable(),
    timeoutMs: z.int().nullable(),
    dedupeKey: z.string().nullable(),
  })
  .openapi('Job') satisfies z.ZodType<JobView>

const policySource = z
  .enum(POLICY_SOURCES)
  .openapi({ description: 'unknown: the process that serves the request does not define the kind' })

export const policyShape = z
  .object({
    timeout: z.object({ ms: z.int().nullable(), from: policySource }),
    maxAttempts: z.object({ attempts: z.int(), from: policySource }),
    backoff: z.object({
      type: z.enum(BACKOFF_TYPES),
      baseMs: z.int().nullable(),
      maxMs: z.int().nullable(),
      isRandom: z.boolean(),
      from: policySource,
    }),
  })
  .openapi('JobPolicy') satisfies z.ZodType<PolicyView>

export const leftShape = z
  .object({ payload: z.int().optional(), result: z.int().optional() })
  .openapi('LeftOut', {
    description: 'omitted fields (null in the job) with the size of their JSON in bytes',
  })

const listedJobShape = jobSummaryShape
  .extend({
    error: z.string().nullable().openapi({ description: 'error of the last attempt; null for done jobs' }),
    payload: z.unknown().optional(),
    metadata: z.record(z.string(), z.unknown()).readonly().nullable().optional(),
    result: z.unknown().optional(),
    progress: z.unknown().optional(),
  })
  .openapi('ListedJob')

export const jobCountShape = z
  .object({ jobs: z.int(), byState: z.partialRecord(listedStateShape, z.int()).readonly() })
  .openapi('JobCount')

export const jobPageShape = z
  .object({
    jobs: z.array(listedJobShape),
    next: z.string().nullable().openapi({ description: 'cursor of the next page; null at the end' }),
    scanned: z.int(),
    complete: z.boolean().openapi({ description: 'false when the scan stopped early: continue from next' }),
  })
  .openapi('JobPage')

export const whyShape = z
  .object({
    state: stateShape,
    reasons: z
      .array(
        z.object({
          why: z.enum(REASONS),
          message: z.string().openapi({ description: 'the reason as a sentence' }),
          until: instant.nullable().openapi({ description: 'when the reason ends, if known' }),
          job: z
            .uuid()
            .nullable()
            .openapi({ description: 'the job that must end first, for the reason order' }),
        }),
      )
      .readonly(),
  })
  .openapi('Why') satisfies z.ZodType<Why>
