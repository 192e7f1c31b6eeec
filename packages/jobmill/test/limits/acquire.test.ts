/** Rate limits inside a handler: how long it waits and what it throws. On the oracle. */
import { describe, expect, test } from 'vitest'
import { Interruption } from '../../src/job/attempt/interruption.ts'
import { Snooze } from '../../src/job/attempt/thrown.ts'
import { aLease, failure, insideOf, isPending, running, scene } from './scene.ts'

const MINUTELY = { smtp: { rate: 50, per: '1m' } } as const
const HALF_SECONDLY = { api: { rate: 2 } } as const
const ONE = { db: { concurrency: 1 } } as const
const TWO = { db: { concurrency: 2 } } as const

const sentAway = (error: unknown): number => (error instanceof Snooze ? error.forMs : Number.NaN)

describe('a rate', () => {
  test('grants available tokens at once, and waits for tokens within a second', async () => {
    const it = await scene(HALF_SECONDLY)
    const limit = insideOf(it.first, aLease(it.platform))
    await limit.acquire('api', 2)
    const third = limit.acquire('api')
    await it.platform.advance(499)
    expect(await isPending(third)).toBe(true)
    await it.platform.advance(1)
    expect(await third).toMatchObject({ limit: 'api', amount: 1 })
  })

  test('throws Snooze for a later token, and the job is served before new callers', async () => {
    const it = await scene(MINUTELY)
    await insideOf(it.first, aLease(it.platform)).acquire('smtp')
    const limit = insideOf(it.first, aLease(it.platform))
    const snooze = await failure(limit.acquire('smtp'))
    const newcomer = await failure(insideOf(it.first, aLease(it.platform)).acquire('smtp'))
    expect([snooze, newcomer]).toMatchObject([{ says: 'snooze' }, { says: 'snooze' }])
    expect(sentAway(newcomer)).toBeGreaterThan(sentAway(snooze))
    await it.platform.advance(sentAway(snooze))
    const again = limit.acquire('smtp')
    await it.platform.advance(1_000)
    expect(await again).toMatchObject({ limit: 'smtp' })
  })

  test('stops waiting when the signal fires, with its reason', async () => {
    const it = await scene(HALF_SECONDLY)
    const stop = new AbortController()
    const limit = insideOf(it.first, aLease(it.platform), stop.signal)
    await limit.acquire('api', 2)
    const waiting = failure(limit.acquire('api'))
    await it.platform.advance(100)
    const reason = new Interruption('cancelled', 'the user said so')
    stop.abort(reason)
    expect(await waiting).toBe(reason)
    expect(await failure(limit.acquire('api'))).toBe(reason)
    expect(it.platform.pendingTimers).toBe(0)
  })

  test('stops waiting for a database that does not answer when the signal fires', async () => {
    const it = await scene(HALF_SECONDLY)
    const stop = new AbortController()
    const hung = it.first.store.hold('limits.acquire')
    const asking = failure(insideOf(it.first, aLease(it.platform), stop.signal).acquire('api'))
    await hung.reached
    const reason = new Interruption('shutdown', 'this process is shutting down')
    stop.abort(reason)
    expect(await asking).toBe(reason)
    hung.release()
  })

  test('P13: a caller that wakes too late asks again, so that two late callers never use tokens together', async () => {
    const it = await scene(HALF_SECONDLY)
    const { platform, first } = it
    // A blocked event loop: timers fire late.
    let lateMs = 0
    const timer = platform.timer.bind(platform)
    Object.assign(platform, {
      timer: (ms: number, task: () => void) => timer(ms + (ms > 0 ? lateMs : 0), task),
    })
    const limit = insideOf(first, aLease(platform))
    await limit.acquire('api', 2)
    lateMs = 2_000
    const late = limit.acquire('api').then(() => platform.now())
    await platform.advance(100)
    lateMs = 0
    await platform.advance(2_399)
    const calls = first.store.calls('limits.acquire')
    await platform.advance(1)
    // Woken 2 s too late: its token has expired, and another is available at once because the bucket is full
    // again.
    expect(first.store.calls('limits.acquire')).toBe(calls + 1)
    expect(await late).toBe(platform.now())
    expect((await first.store.limits.list())[0]?.available).toBe(1)
  })

  test('snoozes the job of a process that is late repeatedly, so that it wastes no more tokens', async () => {
    const { platform, first } = await scene({ fast: { rate: 100, burst: 1 } })
    await insideOf(first, aLease(platform)).acquire('fast')
    // Timers fire at once, and each reading of the clock finds that the process was blocked.
    const timer = platform.timer.bind(platform)
    const monotonic = platform.monotonic.bind(platform)
    let stoodMs = 0
    Object.assign(platform, {
      timer: (_: number, task: () => void) => timer(0, task),
      monotonic: () => monotonic() + (stoodMs += 400),
    })
    expect(await failure(insideOf(first, aLease(platform)).acquire('fast'))).toBeInstanceOf(Snooze)
    expect(first.store.calls('limits.acquire')).toBe(1 + 3)
  })

  test('release returns no token and does not call the store', async () => {
    const it = await scene(HALF_SECONDLY)
    const permit = await insideOf(it.first, aLease(it.platform)).acquire('api', 2)
    await permit.release()
    expect(it.first.store.calls('limits.release')).toBe(0)
    expect((await it.first.store.limits.list())[0]?.available).toBe(0)
  })

  test('tryAcquire never waits', async () => {
    const it = await scene(HALF_SECONDLY)
    const limit = insideOf(it.first, aLease(it.platform))
    expect(await limit.tryAcquire('api', 2)).toMatchObject({ limit: 'api', amount: 2 })
    expect(await limit.tryAcquire('api')).toBeNull()
    expect(it.platform.pendingTimers).toBe(0)
  })
})

