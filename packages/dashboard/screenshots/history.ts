/**
 * A day of metrics as a mill would have written them: busy by day, quiet at night. Since the deploy of a new
 * version, all attempts of one kind fail.
 */
import { versionCounters } from '../../jobmill/src/observe/attempts.ts'
import { bucketOf, type MetricData } from '../../jobmill/src/job/metric-data.ts'
import type { FullStore } from '../../jobmill/src/store/store.ts'

const MINUTE = 60_000
const DAY_MINUTES = 24 * 60
/** The id of a process that does not exist. */
const SOURCE = '01900000-0000-7000-8000-000000000001'

export const VERSIONS = { before: '2.14.0', broken: '2.15.0' } as const
/** How long ago, in minutes, the broken version was deployed. */
export const DEPLOYED = 21
const BROKEN = 'payments.charge'

const QUEUES = [
  { queue: 'mail', kind: 'mail.send', perMinute: 240, runMs: 180, waitMs: 40 },
  { queue: 'webhooks', kind: 'webhook.deliver', perMinute: 150, runMs: 420, waitMs: 120 },
  { queue: 'payments', kind: BROKEN, perMinute: 90, runMs: 340, waitMs: 30 },
  { queue: 'media', kind: 'image.resize', perMinute: 60, runMs: 1_400, waitMs: 600 },
  { queue: 'default', kind: 'partner.sync', perMinute: 35, runMs: 25, waitMs: 12 },
] as const

/** Pseudo-random between 0 and 1, the same on each run. */
function noise(seed: number): number {
  const x = Math.sin(seed * 12.9898) * 43_758.5453
  return x - Math.floor(x)
}

function bell(ms: number, count: number, seed: number): Record<string, number> {
  const histogram: Record<string, number> = {}
  for (let n = 0; n < 12; n += 1) {
    const bucket = String(bucketOf(ms * (0.5 + noise(seed + n) ** 2 * 3)))
    histogram[bucket] = (histogram[bucket] ?? 0) + Math.max(1, Math.round(count / 12))
  }
  return histogram
}

const gauge = (value: number) => ({ sum: value * 6, count: 6, most: value * 1.3 })

/** The metrics of a queue in a part of a minute, this many minutes ago, and those of its kind. */
function partOf(
  at: number,
  { ago, share }: Step,
  { queue, kind, perMinute, runMs, waitMs }: (typeof QUEUES)[number],
): { readonly ofQueue: MetricData; readonly ofKind: MetricData } {
  const hour = new Date(at).getUTCHours() + new Date(at).getUTCMinutes() / 60
  const tide = 0.35 + 0.65 * Math.max(0, Math.sin(((hour - 5) / 24) * 2 * Math.PI) * 0.5 + 0.5)
  const seed = Math.round(ago * 6) * 7 + queue.length
  const ended = Math.round(perMinute * share * tide * (0.85 + noise(seed) * 0.3))
  const isBad = ago < DEPLOYED && kind === BROKEN
  const dead = isBad ? ended : noise(seed + 1) > 0.96 ? 1 : 0
  const done = isBad ? 0 : ended
  const retried = isBad ? 0 : Math.round(done * 0.01)
  const ready = (ended / share) * 0.08 + noise(seed + 2) * 6
  const attempts = { attempts: done + dead + retried, failed: dead + retried }
  const running = bell(isBad ? runMs * 3 : runMs, ended, seed + 50)
  const ofKind: MetricData = {
    counters: {
      done,
      dead,
      retried,
      ...versionCounters(ago < DEPLOYED ? VERSIONS.broken : VERSIONS.before, attempts),
    },
    histograms: { running },
  }
  const ofQueue: MetricData = {
    counters: { enqueued: ended, started: attempts.attempts, done, dead, retried },
    histograms: {
      waiting: bell(waitMs, ended, seed),
      running,
      total: bell(runMs + waitMs, done, seed + 90),
    },
    gauges: {
      ready: gauge(ready),
      running: gauge(1 + ((ended / share) * runMs) / MINUTE),
      scheduled: gauge(30 + noise(seed + 3) * 10),
      dead: gauge(isBad ? (DEPLOYED - ago) * perMinute * tide : 2),
      oldestReadyMs: gauge(waitMs * 3),
    },
  }
  return { ofQueue, ofKind }
}

interface Step {
  /** In minutes. */
  readonly ago: number
  /** Of a minute. */
  readonly share: number
}

/** One row per 10 s for the last two hours, as a mill writes them; one per minute before that. */
function stepsOf(): Step[] {
  const recent = Array.from({ length: 120 * 6 }, (_, n) => ({ ago: (n + 1) / 6, share: 1 / 6 }))
  const older = Array.from({ length: DAY_MINUTES - 121 }, (_, n) => ({ ago: 121 + n, share: 1 }))
  return [...recent, ...older]
}

export async function writeHistory(store: FullStore<never>, now: number): Promise<void> {
  const steps = stepsOf()
  for (let from = 0; from < steps.length; from += 120) {
    const some = steps.slice(from, from + 120)
    await store.metrics.record({
      source: SOURCE,
      seq: from + 1,
      own: [],
      events: [],
      deltas: some.flatMap((step) => {
        const agoMs = Math.round(step.ago * MINUTE)
        return [
          ...QUEUES.flatMap((one) => {
            const { ofQueue, ofKind } = partOf(now - agoMs, step, one)
            return [
              { scope: `queue ${one.queue}`, agoMs, data: ofQueue },
              { scope: `kind ${one.kind}`, agoMs, data: ofKind },
            ]
          }),
          { scope: 'limit partner-api', agoMs, data: limitAt(step) },
        ]
      }),
    })
  }
}

function limitAt({ ago, share }: Step): MetricData {
  const available = Math.max(0, Math.round(30 * (0.5 + 0.5 * Math.sin(ago / 18)) + noise(ago) * 6 - 3))
  const granted = Math.round((20 + noise(ago + 5) * 15) * share)
  return {
    counters: { 'granted.partner.sync': granted, 'refused.partner.sync': available < 4 ? 1 : 0 },
    gauges: {
      available: { sum: available * 6, count: 6, most: available },
      held: { sum: 0, count: 6, most: 0 },
    },
  }
}
