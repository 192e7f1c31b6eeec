// A quiet instance, at the reducer: no statement that could bring a job, and none that is accepted.
import { describe, expect, test } from 'vitest'
import type { DispatchEvent } from '../../src/dispatch/events.ts'
import { aJob } from '../../../conformance/src/factories.ts'
import {
  claimed,
  claimsIn,
  jobsReady,
  leasesIn,
  releasedIn,
  started,
  testDispatch,
  TICK,
  workerFreed,
} from './support.ts'

const quieted = (isQuiet: boolean): DispatchEvent => ({ type: 'quieted', isQuiet })

describe('a quiet instance', () => {
  test('P2 claims nothing, whatever it hears of, and claims again once it is resumed', () => {
    const { at } = testDispatch()
    at(1, jobsReady('a'), TICK, claimed(...leasesIn('a', 2)), quieted(true))
    const heard: DispatchEvent[] = [
      jobsReady('a'),
      workerFreed(),
      { type: 'heartbeat', ready: true, quarantined: false },
      { type: 'heartbeat', ready: true, quarantined: true },
      { type: 'notified', wakeUps: [{ queue: 'a', jobs: 1, seed: 0, skip: 0, passes: false }] },
      { type: 'leaseRenewed', until: 7_200_000 },
    ]
    for (const event of heard) expect(claimsIn(at(2, event, TICK))).toEqual([])
    const calm: DispatchEvent = { type: 'heartbeat', ready: false, quarantined: false }
    expect(claimsIn(at(3, calm, quieted(false), TICK))).toEqual([{ a: 1 }])
  })

  test('P6 releases its prefetched jobs at once, and keeps the running ones', () => {
    const { state, at } = testDispatch({ workers: { a: 1 } })
    const leases = leasesIn('a', 3)
    expect(started(at(1, jobsReady('a'), TICK, claimed(...leases)))).toEqual(leases.slice(0, 1))
    expect(releasedIn(at(2, quieted(true)))).toEqual(leases.slice(1))
    expect([state.running.total, state.buffer.total]).toEqual([1, 0])
  })

  test('P2 releases what a claim brings that was in flight', () => {
    const { at } = testDispatch()
    at(1, jobsReady('a'), TICK, quieted(true))
    const leases = leasesIn('a', 2)
    const effects = at(2, claimed(...leases))
    expect([started(effects), releasedIn(effects)]).toEqual([[], leases])
  })

  test('P2 releases what a write in flight brings by direct dispatch', () => {
    const { at } = testDispatch()
    at(1, { type: 'enqueueing', offer: 1, jobs: [aJob({ queue: 'a', kind: 'work' })] }, quieted(true))
    const leases = leasesIn('a', 1)
    const effects = at(2, { type: 'dispatched', offer: 1, leases })
    expect([started(effects), releasedIn(effects)]).toEqual([[], leases])
  })
})