describe('a request that cannot be granted', () => {
  test('above the maximum names both numbers', async () => {
    const it = await scene({ ...MINUTELY, ...TWO })
    const [lease] = await running(it.first, 1)
    const limit = insideOf(it.first, lease ?? aLease(it.platform))
    expect(await failure(limit.acquire('smtp', 2))).toMatchObject({
      code: 'OPTION_INVALID',
      message:
        'amount: exceeds the maximum of limit "smtp" (got 2). Pass at most 1, or raise the burst or concurrency of the limit.',
    })
    expect(await failure(limit.tryAcquire('db', 3))).toMatchObject({ code: 'OPTION_INVALID' })
    const map = new Map([['amount', 3]]) as never
    expect(await failure(limit.acquire('db', map))).toMatchObject({ code: 'OPTION_INVALID', value: 'a Map' })
  })

  test('for an unknown limit names the nearest one', async () => {
    const it = await scene(MINUTELY)
    const limit = insideOf(it.first, aLease(it.platform))
    const unknown = [limit.acquire('smpt'), limit.tryAcquire('smpt'), limit.drain('smpt')]
    for (const failed of unknown.map(failure))
      expect(await failed).toMatchObject({
        code: 'LIMIT_UNKNOWN',
        message: expect.stringContaining('Did you mean "smtp"?') as string,
      })
    expect(await failure(limit.acquire('other'))).toMatchObject({
      code: 'LIMIT_UNKNOWN',
      message: expect.stringContaining('Use one of: smtp') as string,
    })
  })

  test.each([0, 1.5, -1, 1_000_001, '3' as unknown as number])(
    'an amount of %s is refused',
    async (amount) => {
      const it = await scene(MINUTELY)
      const limit = insideOf(it.first, aLease(it.platform))
      expect(await failure(limit.acquire('smtp', amount))).toMatchObject({
        code: 'NUMBER_INVALID',
        field: 'amount',
      })
      expect(await failure(limit.acquire('no such name'))).toMatchObject({ code: 'NAME_INVALID' })
      expect(it.first.store.calls('limits.acquire')).toBe(0)
    },
  )

  test('from an attempt that lost its lease is refused', async () => {
    const it = await scene(ONE)
    expect(await failure(insideOf(it.first, aLease(it.platform)).acquire('db'))).toMatchObject({
      code: 'LEASE_LOST',
    })
  })

  test('fails with the error of the database', async () => {
    const it = await scene(MINUTELY)
    it.first.store.fail('limits.acquire')
    expect(await failure(insideOf(it.first, aLease(it.platform)).acquire('smtp'))).toMatchObject({
      code: 'STORE_UNAVAILABLE',
    })
  })
})
