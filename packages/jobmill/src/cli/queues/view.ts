/** Combines the settings, counts and workers of each queue. */
import { versionText } from '../../job/kind/kind-name.ts'
import type { HealthWord } from '../../runtime/diagnose/health.ts'
import type { Mill } from '../../runtime/mill.ts'
import type { QueueCapacity } from '../../runtime/report/capacity.ts'
import type { Forecast } from '../../runtime/report/forecast.ts'
import { type InstanceRecord, isClaiming } from '../../store/types/instance.ts'
import type { QueueCounts, QueueRecord } from '../../store/types/queue-record.ts'
import type { Columns, Painted } from '../output/table.ts'
import { countText, lasting, remainingText, optionText } from '../output/wording.ts'

export interface CountedQueue extends QueueRecord {
  readonly counts: Omit<QueueCounts, 'queue'>
  /** Whether a live instance serves the queue. */
  readonly isServed: boolean
}

type QueueView = Awaited<ReturnType<typeof queueViews>>[number]

const EMPTY = { scheduled: 0, ready: 0, running: 0, done: 0, dead: 0, cancelled: 0, oldestReadyMs: null }

/** Adds to each queue what `more` returns for it. */
export function countedQueues<More>(
  queues: readonly QueueRecord[],
  counts: readonly QueueCounts[],
  instances: readonly InstanceRecord[],
  more: (name: string) => More,
): (CountedQueue & More)[] {
  const alive = instances.filter(isClaiming)
  const served = new Set(alive.flatMap((instance) => instance.queues))
  return queues.map((queue) => {
    const { queue: name, ...own } = counts.find((one) => one.queue === queue.name) ?? {
      queue: queue.name,
      ...EMPTY,
    }
    return { ...queue, counts: own, isServed: served.has(name), ...more(name) }
  })
}

export async function queueViews(mill: Mill) {
  const [queues, counts, unservedKinds, instances, health, capacity] = await Promise.all([
    mill.queues(),
    mill.counts(),
    mill.unservedKinds(),
    mill.instances(),
    mill.health(),
    mill.capacity(),
  ])
  return countedQueues(queues, counts, instances, (name) => ({
    health: health.queues.find(({ queue }) => queue === name)?.health ?? 'ok',
    /** Kinds with ready jobs that no live instance runs from this queue. */
    unservedKinds: unservedKinds.flatMap(({ queue, kind, minVersion, jobs }) =>
      queue === name ? [{ kind, minVersion, jobs }] : [],
    ),
    capacity: capacityIn(capacity, name),
  }))
}

/** Omits settings that the queue itself already has. Null for a queue that was created a moment ago. */
function capacityIn(capacity: readonly QueueCapacity[], name: string) {
  const found = capacity.find(({ queue }) => queue === name)
  if (found === undefined) return null
  const { queue: _, ready: _1, oldestReadyMs: _2, ...own } = found
  return own
}

/** True when jobs are ready and no worker serves the queue. An empty queue needs no worker. */
export function hasNoWorker({ ready }: Pick<QueueCounts, 'ready'>, isServed: boolean): boolean {
  return ready > 0 && !isServed
}

/** The note below the table: no worker serves the queue, or no worker runs these kinds. */
export function unservedText({ name, counts, isServed, unservedKinds }: QueueView): string | null {
  if (hasNoWorker(counts, isServed))
    return `${name}: no worker serves this queue (${countText(counts.ready, 'ready job')})`
  if (unservedKinds.length === 0) return null
  const kinds = unservedKinds.map(
    ({ kind, minVersion, jobs }) => `${countText(jobs, 'job')} of kind ${kind}${versionText({ minVersion })}`,
  )
  return `${name}: no worker for ${kinds.join(', ')}`
}

export const QUEUE_COLUMNS: Columns<QueueView> = {
  queue: ({ name }) => name,
  state: stateOf,
  ready: ({ counts }) => counts.ready,
  running: ({ counts }) => counts.running,
  scheduled: ({ counts }) => counts.scheduled,
  done: ({ counts }) => counts.done,
  dead: ({ counts }) => counts.dead,
  cancelled: ({ counts }) => counts.cancelled,
  oldest: ({ counts: { oldestReadyMs } }) => (oldestReadyMs === null ? null : lasting(oldestReadyMs)),
  'in/s': ({ capacity }) => rateText(capacity?.inPerSecond),
  'out/s': ({ capacity }) => rateText(capacity?.outPerSecond),
  forecast: ({ capacity }) => (capacity === null ? null : forecastText(capacity.forecast)),
  workers: ({ workers }) => workers ?? 'unset',
  backoff: ({ backoffEnabled, backoffBaseMs, backoffMaxMs }) =>
    backoffEnabled ? `${optionText(backoffBaseMs)} to ${optionText(backoffMaxMs)}` : 'off',
  'retention done/cancelled/dead': (queue) =>
    [
      retentionText(queue.retainDoneMs, queue.keepDone),
      retentionText(queue.retainCancelledMs, queue.keepCancelled),
      retentionText(queue.retainDeadMs, queue.keepDead),
    ].join('/'),
  limit: ({ limit }) => limit,
  target: ({ capacity }) => targetText(capacity),
}

/** `p95 12 s of 30 s, met`. */
function targetText(capacity: QueueView['capacity']): Painted | null {
  const { target = null, waiting } = capacity ?? {}
  if (target === null) return null
  const p95 = waiting?.p95 ?? null
  const measured = p95 === null ? '' : `p95 ${lasting(p95)} of `
  return {
    text: `${measured}${lasting(target.latencyMs)}, ${target.met ? 'met' : 'missed'}`,
    style: target.met ? 'green' : 'red',
  }
}

/** Digits that matter: 0.04, 1.5, 12. */
const rateText = (perSecond = 0): number => Number(perSecond.toPrecision(2))

function forecastText(forecast: Forecast): string | null {
  if (forecast.trend === 'drains') return `drains in ${lasting(forecast.inMs)}`
  if (forecast.trend === 'grows') return `grows ${rateText(forecast.perSecond)}/s`
  return forecast.trend === 'steady' ? 'steady' : null
}

function retentionText(ms: number | null, most: number | null): string {
  return most === null ? optionText(ms) : `${optionText(ms)},${most}`
}

/** The health of the queue. A single kind without a worker does not count. */
function stateOf({ health, coolingMs }: QueueView): Painted {
  if (health === 'cooling') return { text: `cooling for ${remainingText(coolingMs)}`, style: 'yellow' }
  return { text: health.replace('no-workers', 'no worker'), style: STYLES[health] }
}

const STYLES = {
  paused: 'yellow',
  'no-workers': 'red',
  failing: 'red',
  cooling: 'yellow',
  degraded: 'yellow',
  ok: 'green',
} as const satisfies Readonly<Record<HealthWord, Painted['style']>>
