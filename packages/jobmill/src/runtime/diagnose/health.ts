/** The health of each queue and each kind. Pure functions of a scene. */
import { type InstanceRecord, isClaiming } from '../../store/types/instance.ts'
import type { QueueCounts, QueueRecord } from '../../store/types/queue-record.ts'
import { type Attempts, attemptsOf } from '../../observe/attempts.ts'
import type { Percentiles, QueueSeries } from '../report/series.ts'
import { attemptsAt, type FailingLevel, levelNow } from './failing-kinds.ts'
import type { LiveScene } from './scene.ts'

/** Worst first, except for a pause, which an operator ordered. */
export const HEALTHS = ['paused', 'no-workers', 'failing', 'cooling', 'degraded', 'ok'] as const
export type HealthWord = (typeof HEALTHS)[number]

export interface QueueHealth extends Attempts {
  readonly queue: string
  readonly health: HealthWord
  /** The severity of its failures in the last 10 minutes. */
  readonly level: FailingLevel | null
}

/** The last 10 minutes. */
export interface KindHealth extends Attempts {
  readonly kind: string
  readonly health: Extract<HealthWord, 'failing' | 'degraded' | 'ok'>
  /** How long attempts ran. */
  readonly running: Percentiles
}

/** A job that is ready for longer makes its queue degraded. */
export const WAITS_LONG_MS = 5 * 60_000

type HealthScene = Pick<LiveScene, 'now' | 'queues' | 'counts' | 'instances' | 'series' | 'kinds'>

export function queueHealth({ now, queues, counts, instances, series }: HealthScene): QueueHealth[] {
  const served = servedQueues(instances)
  return queues.map((settings) => {
    const queue = settings.name
    const { all, points } = series.find((one) => one.queue === queue) ?? { all: null, points: [] }
    const attempts = all === null ? { attempts: 0, failed: 0 } : queueAttempts(all)
    const minutes = points.map((point) => ({ at: point.at, ...queueAttempts(point) }))
    const level = levelNow(attempts, minutes, now)
    const known = counts.find((one) => one.queue === queue)
    return { queue, health: queueWord(settings, known, served.has(queue), level), level, ...attempts }
  })
}

/** A timed-out attempt of a queue is also counted as retried or dead. */
function queueAttempts({ counters }: Pick<QueueSeries['all'], 'counters'>): Attempts {
  return attemptsOf({ ...counters, timedOut: 0 })
}

/** The queues from which a process claims: a quiet process serves none. */
export function servedQueues(instances: readonly InstanceRecord[]): ReadonlySet<string> {
  return new Set(instances.flatMap((one) => (isClaiming(one) ? one.queues : [])))
}

/** The first word that applies. Without ready jobs a queue needs no workers. */
export function queueWord(
  { paused, workers, coolingMs }: Pick<QueueRecord, 'paused' | 'workers' | 'coolingMs'>,
  counts: Pick<QueueCounts, 'ready' | 'oldestReadyMs'> | undefined,
  isServed: boolean,
  level: FailingLevel | null,
): HealthWord {
  if (paused) return 'paused'
  if ((workers === 0 || !isServed) && (counts?.ready ?? 0) > 0) return 'no-workers'
  if (level === 'error') return 'failing'
  if (coolingMs > 0) return 'cooling'
  return level !== null || (counts?.oldestReadyMs ?? 0) > WAITS_LONG_MS ? 'degraded' : 'ok'
}

export function kindHealth({ now, kinds }: HealthScene): KindHealth[] {
  return kinds.map(({ kind, all, points }) => {
    const attempts = attemptsOf(all.ended)
    const level = levelNow(attempts, points.map(attemptsAt), now)
    const health = level === 'error' ? 'failing' : level === null ? 'ok' : 'degraded'
    return { kind, health, ...attempts, running: all.running }
  })
}
