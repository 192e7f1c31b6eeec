/** Permits inside a handler: which job waits, which one is woken, and what is released. On the oracle. */
import { describe, expect, test } from 'vitest'
import { Snooze } from '../../src/job/attempt/thrown.ts'
import { holding } from '../../src/limits/holding.ts'
import { aLease, failure, held, insideOf, isPending, running, scene } from './scene.ts'

const ONE = { db: { concurrency: 1 } } as const
const TWO = { db: { concurrency: 2 } } as const

describe('a concurrency limit', () => {
  test('one job waits in place, and a release in this process wakes it at once; others are snoozed', async () => {
    const it = await scene(ONE)
    const [a, b, c] = await running(it.first, 3)
    if (a === undefined || b === undefined || c === undefined) throw new Error('three were claimed')
    const permit = await insideOf(it.first, a).acquire('db')
    const waiting = insideOf(it.first, b).acquire('db')
    await it.platform.settled()
    expect(await failure(insideOf(it.first, c).acquire('db'))).toBeInstanceOf(Snooze)
    await permit.release()
    await it.platform.settled()
    // The clock did not move.
    expect(await waiting).toMatchObject({ limit: 'db' })
    expect(await held(it)).toBe(1)
  })

  test('a job with a permit that ends here wakes it, even if the permit came from the limit of its queue', async () => {
    for (const queueLimit of [null, 'db']) {
      const it = await scene(ONE)
      const [a, b] = await running(it.first, 2)
      if (a === undefined || b === undefined) throw new Error('two were claimed')
      const { id: holder, token } = a
      const claimed = { limit: 'db', amount: 1, holder, token, instance: it.first.instance, waitUpToMs: 0 }
      if (queueLimit === null) await insideOf(it.first, a).acquire('db')
      else await it.first.store.limits.acquire([claimed])
      const waiting = insideOf(it.first, b).acquire('db')
      await it.platform.settled()
      await it.first.store.finish([
        { id: a.id, token: a.token, outcome: 'returned', transition: { to: 'done', result: null } },
      ])
      it.first.limits.ended(a, queueLimit)
      await it.platform.settled()
      expect(await waiting).toMatchObject({ limit: 'db' })
    }
  })

  test('a waiting job asks every 200 ms, and is snoozed after a second', async () => {
    const it = await scene(ONE, { processes: 2 })
    const [a, b, c] = await running(it.first, 3)
    if (a === undefined || b === undefined || c === undefined) throw new Error('three were claimed')
    await insideOf(it.first, a).acquire('db')
    const sentAway = failure(insideOf(it.first, b).acquire('db'))
    await it.platform.settled()
    const asked = it.first.store.calls('limits.acquire')
    await it.platform.advance(999)
    expect(it.first.store.calls('limits.acquire')).toBe(asked + 4)
    await it.platform.advance(1)
    expect(it.first.store.calls('limits.acquire')).toBe(asked + 5)
    expect(await sentAway).toBeInstanceOf(Snooze)
    const other = insideOf(it.first, c).acquire('db')
    await it.platform.advance(100)
    // Released by another process: nothing wakes the waiter here.
    await it.processes[1]?.store.limits.release([{ limit: 'db', holder: a.id, token: a.token }])
    await it.platform.advance(99)
    expect(await isPending(other)).toBe(true)
    await it.platform.advance(1)
    expect(await other).toMatchObject({ limit: 'db' })
    expect(it.platform.pendingTimers).toBe(0)
  })

  test('a job stops waiting when the signal fires, and the next one can wait in place', async () => {
    const it = await scene(ONE)
    const [a, b, c] = await running(it.first, 3)
    if (a === undefined || b === undefined || c === undefined) throw new Error('three were claimed')
    const permit = await insideOf(it.first, a).acquire('db')
    const stop = new AbortController()
    const waiting = failure(insideOf(it.first, b, stop.signal).acquire('db'))
    await it.platform.settled()
    stop.abort(new Error('over'))
    expect(await waiting).toMatchObject({ message: 'over' })
    const next = insideOf(it.first, c).acquire('db')
    await it.platform.settled()
    await permit.release()
    expect(await next).toMatchObject({ limit: 'db' })
  })

  test('the end of a block releases its permit, and a second release does nothing', async () => {
    const it = await scene(TWO)
    const [a] = await running(it.first, 1)
    const limit = insideOf(it.first, a ?? aLease(it.platform))
    {
      await using permit = await limit.acquire('db')
      expect([permit.amount, await held(it)]).toEqual([1, 1])
    }
    expect(await held(it)).toBe(0)
    const permit = await limit.acquire('db', 2)
    await permit.release()
    const other = await limit.acquire('db')
    await permit.release()
    expect(await held(it)).toBe(1)
    await other.release()
    expect(await held(it)).toBe(0)
  })

  test('P13: several permits of one job are released together, with the last one', async () => {
    const it = await scene(TWO)
    const [a] = await running(it.first, 1)
    const limit = insideOf(it.first, a ?? aLease(it.platform))
    const [one, two] = [await limit.acquire('db'), await limit.acquire('db')]
    await one.release()
    expect(await held(it)).toBe(2)
    const answer = it.first.store.hold('limits.acquire')
    const third = failure(limit.tryAcquire('db'))
    await answer.reached
    await two.release()
    // A third request is in flight: the release must not take its permit.
    expect(await held(it)).toBe(2)
    answer.release()
    expect(await third).toBe('nothing was thrown')
    expect(await held(it)).toBe(0)
  })

  test('a job cannot acquire the limit of its own queue: it would wait for itself', async () => {
    const it = await scene(TWO)
    const [a] = await running(it.first, 1)
    if (a === undefined) throw new Error('one was claimed')
    const signal = new AbortController().signal
    const holder = { lease: a, signal, checkLive: () => {}, queueLimit: () => 'db' }
    const inside = it.first.limits.inside(holder)
    await expect(inside.acquire('db')).rejects.toMatchObject({ code: 'OPTION_CONFLICT', field: 'limit' })
    await expect(inside.tryAcquire('db')).rejects.toMatchObject({ code: 'OPTION_CONFLICT' })
    expect(await held(it)).toBe(0)
  })

  test('a release without an answer is sent again, and never throws', async () => {
    const it = await scene(ONE)
    const [a, b] = await running(it.first, 2)
    if (a === undefined || b === undefined) throw new Error('two were claimed')
    const permit = await insideOf(it.first, a).acquire('db')
    it.first.store.loseReply('limits.release')
    it.first.store.fail('limits.release')
    const released = permit.release()
    await it.platform.advance(1_000)
    await released
    expect(await insideOf(it.first, b).tryAcquire('db')).not.toBeNull()
    it.first.store.fail('limits.release', { times: Number.POSITIVE_INFINITY })
    const second = (await insideOf(it.first, b).tryAcquire('db')) ?? permit
    const gone = second.release()
    await it.platform.advance('1m')
    await gone
  })
})

test('a request during a release waits for it', async () => {
  const order: string[] = []
  const back = Promise.withResolvers<void>()
  const mine = holding(
    () => back.promise.then(() => void order.push('given back')),
    () => true,
  )
  await mine.begin()
  mine.granted()
  const ending = mine.end()
  const next = mine.begin().then(() => order.push('asks'))
  back.resolve()
  await Promise.all([ending, next])
  expect(order).toEqual(['given back', 'asks'])
})
