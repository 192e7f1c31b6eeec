// Direct dispatch to the jobs of a write, remote dispatch between processes, and wake-ups.
import { describe, expect, test } from 'vitest'
import type { DispatchEvent } from '../../src/dispatch/events.ts'
import type { NewJob } from '../../src/job/enqueue/new-job.ts'
import { aJob, someJobs } from '../../../conformance/src/factories.ts'
import { aLease } from '../work/leases.ts'
import {
  claimed,
  claimsIn,
  type Given,
  jobFinished,
  jobsReady,
  leasesIn,
  releasedIn,
  sleepIn,
  started,
  testDispatch,
  TICK,
  workerFreed,
} from './support.ts'

const enqueueing = (offer: number, ...jobs: NewJob[]): DispatchEvent => ({ type: 'enqueueing', offer, jobs })
const jobsIn = (queue: string, count: number): NewJob[] =>
  someJobs(Array.from({ length: count }, () => ({ queue, kind: 'work' })))

describe('an offer to the jobs of a write', () => {
  test('is for as many as the write can use and there is room for, by queue', () => {
    const { state, at } = testDispatch({ workers: { a: 2, b: 5 } })
    at(1, enqueueing(1, ...jobsIn('a', 3), ...jobsIn('b', 1), ...jobsIn('c', 1)))
    expect(state.offers.get(1)?.queues).toEqual([
      { queue: 'a', room: 2 },
      { queue: 'b', room: 1 },
    ])
  })

  test('is not larger than the free capacity over all queues', () => {
    const { state, at } = testDispatch({ workers: { a: 5, b: 5 }, capacity: 3 })
    at(1, enqueueing(1, ...jobsIn('a', 2), ...jobsIn('b', 4)))
    expect(state.offers.get(1)?.queues).toEqual([
      { queue: 'a', room: 2 },
      { queue: 'b', room: 1 },
    ])
  })

  test.each<[string, Parameters<typeof aJob>[0]]>([
    ['a dedupe key', { dedupe: { key: 'k' } }],
    ['an order key', { orderKey: 'k' }],
    ['a delay', { delay: '1s' }],
    ['another kind', { kind: 'other' }],
  ])('is not made to a job with %s', (_, overrides) => {
    const { state, at } = testDispatch()
    at(1, enqueueing(1, aJob({ queue: 'a', kind: 'work', ...overrides })))
    expect(state.offers.size).toBe(0)
  })

  test.each<[string, DispatchEvent]>([
    ['the lease of the instance is lost', { type: 'leaseLost' }],
    ['it stops', { type: 'stopped' }],
    ['it is quiet', { type: 'quieted', isQuiet: true }],
    ['a quarantined job waits', { type: 'heartbeat', ready: false, quarantined: true }],
  ])('is not made while %s', (_, event) => {
    const { state, at } = testDispatch()
    at(1, event, enqueueing(1, ...jobsIn('a', 1)))
    expect(state.offers.size).toBe(0)
  })

  test('reserves the room until the jobs start', () => {
    const { at } = testDispatch()
    at(1, enqueueing(1, ...jobsIn('a', 1)))
    expect(claimsIn(at(2, jobsReady('a'), TICK))).toEqual([{ a: 1 }])
    at(3, claimed())
    const lease = aLease({ queue: 'a' })
    expect(started(at(4, { type: 'dispatched', offer: 1, leases: [lease] }))).toEqual([lease])
    expect(claimsIn(at(5, jobsReady('a'), TICK))).toEqual([{ a: 1 }])
  })

  test('that brings more jobs than workers checks in time whether they start', () => {
    const { state, at } = testDispatch({ workers: { a: 1 } })
    at(1, enqueueing(1, ...jobsIn('a', 2)), TICK)
    const leases = [aLease({ queue: 'a' }), aLease({ queue: 'a' })]
    expect(started(at(2, { type: 'dispatched', offer: 1, leases }))).toEqual([leases[0]])
    expect(state.isDue).toBe(true)
    expect(sleepIn(at(3, TICK))).toBe(252)
  })

  test('that was not used frees the room', () => {
    const { state, at } = testDispatch()
    at(1, enqueueing(1, ...jobsIn('a', 2)), jobsReady('a'), TICK)
    state.isDue = false
    at(2, { type: 'dispatched', offer: 1, leases: [] })
    expect(state.isDue).toBe(true)
    expect(claimsIn(at(2, TICK))).toEqual([{ a: 2 }])
  })

  test('whose reply was lost is compared', () => {
    const { at } = testDispatch()
    at(1, enqueueing(1, ...jobsIn('a', 1)))
    expect(sleepIn(at(2, { type: 'enqueueFailed', offer: 1, isUnknown: false }, TICK))).toBe(10_000)
    at(3, enqueueing(2, ...jobsIn('a', 1)))
    expect(sleepIn(at(4, { type: 'enqueueFailed', offer: 2, isUnknown: true }, TICK))).toBe(2_504)
  })

  test.each<[string, number, readonly DispatchEvent[]]>([
    ['so late that a comparison may have released it', 1_501, []],
    ['after the lease of the instance was lost', 2, [{ type: 'leaseLost' }]],
    ['in a later term', 2, [{ type: 'leaseLost' }, { type: 'leaseRenewed', until: 9_000 }]],
    ['after a stop', 2, [{ type: 'stopped' }]],
  ])('P2 is not run when the reply arrives %s', (_, now, events) => {
    const { at } = testDispatch()
    at(1, enqueueing(1, ...jobsIn('a', 1)))
    const lease = aLease({ queue: 'a' })
    const effects = at(now, ...events, { type: 'dispatched', offer: 1, leases: [lease] })
    expect([started(effects), releasedIn(effects)]).toEqual([[], [lease]])
  })
})

