// Failed claims, and claims with lost answers: retried after a pause, and compared with the database.
import { describe, expect, test } from 'vitest'
import { JobmillError } from '../../src/job/errors.ts'
import type { Lease } from '../../src/store/claim.ts'
import { startedBench as started } from './dispatcher-bench.ts'
import { aLease, unavailable } from './leases.ts'

describe('a dispatcher whose claims fail', () => {
  test('retries with a growing, random backoff, which starts over after a success', async () => {
    const { platform, dispatcher, claimedAt, troubles, state } = started()
    state.answer = () => Promise.reject(unavailable())
    dispatcher.wake()
    await platform.advance('20s')
    const pauses = claimedAt.slice(1).map((at, n) => at - (claimedAt[n] ?? 0))
    for (const [n, pause] of pauses.entries()) {
      const full = Math.min(5_000, 100 * 2 ** n)
      expect(pause).toBeGreaterThanOrEqual(full / 2)
      expect(pause).toBeLessThanOrEqual(full + 1)
    }
    expect(pauses.length).toBeGreaterThanOrEqual(7)
    expect(pauses.every((pause, n) => pause === Math.min(5_000, 100 * 2 ** n))).toBe(false)
    state.answer = async () => []
    await platform.advance('5s')
    expect(troubles.slice(-2)).toEqual(['working', 'found nothing'])
    const tries = claimedAt.length
    state.answer = () => Promise.reject(unavailable())
    dispatcher.wake()
    await platform.advance(101)
    expect(claimedAt.length).toBeGreaterThanOrEqual(tries + 2)
  })

  test('can stop during a backoff', async () => {
    const { platform, dispatcher, claims, state } = started()
    state.answer = () => Promise.reject(unavailable())
    dispatcher.wake()
    await platform.advance('20s')
    const before = claims.length
    await dispatcher.stop()
    expect([platform.pendingTimers, claims.length]).toEqual([0, before])
  })

  test('P2 releases claimed jobs if the lease of the instance has expired, without waiting for the release', async () => {
    const { platform, dispatcher, claims, ran, released, state } = started()
    const late = aLease()
    state.answer = async () => {
      state.isOurs = false
      return [late]
    }
    state.release = () => new Promise(() => {})
    dispatcher.wake()
    await platform.settled()
    expect([ran, released[0]]).toEqual([[], late])
    dispatcher.wake()
    await platform.settled()
    expect(claims).toHaveLength(2)
  })

  test('compares soon after a claim with a lost reply, and not after other errors', async () => {
    const { platform, dispatcher, comparedAt, state } = started()
    state.answer = () => {
      state.answer = async () => []
      return Promise.reject(new JobmillError('OUTCOME_UNKNOWN', 'lost'))
    }
    await platform.advance('2s')
    dispatcher.wake()
    await platform.advance('7s')
    expect(comparedAt).toEqual([4_500])
    const other = started()
    other.state.answer = () => {
      other.state.answer = async () => []
      return Promise.reject(unavailable())
    }
    other.dispatcher.wake()
    await other.platform.advance('9s')
    expect(other.comparedAt).toEqual([])
  })

  test('compares again while more leases may be lost, for a while after a lost reply', async () => {
    const { platform, dispatcher, comparedAt, state } = started()
    state.compare = () => Promise.resolve(1_500)
    state.answer = () => {
      state.answer = async () => []
      return Promise.reject(new JobmillError('OUTCOME_UNKNOWN', 'lost'))
    }
    dispatcher.wake()
    await platform.advance('7s')
    expect(comparedAt).toEqual([2_500, 4_000, 5_500, 7_000])
    await platform.advance('25s')
    const before = comparedAt.length
    await platform.advance('5s')
    expect(comparedAt).toHaveLength(before)
  })
})

describe('a dispatcher that compares', () => {
  test('P16 finds a job that was dispatched on its last offer and never arrived', async () => {
    const { platform, dispatcher, comparedAt, state } = started()
    state.isOfferedUntil = 16_000
    dispatcher.offered()
    // Leased when the offer was nearly over; a lease younger than two seconds may still be in flight.
    const leasedAt = 9_900
    state.compare = async () => {
      const age = platform.monotonic() - leasedAt
      return age >= 0 && age < 2_000 ? 2_000 - age : null
    }
    await platform.advance('60s')
    expect(comparedAt.some((at) => at >= leasedAt + 2_000 && at <= leasedAt + 5_000)).toBe(true)
  })

  test('compares once per period while a job runs, and never during a claim', async () => {
    const { platform, dispatcher, comparedAt, ready, state } = started()
    ready.push(aLease({ queue: 'a' }))
    dispatcher.wake()
    await platform.advance('30s')
    expect(comparedAt).toEqual([10_000, 20_000, 30_000])
    const answer = Promise.withResolvers<Lease[]>()
    state.answer = () => answer.promise
    dispatcher.wake()
    await platform.advance('15s')
    expect(comparedAt).toHaveLength(3)
    answer.resolve([])
    await platform.settled()
    expect(comparedAt).toEqual([10_000, 20_000, 30_000, 45_000])
  })

  test('P15 compares once a minute while it runs and claims nothing', async () => {
    const { platform, comparedAt } = started()
    await platform.advance('3m')
    expect(comparedAt).toEqual([60_000, 120_000, 180_000])
  })

  test('compares until leases of its last claim would be old enough to be found', async () => {
    const { platform, dispatcher, comparedAt } = started()
    await platform.advance('9s')
    dispatcher.wake()
    await platform.advance('40s')
    // At 10 s a lease of 9 s would be too young to judge; at 20 s it is not.
    expect(comparedAt).toEqual([10_000, 20_000])
  })
})
