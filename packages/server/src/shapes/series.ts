/** The schemas of metrics over time. */
import { z } from '@hono/zod-openapi'
import {
  ATTEMPT_ENDS,
  COUNTERS,
  LATENCIES,
  type Metrics,
  QUEUE_LEVELS,
  STORE_CLASSES,
} from 'jobmill/internal'

export const recordOf = <Key extends string, S extends z.ZodType>(
  keys: readonly Key[],
  shape: S,
): Record<Key, S> => Object.fromEntries(keys.map((key) => [key, shape])) as Record<Key, S>

const ms = z.number().nullable()
export const percentilesShape = z
  .object({ count: z.number(), p50: ms, p95: ms, p99: ms })
  .openapi('Percentiles')
const counters = z.object(recordOf(COUNTERS, z.number()))
const gauge = z.object({ mean: z.number(), most: z.number() }).nullable()
const queueMetrics = {
  counters,
  perSecond: counters,
  ...recordOf(LATENCIES, percentilesShape),
  counts: z.object(recordOf(QUEUE_LEVELS, gauge)),
}
const kindMetrics = {
  ended: z.object(recordOf(ATTEMPT_ENDS, z.number())),
  running: percentilesShape,
  workerMs: z.number(),
  byVersion: z.record(z.string(), z.object({ attempts: z.number(), failed: z.number() })).readonly(),
}
const draws = { granted: z.number(), refused: z.number() }
const limitMetrics = {
  available: gauge,
  held: gauge,
  ...draws,
  byKind: z.record(z.string(), z.object(draws)).readonly(),
}
const instanceMetrics = {
  cpu: gauge,
  rssBytes: gauge,
  heapBytes: gauge,
  loopLagMs: gauge,
  store: z.object({ ...recordOf(STORE_CLASSES, percentilesShape), failures: z.number() }),
  eventsDropped: z.number(),
}
/** The metrics of every queue, instance, limit or kind: of the whole period, and of each part of it. */
function seriesOf<Name extends string, Metrics extends z.core.$ZodLooseShape>(name: Name, metrics: Metrics) {
  const all = z.object(metrics)
  return z
    .array(
      z.object({
        ...recordOf([name], z.string()),
        all,
        points: z.array(z.object({ at: z.number(), ...metrics })).readonly(),
      }),
    )
    .readonly()
}

export const seriesShape = z
  .object({
    from: z.number(),
    to: z.number().nullable(),
    resolutionMs: z.number(),
    queues: seriesOf('queue', queueMetrics),
    instances: seriesOf('instance', instanceMetrics),
    limits: seriesOf('limit', limitMetrics),
    kinds: seriesOf('kind', kindMetrics),
  })
  .openapi('Series') satisfies z.ZodType<Metrics>
