/** Limits outside of handlers: the same budget, with the caller waiting. On the oracle. */
import { describe, expect, test } from 'vitest'
import { JobmillError } from '../../src/job/errors.ts'
import { limitParts } from '../../src/job/limit/limit.ts'
import { limits } from '../../src/limits/limits.ts'
import { anInstance } from '../../../conformance/src/index.ts'
import { aLease, failure, insideOf, scene, type Scene } from './scene.ts'

const API = { api: { rate: 2 } } as const
const ONE = { db: { concurrency: 1 } } as const

/** With a live instance, like that of a started mill. */
async function started(declared: Parameters<typeof scene>[0]): Promise<Scene> {
  const it = await scene(declared)
  await it.first.store.instances.register(anInstance({ id: it.first.instance, leaseMs: 3_600_000 }))
  return it
}

/** Resolves with the time at which it did. */
const instant = ({ platform }: Scene, work: Promise<unknown>): Promise<number> =>
  work.then(() => platform.monotonic())

describe('a rate', () => {
  test('waits as long as it takes, for every caller, even without a started mill', async () => {
    const it = await scene({ smtp: { rate: 50, per: '1m' } })
    const limit = it.first.limits.outside('smtp')
    const instants = Array.from({ length: 5 }, () => instant(it, limit.acquire()))
    await it.platform.advance('10s')
    const at = await Promise.all(instants)
    expect(at[0]).toBe(0)
    for (const [n, later] of at.slice(1).entries()) expect(later - (at[n] ?? 0)).toBeGreaterThanOrEqual(1_200)
    expect(it.platform.pendingTimers).toBe(0)
  })

  test('shares its budget with handlers', async () => {
    const it = await scene(API)
    await insideOf(it.first, aLease(it.platform)).acquire('api', 2)
    expect(await it.first.limits.outside('api').tryAcquire()).toBeNull()
    await it.platform.advance(500)
    expect(await it.first.limits.outside('api').tryAcquire()).toMatchObject({ limit: 'api', amount: 1 })
    expect(await insideOf(it.first, aLease(it.platform)).tryAcquire('api')).toBeNull()
  })

  test('stops waiting at the signal, the timeout, or the stop of the mill', async () => {
    const it = await scene(API)
    const limit = it.first.limits.outside('api')
    await limit.acquire({ amount: 2 })
    await limit.drain({ retryAfter: '1h' })
    const stop = new AbortController()
    const reason = new Error('no longer wanted')
    const signalled = failure(limit.acquire({ signal: stop.signal }))
    const timed = failure(limit.acquire({ timeout: '2s' }))
    const ended = failure(limit.acquire())
    await it.platform.advance(1_999)
    stop.abort(reason)
    expect(await signalled).toBe(reason)
    expect(await failure(limit.acquire({ signal: stop.signal }))).toBe(reason)
    await it.platform.advance(1)
    expect(await timed).toMatchObject({ name: 'TimeoutError' })
    const stopped = new JobmillError('MILL_STOPPED', 'this mill was stopped')
    it.first.limits.stop(stopped)
    expect(await ended).toBe(stopped)
    expect(await failure(limit.acquire())).toBe(stopped)
    expect(await failure(limit.tryAcquire())).toBe(stopped)
    expect(it.platform.pendingTimers).toBe(0)
  })

  test('fails within seconds when the limit is deleted, by another process too', async () => {
    const it = await scene({ day: { rate: 1, per: '1d' }, db: { concurrency: 1 } })
    const limit = it.first.limits.outside('day')
    await limit.acquire()
    const waiting = [failure(limit.acquire()), failure(limit.acquire({ timeout: '1h' }))]
    await it.platform.advance('2s')
    const other = await it.another()
    await other.store.limits.delete('day')
    const reads = it.first.store.calls('limits.list')
    await it.platform.advance('2s')
    for (const error of await Promise.all(waiting))
      expect(error).toMatchObject({ code: 'LIMIT_UNKNOWN', field: 'limit', value: '"day"' })
    expect(it.first.store.calls('limits.list') - reads).toBeLessThanOrEqual(3)
    expect(it.platform.pendingTimers).toBe(0)
  })

  test('waits on with new settings when the limit is changed', async () => {
    const it = await scene({ day: { rate: 1, per: '1d' } })
    const limit = it.first.limits.outside('day')
    await limit.acquire()
    const waiting = instant(it, limit.acquire())
    await it.platform.advance('2s')
    await it.first.store.limits.change('day', limitParts({ rate: 10, per: '1s', burst: 10 }, 'day'), 'ada')
    await it.platform.advance('3s')
    expect(await waiting).toBeLessThan(5_000)
  })

  test('refuses invalid and impossible requests', async () => {
    const it = await scene(API)
    const { outside } = it.first.limits
    expect(await failure(outside('api').acquire({ amount: 3 }))).toMatchObject({ code: 'OPTION_INVALID' })
    expect(await failure(outside('apy').acquire())).toMatchObject({ code: 'LIMIT_UNKNOWN' })
    expect(await failure(outside('api').acquire({ amounts: 1 } as object))).toMatchObject({
      code: 'OPTION_UNKNOWN',
    })
    expect(await failure(outside('api').acquire({ timeout: 'soon' }))).toMatchObject({
      code: 'DURATION_INVALID',
      field: 'options.timeout',
    })
    expect(() => outside('no name')).toThrow('limit: is not a valid name')
  })
})

