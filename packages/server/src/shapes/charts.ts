/**
 * The metrics of queues as the charts of Mission Control draw them: in columns and with rounded numbers, so
 * that a response is a tenth as long as the same part of a series.
 */
import { z } from '@hono/zod-openapi'
import { type Metrics, QUEUE_LEVELS } from 'jobmill/internal'
import { recordOf } from './series.ts'

type Queue = Metrics['queues'][number]
type Point = Queue['points'][number]

const CHART_COUNTERS = ['enqueued', 'done', 'retried', 'dead', 'cancelled'] as const
const SHARES = ['p50', 'p95', 'p99'] as const

const counted = z.array(z.number())
const measured = z.array(z.number().nullable())
const percentiles = z.object(recordOf(SHARES, measured))

export const chartsShape = z
  .object({
    from: z.number(),
    to: z.number().nullable(),
    resolutionMs: z.number(),
    queues: z.array(
      z.object({
        queue: z.string(),
        bins: z
          .array(z.int())
          .openapi({ description: 'bin n begins at from + n × resolutionMs; empty bins are left out' }),
        counters: z.object(recordOf(CHART_COUNTERS, counted)),
        counts: z
          .object(recordOf(QUEUE_LEVELS, measured))
          .openapi({ description: 'means, and the maximum of oldestReadyMs' }),
        waiting: percentiles,
        running: percentiles,
      }),
    ),
  })
  .openapi('Charts')

export function chartsOf({ from, to, resolutionMs, queues }: Metrics): z.infer<typeof chartsShape> {
  return {
    from,
    to,
    resolutionMs,
    queues: queues.map(({ queue, points }) => ({
      queue,
      bins: points.map(({ at }) => (at - from) / resolutionMs),
      counters: recordBy(CHART_COUNTERS, (name) => points.map(({ counters }) => counters[name])),
      counts: recordBy(QUEUE_LEVELS, (name) => points.map((point) => levelOf(point, name))),
      waiting: columnsOf(points, 'waiting'),
      running: columnsOf(points, 'running'),
    })),
  }
}

function levelOf({ counts }: Point, name: (typeof QUEUE_LEVELS)[number]): number | null {
  const gauge = counts[name]
  return gauge === null ? null : rounded(name === 'oldestReadyMs' ? gauge.most : gauge.mean)
}

function columnsOf(points: readonly Point[], of: 'waiting' | 'running') {
  return recordBy(SHARES, (share) =>
    points.map((point) => (point[of][share] === null ? null : rounded(point[of][share]))),
  )
}

/** Percentiles are accurate to 4%, so further digits would only make the response larger. */
const rounded = (value: number): number => Number(value.toPrecision(4))

function recordBy<Key extends string, Value>(
  keys: readonly Key[],
  value: (key: Key) => Value,
): Record<Key, Value> {
  return Object.fromEntries(keys.map((key) => [key, value(key)])) as Record<Key, Value>
}
