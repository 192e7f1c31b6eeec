// When the reducer claims, and how much. No clock and no database: events in, effects out.
import { describe, expect, test } from 'vitest'
import type { DispatchEvent } from '../../src/dispatch/events.ts'
import type { Lease } from '../../src/store/types/claim.ts'
import { aLease } from '../work/leases.ts'
import {
  claimed,
  claimsIn,
  jobFinished,
  outcomeSettled,
  jobsReady,
  leasesIn,
  releasedIn,
  settingsChanged,
  sleepIn,
  started,
  testDispatch,
  type TestDispatch,
  TICK,
  workerFreed,
} from './support.ts'

const UNKNOWN: DispatchEvent = { type: 'claimFailed', isUnknown: true, pauseMs: 100 }
const FAILED: DispatchEvent = { type: 'claimFailed', isUnknown: false, pauseMs: 100 }

describe('a claim', () => {
  test('is not sent without a sign of work', () => {
    const { at } = testDispatch()
    expect(claimsIn(at(1, workerFreed(), TICK))).toEqual([])
  })

  test('covers all queues with a sign of work and a free worker', () => {
    const { at } = testDispatch({ workers: { a: 2, b: 3, c: 0, d: 4 } })
    expect(claimsIn(at(1, jobsReady('a', 'b', 'c'), TICK))).toEqual([{ a: 2, b: 3 }])
  })

  test('is followed by none when it returned less than was requested', () => {
    const { at } = testDispatch()
    at(1, jobsReady('a'), TICK)
    expect(claimsIn(at(2, claimed(aLease({ queue: 'a' })), TICK))).toEqual([])
  })

  test('is followed by another when it filled all workers, once one is free', () => {
    const { state, at } = testDispatch()
    at(1, jobsReady('a'), TICK)
    expect(claimsIn(at(2, claimed(...leasesIn('a', 2)), TICK))).toEqual([])
    state.isDue = false
    at(3, workerFreed())
    expect(state.isDue).toBe(true)
    expect(claimsIn(at(3, TICK))).toEqual([{ a: 1 }])
  })

  test('requests at most 500 jobs', () => {
    const { at } = testDispatch({ workers: { a: 700 } })
    expect(at(1, jobsReady('a'), TICK)).toContainEqual({
      type: 'claim',
      request: { queues: [{ queue: 'a', room: 700 }], limit: 500, quarantined: 'skip' },
    })
    expect(claimsIn(at(2, claimed(...leasesIn('a', 500)), TICK))).toEqual([{ a: 200 }])
  })

  test('is the only statement in flight, and a sign of work during it causes another', () => {
    const { at } = testDispatch()
    at(1, jobsReady('a'), TICK)
    expect(claimsIn(at(2, jobsReady('a'), TICK))).toEqual([])
    expect(claimsIn(at(3, claimed(), TICK))).toEqual([{ a: 2 }])
  })

  test.each<[string, DispatchEvent, DispatchEvent]>([
    ['lease of the instance is lost', { type: 'leaseLost' }, { type: 'leaseRenewed', until: 9_000 }],
    [
      'lease has run out by the clock',
      { type: 'leaseRenewed', until: 1 },
      { type: 'leaseRenewed', until: 9_000 },
    ],
  ])('is not sent while the %s', (_, before, after) => {
    const { at } = testDispatch()
    expect(claimsIn(at(1, before, jobsReady('a'), TICK))).toEqual([])
    expect(claimsIn(at(2, after, TICK))).toEqual([{ a: 2 }])
  })

  test('is not sent while too many outcomes wait to be written', () => {
    const { state, at } = testDispatch()
    state.unwritten = 5
    expect(claimsIn(at(1, jobsReady('a'), TICK))).toEqual([])
    expect(claimsIn(at(2, outcomeSettled, TICK))).toEqual([{ a: 2 }])
  })

  test('is not sent after a stop, and its leases are released', () => {
    const { at } = testDispatch()
    const lease = aLease({ queue: 'a' })
    at(1, jobsReady('a'), TICK)
    const effects = at(2, { type: 'stopped' }, claimed(lease), jobsReady('a'), TICK)
    expect([claimsIn(effects), started(effects), releasedIn(effects)]).toEqual([[], [], [lease]])
    expect(sleepIn(effects)).toBeUndefined()
  })

  test('P2 is not run when its reply arrives after the lease of the instance was lost, even if renewed', () => {
    const { at } = testDispatch()
    const lease = aLease({ queue: 'a' })
    at(1, jobsReady('a'), TICK)
    const effects = at(2, { type: 'leaseLost' }, { type: 'leaseRenewed', until: 9_000 }, claimed(lease))
    expect([started(effects), releasedIn(effects)]).toEqual([[], [lease]])
  })

  test('alternates between queues with and without a limit when not all fit', () => {
    const limit = { type: 'concurrency', max: 1_000 } as never
    const { at } = testDispatch({ workers: { a: 400, b: 400 }, limits: { b: limit } })
    expect(claimsIn(at(1, jobsReady('a', 'b'), TICK))).toEqual([{ b: 400 }])
    expect(claimsIn(at(2, claimed(), jobsReady('b'), TICK))).toEqual([{ a: 400 }])
  })
})

