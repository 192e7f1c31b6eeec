/**
 * Rate limits over many processes: never exceeded at the instants of use, and with little loss. On the oracle
 * and both stores.
 */
import { describe, expect } from 'vitest'
import { inFull } from '../../../../test/support/suite/in-full.ts'
import { completeLimit, type LimitOptions, limitParts } from '../../src/job/limit/limit.ts'
import { Snooze } from '../../src/job/attempt/thrown.ts'
import { sleep } from '../../src/platform/sleep.ts'
import type { Lease } from '../../src/store/types/claim.ts'
import type { TestPlatform } from '../../src/testing/index.ts'
import { PLACES, testOn } from './places.ts'
import { aLease, insideOf, type Process, scene, type Scene } from './scene.ts'

interface Use {
  readonly at: number
  readonly amount: number
}

const MINUTE = 60_000

/** The largest delay until a snoozed job is claimed again: the heartbeat finds due jobs. */
const PICKUP_MS = 640

interface Work {
  readonly limit: string
  readonly until: number
  readonly uses: Use[]
  /** For one job. */
  readonly amount?: () => number
}

/**
 * One worker: each job is snoozed and claimed again until it has acquired the limit. There is always
 * another job.
 */
async function worker(process: Process, platform: TestPlatform, work: Work): Promise<void> {
  while (platform.now() < work.until) {
    const lease = aLease(platform)
    const amount = work.amount?.() ?? 1
    const got = await drawn(process, platform, { ...work, lease, number: amount })
    if (got) work.uses.push({ at: platform.now(), amount })
  }
}

async function drawn(
  process: Process,
  platform: TestPlatform,
  { lease, limit, until, number }: Work & { readonly lease: Lease; readonly number: number },
): Promise<boolean> {
  while (platform.now() < until) {
    try {
      await insideOf(process, lease).acquire(limit, number)
      return platform.now() < until
    } catch (error) {
      if (!(error instanceof Snooze)) throw error
      await sleep(platform, error.forMs + Math.floor(platform.random() * PICKUP_MS))
    }
  }
  return false
}

/** Runs that many workers in each process until the time is over; returns all uses. */
function works(
  { platform, processes }: Scene,
  workers: number,
  work: Omit<Work, 'uses' | 'until'> & { readonly forMs: number },
): () => Promise<Use[]> {
  const uses: Use[] = []
  const until = platform.now() + work.forMs
  const all = processes.flatMap((process) =>
    Array.from({ length: workers }, () => worker(process, platform, { ...work, until, uses })),
  )
  return async () => {
    // Advance past the end, so that snoozed jobs finish.
    await platform.advance(Math.max(0, until - platform.now()) + 2 * MINUTE)
    await Promise.all(all)
    return uses
  }
}

/**
 * Checks every window that starts and ends with a use, which includes every window that could be too full.
 */
function mostOver(uses: readonly Use[], options: LimitOptions): number {
  const settings = completeLimit(limitParts(options, 'limit'))
  if (settings.type !== 'rate') throw new Error('only a rate has windows')
  const { burst, amount, perMs } = settings
  let most = Number.NEGATIVE_INFINITY
  for (let from = 0; from < uses.length; from += 1) {
    let sum = 0
    for (let to = from; to < uses.length; to += 1) {
      sum += uses[to]?.amount ?? 0
      const windowMs = (uses[to]?.at ?? 0) - (uses[from]?.at ?? 0)
      most = Math.max(most, sum - (burst + (amount * windowMs) / perMs))
    }
  }
  return most
}

/** The fewest uses in any minute of the work. */
function fewestPerMinute(uses: readonly Use[], from: number, until: number): number {
  const begins = [from, ...uses.map(({ at }) => at + 1)].filter((at) => at + MINUTE <= until)
  return Math.min(...begins.map((at) => uses.filter((use) => use.at >= at && use.at < at + MINUTE).length))
}

// Smaller than any use: rounding errors of sums.
const HAIR = 1e-6

describe.each(PLACES)('P13 on $name: rates', { timeout: 180_000 }, ({ name, database }) => {
  const test = testOn(name)
  const minutes = inFull(10, 2)
  test(`50 per minute over ${minutes} minutes and three processes: no window is exceeded, and no minute has fewer than 49`, async () => {
    const smtp = { rate: 50, per: '1m' } as const
    const it = await scene({ smtp }, { database, processes: 3 })
    const from = it.platform.now()
    const uses = await works(it, 5, { limit: 'smtp', forMs: minutes * MINUTE })()
    expect(mostOver(uses, smtp)).toBeLessThanOrEqual(HAIR)
    expect(fewestPerMinute(uses, from, from + minutes * MINUTE)).toBeGreaterThanOrEqual(49)
  })

  test('with a burst and several tokens at once, a rate is neither exceeded nor wasted', async () => {
    const api = { rate: 20, burst: 5 } as const
    const it = await scene({ api }, { database, processes: 3 })
    const seconds = inFull(30, 5)
    const amount = (): number => 1 + Math.floor(it.platform.random() * 3)
    const uses = await works(it, 20, { limit: 'api', forMs: seconds * 1_000, amount })()
    expect(mostOver(uses, api)).toBeLessThanOrEqual(HAIR)
    expect(uses.reduce((sum, use) => sum + use.amount, 0)).toBeGreaterThanOrEqual(0.95 * 20 * seconds)
  })

  test('a drain pauses for exactly its time in every process, without delaying other work', async () => {
    const it = await scene(
      { smtp: { rate: 50, per: '1m' }, other: { rate: 50, per: '1m' } },
      { database, processes: 3 },
    )
    const from = it.platform.now()
    const forMs = inFull(3, 1.6) * MINUTE
    const drained = works(it, 5, { limit: 'smtp', forMs })
    const others = works(it, 2, { limit: 'other', forMs })
    await it.platform.advance(MINUTE)
    const drainedAt = it.platform.now()
    await it.first.limits.drain('smtp', { retryAfter: '30s' })
    const uses = await drained()
    const paused = uses.filter(({ at }) => at > drainedAt && at < drainedAt + 30_000)
    // A use that another process was granted a moment before still happens: at most one at this rate.
    expect(paused.length).toBeLessThanOrEqual(1)
    expect(paused.every(({ at }) => at <= drainedAt + 1_000)).toBe(true)
    expect(uses.find(({ at }) => at >= drainedAt + 30_000)?.at).toBe(drainedAt + 30_000)
    expect(mostOver(uses, { rate: 50, per: '1m' })).toBeLessThanOrEqual(HAIR)
    expect(fewestPerMinute(await others(), from, from + forMs)).toBeGreaterThanOrEqual(49)
  })

  test('lost replies let no extra job through', async () => {
    const api = { rate: 5 } as const
    const it = await scene({ api }, { database, processes: 3 })
    const losing = new AbortController()
    const spoiling = it.processes.map(async ({ store }) => {
      while (!losing.signal.aborted) {
        if (it.platform.random() < 0.3) store.loseReply('limits.acquire')
        await sleep(it.platform, 500, losing.signal)
      }
    })
    const seconds = inFull(60, 10)
    const uses = await works(it, 5, { limit: 'api', forMs: seconds * 1_000 })()
    losing.abort()
    await Promise.all(spoiling)
    expect(mostOver(uses, api)).toBeLessThanOrEqual(HAIR)
    expect(uses.length).toBeGreaterThan(1.5 * seconds)
  })
})