describe('an offer to other processes', () => {
  const lease = aLease({ queue: 'a' })
  const jobDispatched: DispatchEvent = { type: 'jobDispatched', offer: 1, lease }

  test('is made by an idle instance after a job has ended, and the next job starts when it arrives', () => {
    const { at } = testDispatch()
    expect(at(1, jobFinished())).toEqual([{ type: 'offerWorker', queue: 'a', kind: 'work', offer: 1 }])
    expect(started(at(2, { type: 'workerOffered', offer: 1 }, jobDispatched))).toEqual([lease])
  })

  test.each<[string, Given, readonly DispatchEvent[]]>([
    ['another job runs', {}, [jobsReady('a'), TICK, claimed(...leasesIn('a', 1))]],
    ['the queue has a limit', { limits: { a: { type: 'concurrency', max: 1 } as never } }, []],
    ['it stops', {}, [{ type: 'stopped' }]],
    ['it is quiet', {}, [{ type: 'quieted', isQuiet: true }]],
  ])('is not made when %s', (_, given, events) => {
    const { at } = testDispatch(given)
    at(1, ...events)
    expect(at(2, jobFinished())).toEqual([])
  })

  test.each<[string, readonly DispatchEvent[]]>([
    ['the lease of the instance was lost', [{ type: 'leaseLost' }, { type: 'leaseRenewed', until: 9_000 }]],
    ['its workers are busy', [jobsReady('a'), TICK, claimed(...leasesIn('a', 2))]],
    ['it stops', [{ type: 'stopped' }]],
    ['it is quiet', [{ type: 'quieted', isQuiet: true }]],
    ['unknown leases were released: it may be one of them', [{ type: 'unknownLeasesFound' }]],
    ['a quarantined job waits', [{ type: 'heartbeat', ready: false, quarantined: true }]],
    [
      'a hundred later offers were made',
      Array.from({ length: 100 }, (_, at) => ({ type: 'workerOffered', offer: at + 2 }) as const),
    ],
  ])('P2 a job that arrives is released when %s', (_, events) => {
    const { at } = testDispatch()
    at(1, { type: 'workerOffered', offer: 1 }, ...events)
    const effects = at(2, jobDispatched)
    expect([started(effects), releasedIn(effects)]).toEqual([[], [lease]])
  })

  test('P2 a job that arrives without an offer, or twice, is released', () => {
    const { at } = testDispatch()
    expect(releasedIn(at(1, jobDispatched))).toEqual([lease])
    at(2, { type: 'workerOffered', offer: 1 }, jobDispatched)
    expect(releasedIn(at(3, jobDispatched))).toEqual([lease])
  })
})

const me = (workers = 2, kinds = ['work']) => ({ instance: 'me', workers, kinds })
const other = (name: string, kinds = ['work']) => ({ instance: name, workers: 2, kinds })
const notified = (jobs: number | null, overrides: object = {}): DispatchEvent => ({
  type: 'notified',
  wakeUps: [{ queue: 'a', jobs, seed: 1, skip: 0, passes: true, ...overrides }],
})