describe('a failed claim', () => {
  test('is sent again after the pause', () => {
    const { at } = testDispatch()
    at(1, jobsReady('a'), TICK)
    const effects = at(10, FAILED, TICK)
    expect([claimsIn(effects), sleepIn(effects)]).toEqual([[], 110])
    expect(claimsIn(at(110, TICK))).toEqual([{ a: 2 }])
  })

  test('P16 with a lost reply is compared once its leases are old enough, and again while there may be more', () => {
    const { at } = testDispatch()
    at(1, jobsReady('a'), TICK)
    at(10, UNKNOWN, TICK)
    at(110, TICK, claimed())
    expect(sleepIn(at(110, TICK))).toBe(2_510)
    expect(at(2_510, TICK)).toContainEqual({ type: 'compare' })
    expect(sleepIn(at(2_520, { type: 'compared', moreInMs: 1_500 }, TICK))).toBe(4_020)
    expect(at(4_020, TICK)).toContainEqual({ type: 'compare' })
    expect(sleepIn(at(4_030, { type: 'compared', moreInMs: null }, TICK))).toBe(14_020)
  })

  test('that the database refused is not compared', () => {
    const { at } = testDispatch()
    at(1, jobsReady('a'), TICK)
    at(10, FAILED, TICK)
    at(110, TICK, claimed())
    expect(sleepIn(at(111, TICK))).toBe(10_000)
  })
})

/** When the reducer compares, if every comparison finds nothing. */
function comparesAt(dispatch: TestDispatch, untilMs: number): number[] {
  const times: number[] = []
  let now = 0
  while (now <= untilMs) {
    const effects = dispatch.at(now, TICK)
    if (effects.some(({ type }) => type === 'compare')) {
      times.push(now)
      dispatch.at(now, { type: 'compared', moreInMs: null })
    } else now = Math.max(now + 1, sleepIn(effects) ?? Number.POSITIVE_INFINITY)
  }
  return times
}

describe('a comparison', () => {
  test('P15 runs once a minute when nothing runs and nothing was claimed', () => {
    expect(comparesAt(testDispatch(), 180_000)).toEqual([60_000, 120_000, 180_000])
  })

  test('runs every ten seconds while a job runs', () => {
    const dispatch = testDispatch()
    dispatch.at(0, jobsReady('a'), TICK, claimed(aLease({ queue: 'a' })))
    expect(comparesAt(dispatch, 30_000)).toEqual([10_000, 20_000, 30_000])
  })

  test('runs until leases of the last claim would be old enough to be found', () => {
    const dispatch = testDispatch()
    dispatch.at(9_000, jobsReady('a'), TICK, claimed())
    // At 10 s a lease of 9 s would be too young to judge; at 20 s it is not.
    expect(comparesAt(dispatch, 50_000)).toEqual([10_000, 20_000])
  })

  test('P16 runs soon and often while another process may have leased a job to this instance', () => {
    const dispatch = testDispatch()
    dispatch.at(0, { type: 'workerOffered', offer: 1 })
    expect(comparesAt(dispatch, 20_000)).toEqual([2_500, 5_000, 7_500, 10_000, 12_500, 15_000])
  })

  test('waits for the claim in flight', () => {
    const { at } = testDispatch()
    at(9_999, jobsReady('a'), TICK)
    expect(at(15_000, TICK)).not.toContainEqual({ type: 'compare' })
    expect(at(15_001, claimed(), TICK)).toContainEqual({ type: 'compare' })
  })
})