describe('a concurrency limit', () => {
  test('serves waiting callers one after the other, in order, and only the first asks the store', async () => {
    const it = await started(ONE)
    const limit = it.first.limits.outside('db')
    const order: number[] = []
    const first = await limit.acquire()
    const work = async (n: number): Promise<void> => {
      await using permit = await limit.acquire()
      order.push(n * permit.amount)
    }
    const working = [work(1)]
    await it.platform.settled()
    working.push(work(2), work(3))
    await it.platform.settled()
    const asked = it.first.store.calls('limits.acquire')
    await it.platform.advance(1_000)
    expect(it.first.store.calls('limits.acquire')).toBe(asked + 5)
    await it.platform.advance(2_000)
    expect(it.first.store.calls('limits.acquire')).toBe(asked + 5 + 2)
    await first.release()
    await Promise.all(working)
    expect(order).toEqual([1, 2, 3])
    expect(await it.first.store.limits.list()).toMatchObject([{ held: 0 }])
  })

  test('any caller stops waiting when its signal fires', async () => {
    const it = await started(ONE)
    const limit = it.first.limits.outside('db')
    const first = await limit.acquire()
    const stops = [new AbortController(), new AbortController()]
    const waiting = stops.map(({ signal }) => failure(limit.acquire({ signal })))
    const last = limit.acquire()
    await it.platform.settled()
    for (const stop of stops.toReversed()) stop.abort(new Error('over'))
    expect(await Promise.all(waiting)).toMatchObject([{ message: 'over' }, { message: 'over' }])
    await first.release()
    expect(await last).toMatchObject({ limit: 'db' })
  })

  test('releases a permit that is granted after its caller stopped waiting', async () => {
    const it = await started(ONE)
    const limit = it.first.limits.outside('db')
    const answer = it.first.store.holdReply('limits.acquire')
    const stop = new AbortController()
    const waiting = failure(limit.acquire({ signal: stop.signal }))
    await answer.reached
    stop.abort(new Error('over'))
    expect(await waiting).toMatchObject({ message: 'over' })
    expect(await it.first.store.limits.list()).toMatchObject([{ held: 1 }])
    answer.release()
    await it.platform.settled()
    expect(await it.first.store.limits.list()).toMatchObject([{ held: 0 }])
  })

  test('P13: a lost reply neither blocks the retry nor leaks a permit', async () => {
    const it = await started(ONE)
    it.first.store.loseReply('limits.acquire')
    const waiting = it.first.limits.outside('db').acquire()
    await it.platform.advance(100)
    await (await waiting).release()
    expect(await it.first.store.limits.list()).toMatchObject([{ held: 0 }])
  })

  test('needs a started mill, and the error says so', async () => {
    const it = await scene(ONE)
    const limit = it.first.limits.outside('db')
    for (const failed of [limit.acquire(), limit.tryAcquire()].map(failure))
      expect(await failed).toMatchObject({ message: 'a permit of limit "db" needs a started mill' })
  })

  test('waits for a start in progress', async () => {
    const { first, platform } = await scene(ONE)
    const { instance, store } = first
    const own = limits({
      opened: async () => store,
      platform,
      instance,
      started: () => store.instances.register(anInstance({ id: instance })),
      emit: () => {},
    })
    expect(await own.outside('db').tryAcquire()).toMatchObject({ limit: 'db' })
  })
})
