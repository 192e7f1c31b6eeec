// The driver of the reducer: statements, pauses, its one timer, and the stop.
import { describe, expect, test } from 'vitest'
import { JobmillError } from '../../src/job/errors.ts'
import type { Lease } from '../../src/store/types/claim.ts'
import { aJob } from '../../../conformance/src/factories.ts'
import { aLease, unavailable } from '../work/leases.ts'
import { dispatcherBench } from './dispatcher-bench.ts'
import { leasesIn } from './support.ts'

const lost = (): Promise<never> => Promise.reject(new JobmillError('OUTCOME_UNKNOWN', 'lost'))

describe('a dispatcher', () => {
  test('decides once for all events of a turn', async () => {
    const { platform, dispatcher, claims } = dispatcherBench({ a: 2, b: 3 })
    await platform.settled()
    claims.length = 0
    dispatcher.post({ type: 'jobsReady', queues: ['a'] })
    dispatcher.post({ type: 'jobsReady', queues: ['b'] })
    await platform.settled()
    expect(claims.map(({ queues }) => queues.length)).toEqual([2])
  })

  test('pauses after failed claims, longer each time and with jitter, and starts short again after a success', async () => {
    const { platform, claimedAt, answers, wake } = dispatcherBench()
    answers.claim = () => Promise.reject(unavailable())
    wake()
    await platform.advance('20s')
    const pauses = claimedAt.slice(1).map((at, n) => at - (claimedAt[n] ?? 0))
    for (const [n, pause] of pauses.entries()) {
      const full = Math.min(5_000, 100 * 2 ** n)
      expect(pause).toBeGreaterThanOrEqual(full / 2)
      expect(pause).toBeLessThanOrEqual(full + 1)
    }
    expect(pauses.length).toBeGreaterThanOrEqual(7)
    expect(pauses.every((pause, n) => pause === Math.min(5_000, 100 * 2 ** n))).toBe(false)
    answers.claim = async () => []
    await platform.advance('5s')
    const tries = claimedAt.length
    answers.claim = () => Promise.reject(unavailable())
    wake()
    await platform.advance(101)
    expect(claimedAt.length).toBeGreaterThanOrEqual(tries + 2)
  })

  test('P16 compares after a claim whose reply was lost, and not because of other errors', async () => {
    const [unknown, away] = [dispatcherBench(), dispatcherBench()]
    for (const [{ answers }, error] of [
      [unknown, lost],
      [away, () => Promise.reject(unavailable())],
    ] as const)
      answers.claim = () => {
        answers.claim = async () => []
        return error()
      }
    await unknown.platform.advance('9s')
    await away.platform.advance('9s')
    expect([unknown.comparedAt, away.comparedAt]).toEqual([[2_500], []])
  })

  test('P16 releases leases that it does not know, and keeps those of running jobs', async () => {
    const { platform, answers, ran, finished } = dispatcherBench()
    const [known, unknown] = [aLease({ queue: 'a' }), aLease({ queue: 'a' })]
    answers.claim = async () => (ran.length === 0 ? [known] : [])
    answers.held = async () => [known, unknown].map(({ id, token }) => ({ id, token, ageMs: 60_000 }))
    await platform.advance('10s')
    expect([ran, finished]).toEqual([[known], [unknown.id]])
  })

  test('starts directly dispatched jobs in a later turn than the replies of the write', async () => {
    const { platform, dispatcher, ran } = dispatcherBench()
    await platform.settled()
    const offer = await dispatcher.offer([aJob({ queue: 'a', kind: 'work' })])
    const lease = aLease({ queue: 'a' })
    offer?.accepted([{ id: lease.id, outcome: 'enqueued', lease }])
    expect(ran).toEqual([])
    await platform.settled()
    expect(ran).toEqual([lease])
  })

  test('lets a write wait for the claim that will empty its queue, for at most 20 ms', async () => {
    const { platform, dispatcher, answers, wake } = dispatcherBench()
    await platform.settled()
    const answer = Promise.withResolvers<Lease[]>()
    answers.claim = () => answer.promise
    wake()
    await platform.settled()
    const offers: string[] = []
    const jobs = [aJob({ queue: 'a', kind: 'work' })]
    void Promise.resolve(dispatcher.offer(jobs)).then(() => offers.push('after 20 ms'))
    await platform.advance(19)
    expect(offers).toEqual([])
    await platform.advance(1)
    expect(offers).toEqual(['after 20 ms'])
    void Promise.resolve(dispatcher.offer(jobs)).then(() => offers.push('with the claim'))
    answer.resolve([])
    await platform.settled()
    expect(offers).toEqual(['after 20 ms', 'with the claim'])
  })
})

describe('a dispatcher that stops', () => {
  test('sends no claim after the call, and leaves no timer', async () => {
    const { platform, dispatcher, claims, wake } = dispatcherBench()
    await platform.settled()
    claims.length = 0
    wake()
    await dispatcher.stop()
    wake()
    await platform.advance('30s')
    expect([claims, platform.pendingTimers]).toEqual([[], 0])
  })

  test('waits for the claim in flight, and releases its leases', async () => {
    const { platform, dispatcher, answers, ran, released, wake } = dispatcherBench()
    await platform.settled()
    const answer = Promise.withResolvers<Lease[]>()
    answers.claim = () => answer.promise
    wake()
    await platform.settled()
    let isStopped = false
    const stopping = dispatcher.stop().then(() => (isStopped = true))
    await platform.settled()
    expect(isStopped).toBe(false)
    const leases = leasesIn('a', 2)
    answer.resolve(leases)
    await stopping
    expect([ran, released]).toEqual([[], leases])
  })

  test('ends a pause', async () => {
    const { platform, dispatcher, claims, answers, wake } = dispatcherBench()
    answers.claim = () => Promise.reject(unavailable())
    wake()
    await platform.advance('20s')
    const before = claims.length
    await dispatcher.stop()
    await platform.advance('20s')
    expect([platform.pendingTimers, claims.length]).toEqual([0, before])
  })

  test('may be stopped twice', async () => {
    const { platform, dispatcher } = dispatcherBench()
    await Promise.all([dispatcher.stop(), dispatcher.stop()])
    await dispatcher.stop()
    expect(platform.pendingTimers).toBe(0)
  })
})