describe('room', () => {
  test('is bounded by the capacity over all queues', () => {
    const { at } = testDispatch({ workers: { a: 5, b: 5 }, capacity: 6 })
    expect(at(1, jobsReady('a', 'b'), TICK)).toContainEqual({
      type: 'claim',
      request: {
        queues: [
          { queue: 'a', room: 5 },
          { queue: 'b', room: 5 },
        ],
        limit: 6,
        quarantined: 'skip',
      },
    })
    at(2, claimed(...leasesIn('a', 5), ...leasesIn('b', 1)))
    expect(claimsIn(at(3, TICK))).toEqual([])
    expect(claimsIn(at(4, workerFreed('a'), TICK))).toEqual([{ a: 1, b: 1 }])
  })

  test('includes jobs that should start within 100 ms by the run-time estimate', () => {
    const { at } = testDispatch()
    at(1, jobFinished('a', 10))
    expect(claimsIn(at(1, jobsReady('a'), TICK))).toEqual([{ a: 2 + 20 }])
  })

  test('follows one slow job at once, and fast ones slowly', () => {
    const { at } = testDispatch()
    at(1, jobFinished('a', 10), jobFinished('a', 90))
    expect(claimsIn(at(1, jobsReady('a'), TICK, claimed()))).toEqual([{ a: 2 + 4 }])
    at(2, jobFinished('a', 10))
    expect(claimsIn(at(2, jobsReady('a'), TICK))).toEqual([{ a: 2 + 4 }])
  })

  test('includes at most 1,000 prefetched leases and 8 MiB of payloads', () => {
    const fast = testDispatch()
    fast.at(1, jobFinished('a', 0))
    expect(claimsIn(fast.at(1, jobsReady('a'), TICK))).toEqual([{ a: 2 + 1_000 }])
    const large = testDispatch()
    const lease = aLease({ queue: 'a', payload: 'x'.repeat(1024 * 1024) })
    large.at(1, jobFinished('a', 1), jobsReady('a'), TICK, claimed(lease), workerFreed())
    expect(claimsIn(large.at(2, jobsReady('a'), TICK))).toEqual([{ a: 2 + 8 }])
  })

  test.each<[string, Parameters<typeof testDispatch>[0]]>([
    ['the queue has a limit', { limits: { a: { type: 'concurrency', max: 9 } as never } }],
    ['queues compete for workers', { workers: { a: 2, b: 9 }, capacity: 4 }],
  ])('includes no lease that waits when %s', (_, given) => {
    const { at } = testDispatch(given)
    at(1, jobFinished('a', 10))
    expect(claimsIn(at(1, jobsReady('a'), TICK))).toEqual([{ a: 2 }])
  })

  test('is not worth a claim while half of the prefetch is buffered', () => {
    const { state, at } = testDispatch()
    at(1, jobFinished('a', 10), jobsReady('a'), TICK, claimed(...leasesIn('a', 22)), jobsReady('a'))
    for (let freed = 0; freed < 9; freed += 1) at(2, workerFreed())
    expect([state.buffer.total, claimsIn(at(3, TICK))]).toEqual([11, []])
    expect(claimsIn(at(4, workerFreed(), TICK))).toEqual([{ a: 10 }])
  })
})

/** Two of the leases run, the others wait. */
function buffered(count: number): TestDispatch & { readonly waiting: readonly Lease[] } {
  const dispatch = testDispatch()
  const leases = leasesIn('a', count + 2)
  dispatch.at(1, jobFinished('a', 10), jobsReady('a'), TICK, claimed(...leases))
  return { ...dispatch, waiting: leases.slice(2) }
}