describe('a wake-up', () => {
  const ALL = Array.from({ length: 30 }, (_, at) => other(`i${at}`))

  /** The members that claim for this wake-up. */
  function claimers(jobs: number | null, seed = 1): string[] {
    return ALL.filter(({ instance }) => {
      const { at } = testDispatch({ members: ALL, instance })
      return claimsIn(at(1, notified(jobs, { seed }), TICK)).length > 0
    }).map(({ instance }) => instance)
  }

  test('for one job wakes one instance of thirty, and not always the same', () => {
    const woken = [1, 2, 3, 4, 5, 6].map((seed) => claimers(1, seed))
    expect(woken.map(({ length }) => length)).toEqual([1, 1, 1, 1, 1, 1])
    expect(new Set(woken.flat()).size).toBeGreaterThan(1)
  })

  test('for 7 jobs wakes four instances of two workers', () => {
    expect(claimers(7)).toHaveLength(4)
  })

  test('without a number of jobs wakes all', () => {
    expect(claimers(null)).toHaveLength(30)
  })

  test('wakes an instance that is not in its own member list', () => {
    const { at } = testDispatch({ members: [other('x')] })
    expect(claimsIn(at(1, notified(1), TICK))).toEqual([{ a: 2 }])
  })

  test('is forwarded for the jobs that find no free worker', () => {
    const { at } = testDispatch({ members: [me(), other('x')] })
    at(1, jobsReady('a'), TICK, claimed(...leasesIn('a', 1)))
    const seed = seedThatStartsWithMe()
    const effects = at(2, notified(2, { seed }))
    expect(effects).toEqual([
      { type: 'forward', wakeUp: { queue: 'a', jobs: 1, seed, skip: 1, passes: true } },
    ])
    expect(claimsIn(at(2, TICK))).toEqual([{ a: 1 }])
  })

  test('ends at the last instance', () => {
    const { at } = testDispatch({ members: [me()] })
    at(1, jobsReady('a'), TICK, claimed(...leasesIn('a', 2)))
    expect(at(2, notified(1))).toEqual([])
  })

  test.each([
    [['work', 'mail'], 1],
    [['work'], 0],
  ] as const)('that found nothing is forwarded if others have kinds of their own: %j', (kinds, forwards) => {
    const { at } = testDispatch({ members: [me(), other('x', [...kinds])] })
    const seed = seedThatStartsWithMe()
    at(1, notified(1, { seed }), TICK)
    const effects = at(2, claimed())
    expect(effects.filter(({ type }) => type === 'forward')).toHaveLength(forwards)
    // The job may wait for its order lock or its due time, and the heartbeat knows.
    expect(effects).toContainEqual({ type: 'hurryHeartbeat' })
    expect(at(3, jobsReady('a'), TICK, claimed())).not.toContainEqual({ type: 'hurryHeartbeat' })
  })

  test('that is not forwarded lets the other instances look 25 ms later', () => {
    const { at } = testDispatch({ members: [me(), other('x')] })
    const seed = seedThatStartsWithMe(false)
    const effects = at(1, notified(1, { seed, passes: false }), TICK)
    expect([claimsIn(effects), sleepIn(effects)]).toEqual([[], 26])
    expect(claimsIn(at(26, TICK))).toEqual([{ a: 2 }])
  })

  test('a queue with a rate limit is woken when the limit has refilled', () => {
    const limit = { type: 'rate', amount: 10, perMs: 1_000, burst: 1 } as never
    const { at } = testDispatch({ limits: { a: limit } })
    at(1, jobsReady('a'), TICK)
    const effects = at(2, claimed(...leasesIn('a', 1)), workerFreed(), TICK)
    expect([claimsIn(effects), sleepIn(effects)]).toEqual([[], 102])
    expect(claimsIn(at(102, TICK))).toEqual([{ a: 2 }])
  })
})

/** A seed whose order starts with this instance, or with the other one. */
function seedThatStartsWithMe(isFirst = true): number {
  for (let seed = 1; ; seed += 1) {
    const { at } = testDispatch({ members: [me(), other('x')] })
    if (claimsIn(at(1, notified(1, { seed, passes: true }), TICK)).length > 0 === isFirst) return seed
  }
}
