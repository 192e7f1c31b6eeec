/** The schemas of queues, limits and instances. */
import { z } from '@hono/zod-openapi'
import type { Forecast, QueueCapacity } from 'jobmill/internal'
import { minVersionShape } from './job.ts'
import { percentilesShape } from './series.ts'
import type {
  InstanceRecord,
  LimitRecord,
  LimitSettings,
  QueueCounts,
  QueueRecord,
  UnservedKind,
} from 'jobmill/store'

const ms = z.number()
const count = z.int()

export const queueShape = z
  .object({
    name: z.string(),
    workers: count.nullable(),
    paused: z.boolean(),
    backoffEnabled: z.boolean(),
    backoffBaseMs: ms,
    backoffMaxMs: ms,
    retainDoneMs: ms.nullable(),
    retainCancelledMs: ms.nullable(),
    retainDeadMs: ms.nullable(),
    keepDone: count.nullable(),
    keepCancelled: count.nullable(),
    keepDead: count.nullable(),
    limit: z.string().nullable(),
    targetLatencyMs: ms.nullable(),
    groupFair: z.boolean(),
    groupConcurrency: count.nullable(),
    groupRate: count.nullable(),
    groupRatePerMs: ms.nullable(),
    coolingMs: ms,
    throttles: count,
  })
  .openapi('Queue') satisfies z.ZodType<QueueRecord>

export const countsShape = z
  .object({
    queue: z.string(),
    scheduled: count,
    ready: count,
    running: count,
    done: count,
    dead: count,
    cancelled: count,
    oldestReadyMs: ms.nullable(),
  })
  .openapi('QueueCounts') satisfies z.ZodType<QueueCounts>

export const unservedKindShape = z
  .object({ queue: z.string(), kind: z.string(), minVersion: minVersionShape, jobs: count })
  .openapi('UnservedKind') satisfies z.ZodType<UnservedKind>

const forecastShape = z
  .union([
    z.object({ trend: z.enum(['empty', 'steady']) }),
    z.object({ trend: z.literal('drains'), inMs: ms }),
    z.object({ trend: z.literal('grows'), perSecond: z.number() }),
  ])
  .openapi('Forecast') satisfies z.ZodType<Forecast>

export const capacityShape = z
  .object({
    queue: z.string(),
    inPerSecond: z.number(),
    outPerSecond: z.number(),
    ready: count,
    oldestReadyMs: ms.nullable(),
    waiting: percentilesShape,
    running: percentilesShape,
    busy: count,
    workers: count,
    forecast: forecastShape,
    target: z
      .object({ latencyMs: ms, met: z.boolean() })
      .nullable()
      .openapi({ description: 'the latency target of the queue, and whether the queue meets it' }),
  })
  .openapi('QueueCapacity') satisfies z.ZodType<QueueCapacity>

const limitSettingsShape = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('rate'),
    amount: z.number(),
    perMs: ms,
    burst: z.number(),
    perKey: z.literal(true).optional(),
  }),
  z.object({ type: z.literal('concurrency'), most: count }),
]) satisfies z.ZodType<LimitSettings>

export const limitShape = z
  .object({
    name: z.string(),
    settings: limitSettingsShape,
    available: count,
    held: count,
    nextInMs: ms.nullable(),
    drainedMs: ms,
    keys: count.nullable(),
  })
  .openapi('Limit') satisfies z.ZodType<LimitRecord>

export const instanceShape = z
  .object({
    id: z.uuid(),
    label: z.string().nullable(),
    version: z.string().nullable(),
    queues: z.array(z.string()).readonly(),
    kinds: z.array(z.string()).readonly(),
    onDead: z.array(z.string()).readonly(),
    capacity: z.number(),
    state: z.enum(['alive', 'expired', 'lost', 'stopped']),
    startedAt: ms,
    renewedAt: ms,
    expiresAt: ms,
    endedAt: ms.nullable(),
    requested: z.enum(['quiet', 'stop']).nullable().openapi({ description: 'what an operator requested' }),
    requestedBy: z.string().nullable(),
    requestedAt: ms.nullable(),
  })
  .openapi('Instance') satisfies z.ZodType<InstanceRecord>
