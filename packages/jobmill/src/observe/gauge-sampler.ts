/**
 * Samples queue and limit gauges every 10 s, in the one process that does it for the cluster. Unchanged
 * values are written once a minute, or every five minutes while nothing is ready, running or in use, with the
 * weight of all their samples. A queue that was empty for a whole hour is not written. Means are exact, and
 * idle systems write almost nothing.
 */
import { DEFAULTS } from '../job/defaults.ts'
import { mostAtOnce } from '../job/limit/limit.ts'
import type { Gauge, MetricData } from '../job/metric-data.ts'
import type { Platform } from '../platform/platform.ts'
import type { LimitRecord } from '../store/types/limit.ts'
import { RESOLUTIONS } from '../store/types/metrics.ts'
import type { QueueCounts } from '../store/types/queue-record.ts'
import type { FullStore } from '../store/store.ts'
import type { Metrics } from './metrics.ts'
import { limitScope, queueScope } from './scopes.ts'

export const QUEUE_LEVELS = ['scheduled', 'ready', 'running', 'dead', 'oldestReadyMs'] as const
export const LIMIT_LEVELS = ['available', 'held'] as const

type Levels = Readonly<Record<string, number>>

export type GaugeSampler = ReturnType<typeof gaugeSampler>

interface GaugeSamplerOptions {
  readonly store: Pick<FullStore, 'counts' | 'limits'>
  readonly platform: Platform
  readonly metrics: Pick<Metrics, 'add'>
  /** Whether this process samples for the cluster. */
  readonly isMine: () => boolean
  /** When jobs last changed in any process, on the monotonic clock. */
  readonly movedAt: () => number
}

/** Equal samples within one minute. */
interface Run extends Own {
  /** The time of the last sample, on both clocks. */
  readonly at: number
  readonly wall: number
  readonly times: number
}

interface Kept {
  run: Run
  /** Whether its minute started with other values. */
  readonly isMixed: boolean
  /**
   * Equal samples of earlier minutes that are not written yet. They go into the first of these minutes, which
   * has no other values, so its mean stays exact.
   */
  readonly unwritten: Run | null
  /** The same of the earlier buckets of five minutes of an hour without activity. */
  readonly idle: Run | null
  /** Whether the scope was active in this hour or just before it. */
  readonly isSeen: boolean
}

const [, MINUTE, STILL_MS, HOUR] = RESOLUTIONS