describe('a lease that waits for a worker', () => {
  test('starts when a worker is free, in order, and counts the time as waited', () => {
    const { at, waiting } = buffered(2)
    expect(at(101, workerFreed())).toEqual([{ type: 'run', lease: waiting[0], waitedMs: 100, now: 101 }])
  })

  test('lets a better priority go first, even if it came later', () => {
    const { at } = buffered(1)
    const urgent = aLease({ queue: 'a', priority: -5 })
    at(2, jobsReady('a'), TICK, claimed(urgent))
    expect(started(at(3, workerFreed()))).toEqual([urgent])
  })

  test('is released after 250 ms, and nothing is prefetched until a job has ended again', () => {
    const { at, waiting } = buffered(2)
    expect(sleepIn(at(2, TICK))).toBe(251)
    expect(releasedIn(at(251, TICK))).toEqual(waiting)
    expect(claimsIn(at(252, workerFreed(), jobsReady('a'), TICK))).toEqual([{ a: 1 }])
  })

  test('is released instead of started when the process stalled', () => {
    const { at, waiting } = buffered(1)
    const effects = at(5_000, workerFreed())
    expect([started(effects), releasedIn(effects)]).toEqual([[], waiting])
  })

  test('is released when its queue has fewer workers now, and only then', () => {
    const { at, waiting } = buffered(1)
    expect(releasedIn(at(2, settingsChanged({ workers: { a: 2 } })))).toEqual([])
    expect(releasedIn(at(3, settingsChanged({ workers: { a: 1 } })))).toEqual(waiting)
  })

  test('starts when its queue has more workers', () => {
    const { at, waiting } = buffered(1)
    expect(started(at(2, settingsChanged({ workers: { a: 3 } })))).toEqual(waiting)
  })

  test('is released alone when it is cancelled', () => {
    const { at, waiting } = buffered(2)
    const [first] = waiting
    expect(releasedIn(at(2, { type: 'cancelled', ids: [first?.id ?? ''] }))).toEqual([first])
  })

  test('is dropped without a release when the instance lost its leases', () => {
    const { state, at } = buffered(2)
    expect(at(2, { type: 'leaseLost' })).toEqual([])
    expect(state.buffer.total).toBe(0)
  })

  test('is released at a stop', () => {
    const { at, waiting } = buffered(2)
    expect(releasedIn(at(2, { type: 'stopped' }))).toEqual(waiting)
  })
})

const quarantined = (ready = false): DispatchEvent => ({ type: 'heartbeat', ready, quarantined: true })

describe('a quarantined job', () => {
  const suspect = aLease({ queue: 'a', crashes: 2 })

  test('is claimed alone when nothing runs, and nothing else is claimed until it has ended', () => {
    const { at } = testDispatch({ workers: { a: 2, b: 1 } })
    expect(at(1, quarantined(true), TICK)).toContainEqual({
      type: 'claim',
      request: {
        queues: [
          { queue: 'a', room: 1 },
          { queue: 'b', room: 1 },
        ],
        limit: 1,
        quarantined: 'only',
      },
    })
    expect(started(at(2, claimed(suspect)))).toEqual([suspect])
    expect(claimsIn(at(3, jobsReady('a'), TICK))).toEqual([])
    expect(claimsIn(at(4, workerFreed(), TICK))).toEqual([{ a: 2, b: 1 }])
  })

  test('makes a busy instance quiet for a while, then busy as long, then quiet twice as long', () => {
    const { at } = testDispatch()
    at(0, jobsReady('a'), TICK, claimed(aLease({ queue: 'a' })))
    const claims = (now: number): boolean => claimsIn(at(now, quarantined(true), TICK)).length > 0
    const phases = [0, 999, 1_000, 2_000, 3_999, 4_000, 5_999].map((now) => {
      const isClaiming = claims(now)
      if (isClaiming) at(now, claimed())
      return isClaiming
    })
    expect(phases).toEqual([false, false, true, false, false, true, true])
  })

  test('is claimed as soon as the running jobs have ended', () => {
    const { at } = testDispatch()
    at(0, jobsReady('a'), TICK, claimed(aLease({ queue: 'a' })))
    expect(sleepIn(at(1, quarantined(), TICK))).toBe(1_001)
    expect(at(500, workerFreed(), TICK).find(({ type }) => type === 'claim')).toMatchObject({
      request: { quarantined: 'only' },
    })
  })

  test('that no longer exists lets other jobs run', () => {
    const { at } = testDispatch()
    at(1, quarantined(true), TICK)
    expect(claimsIn(at(2, claimed(), TICK))).toEqual([{ a: 2 }])
  })

  test('leaves no timer in the past while no worker may claim it', () => {
    const { at } = testDispatch()
    at(0, jobsReady('a'), TICK, claimed(aLease({ queue: 'a' })))
    at(1, quarantined(), TICK)
    at(2, workerFreed(), settingsChanged({ workers: { a: 0 } }))
    expect(sleepIn(at(5_000, TICK))).toBeGreaterThan(5_000)
  })
})