export function gaugeSampler({ store, platform, metrics, isMine, movedAt }: GaugeSamplerOptions) {
  const every = DEFAULTS.gaugeEveryMs
  let kept = new Map<string, Kept>()
  let sampledAt = -1
  let last: Look = { found: [], at: -1, wall: -1 }

  function write(scope: string, run: Run | null): void {
    if (run === null || run.times === 0) return
    metrics.add(scope, dataOf(run.levels, run.times), run.at, run.wall)
  }

  function next(scope: string, now: Run): Kept {
    const before = kept.get(scope)
    if (before === undefined) return begin(scope, now, !now.isAtRest)
    const { run, unwritten, idle, isSeen } = before
    const isSame = isEqual(run.levels, now.levels)
    const isUnseen = run.isAtRest && !isSeen
    if (isSame && isIn(isUnseen ? HOUR : now.isStill ? STILL_MS : MINUTE, run, now)) {
      if (isIn(MINUTE, run, now)) {
        before.run = { ...run, at: now.at, wall: now.wall, times: run.times + 1 }
        return before
      }
      if (before.isMixed) write(scope, run)
      const rest = before.isMixed ? null : mergeRuns(unwritten, run)
      const isSameBucket = rest === null || isIn(STILL_MS, run, now)
      return {
        run: now,
        isMixed: false,
        unwritten: isSameBucket ? rest : null,
        idle: isSameBucket ? idle : mergeRuns(idle, rest),
        isSeen,
      }
    }
    const isSameHour = isIn(HOUR, run, now)
    // When a scope becomes active, the idle rest of its hour counts for the mean. A fully idle hour is left
    // out.
    if (!isUnseen || isSameHour) {
      write(scope, idle)
      write(scope, unwritten)
      write(scope, run)
    }
    // A scope that just became empty is written once as empty.
    return begin(scope, now, !now.isAtRest || !run.isAtRest || (isSameHour && isSeen), isSame)
  }

  /** New values are written at once. Unchanged values are written with later samples. */
  function begin(scope: string, now: Run, isSeen: boolean, isSame = false): Kept {
    if (isSame || !isSeen) return { run: now, isMixed: false, unwritten: null, idle: null, isSeen }
    write(scope, now)
    return { run: { ...now, times: 0 }, isMixed: true, unwritten: null, idle: null, isSeen }
  }

  /**
   * Nothing changed since the last sample and nothing is running, so the last values still hold. They are
   * still read again every five minutes.
   */
  function isStill(wall: number): boolean {
    return isIn(STILL_MS, last, { wall }) && movedAt() < last.at && last.found.every(([, own]) => own.isStill)
  }

  async function look(wall: number): Promise<void> {
    const at = platform.monotonic()
    const [counts, limits] = await Promise.all([store.counts(), store.limits.list()])
    last = { found: [...counts.map(queueLevels), ...limits.map(limitLevels)], at, wall }
  }

  return {
    /** Whether a sample is due. */
    isDue() {
      const wall = platform.now()
      // In the second half of each 10 s, together with the process metrics, so that one recording has both.
      return wall % every >= every / 2 && wall - (wall % every) !== sampledAt && isMine()
    },
    /** Never rejects. If the store cannot be read, the next sample tries again. */
    async sample() {
      const wall = platform.now()
      // The middle of the 10 s bucket, so that clocks that differ by seconds hit the same bucket.
      const at = platform.monotonic() - (wall % every) + every / 2
      sampledAt = wall - (wall % every)
      try {
        if (!isStill(wall)) await look(wall)
        // Keeps only existing scopes, so that a deleted limit leaves nothing behind.
        kept = new Map(last.found.map(([scope, own]) => [scope, next(scope, { ...own, at, wall, times: 1 })]))
      } catch {
        // The store counts its failures. An error here must not prevent other metrics from being written.
      }
    },
  }
}

interface Own {
  readonly levels: Levels
  /** Empty, or a limit with nothing in use. */
  readonly isAtRest: boolean
  /** The value changes only when a job changes. */
  readonly isStill: boolean
}

type Found = readonly [scope: string, own: Own]

interface Look {
  readonly found: readonly Found[]
  /** On both clocks. */
  readonly at: number
  readonly wall: number
}

function queueLevels({ queue, scheduled, ready, running, dead, oldestReadyMs }: QueueCounts): Found {
  const levels = { scheduled, ready, running, dead, oldestReadyMs: oldestReadyMs ?? 0 }
  const isStill = ready + running === 0
  return [queueScope(queue), { levels, isAtRest: isStill && scheduled + dead === 0, isStill }]
}

function limitLevels({ name, settings, available, held }: LimitRecord): Found {
  const isFull = held === 0 && available >= mostAtOnce(settings)
  return [limitScope(name), { levels: { available, held }, isAtRest: isFull, isStill: isFull }]
}

type Moment = Pick<Run, 'wall'>

function isIn(size: number, a: Moment, b: Moment): boolean {
  return Math.floor(a.wall / size) === Math.floor(b.wall / size)
}

function mergeRuns(older: Run | null, run: Run): Run {
  return older === null ? run : { ...older, times: older.times + run.times }
}

function isEqual(a: Levels, b: Levels): boolean {
  return Object.entries(a).every(([name, value]) => b[name] === value)
}

function dataOf(levels: Levels, times: number): MetricData {
  const gauge = (value: number): Gauge => ({ sum: value * times, count: times, most: value })
  return { gauges: Object.fromEntries(Object.entries(levels).map(([name, value]) => [name, gauge(value)])) }
}
