/** External faults: lost replies, and upstream services that refuse calls. On the oracle. */
import { describe, expect, test } from 'vitest'
import { JobmillError } from '../../src/job/errors.ts'
import { completeLimit, type RateSettings } from '../../src/job/limit/limit.ts'
import { Snooze } from '../../src/job/attempt/thrown.ts'
import { drains } from '../../src/limits/drain.ts'
import { knownLimits } from '../../src/limits/known-limits.ts'
import { testPlatform } from '../../src/testing/index.ts'
import { oracle, oracleDatabase } from '../../../conformance/src/index.ts'
import { aLease, failure, held, insideOf, running, scene } from './scene.ts'

const HALF_SECONDLY = { api: { rate: 2 } } as const
const ONE = { db: { concurrency: 1 } } as const

describe('P13: a lost reply', () => {
  test('of a rate grants nothing: the tokens may be lost, and the limit is asked again', async () => {
    const it = await scene({ api: { rate: 1, burst: 3 } })
    const limit = insideOf(it.first, aLease(it.platform))
    it.first.store.loseReply('limits.acquire')
    const permit = limit.acquire('api')
    await it.platform.advance(100)
    expect(await permit).toMatchObject({ amount: 1 })
    expect((await it.first.store.limits.list())[0]?.available).toBe(1)
  })

  test('of a concurrency limit does not block the retry', async () => {
    const it = await scene(ONE)
    const [a] = await running(it.first, 1)
    it.first.store.loseReply('limits.acquire')
    const permit = insideOf(it.first, a ?? aLease(it.platform)).acquire('db')
    await it.platform.advance(100)
    await (await permit).release()
    expect(await held(it)).toBe(0)
  })

  test('is reported after many of them, and never counts as a grant', async () => {
    const it = await scene({ api: { rate: 1_000 } })
    it.first.store.loseReply('limits.acquire', { times: Number.POSITIVE_INFINITY })
    const asking = failure(insideOf(it.first, aLease(it.platform)).acquire('api'))
    await it.platform.advance('1m')
    expect(await asking).toMatchObject({ code: 'OUTCOME_UNKNOWN' })
  })
})

describe('drain', () => {
  test('grants nothing for exactly that long, and then one token at a time', async () => {
    const it = await scene({ api: { rate: 10, burst: 5 } })
    const limit = insideOf(it.first, aLease(it.platform))
    await limit.drain('api', { retryAfter: '30s' })
    await it.platform.advance(29_999)
    expect(await limit.tryAcquire('api')).toBeNull()
    await it.platform.advance(1)
    expect(await limit.tryAcquire('api')).not.toBeNull()
    expect(await limit.tryAcquire('api')).toBeNull()
    await it.platform.advance(100)
    expect(await limit.tryAcquire('api')).not.toBeNull()
  })

  test('revokes a token that a waiting caller was granted before', async () => {
    const it = await scene(HALF_SECONDLY)
    const limit = insideOf(it.first, aLease(it.platform))
    await limit.acquire('api', 2)
    const waiting = failure(limit.acquire('api'))
    await it.platform.advance(100)
    await limit.drain('api', { retryAfter: '10s' })
    await it.platform.advance(400)
    expect(await waiting).toBeInstanceOf(Snooze)
  })

  test.each([
    ['another key', 'b', 'nothing was thrown'],
    ['this key', 'a', expect.any(Snooze)],
  ])('while a caller waits for a key and %s is drained', async (_, key, outcome) => {
    const it = await scene({ api: { ...HALF_SECONDLY.api, perKey: true } })
    const limit = insideOf(it.first, aLease(it.platform))
    await limit.acquire('api', { key: 'a', amount: 2 })
    const waiting = failure(limit.acquire('api', { key: 'a' }))
    await it.platform.advance(100)
    await limit.drain('api', { key, retryAfter: '10s' })
    await it.platform.advance(400)
    expect(await waiting).toEqual(outcome)
  })

  test('of any number of keys is remembered while a caller may wait, but not without bound', async () => {
    const known = drains(
      { opened: async () => store, platform: testPlatform(), emit: () => {} },
      knownLimits(() => store.limits.list(), testPlatform()),
    )
    const store = oracle(oracleDatabase(), { clock: () => 0 })
    await store.open()
    await store.limits.declare([
      {
        name: 'api',
        settings: { ...completeLimit({ type: 'rate', amount: 1 }), perKey: true } as RateSettings,
      },
    ])
    const values = new Set([known.timesOf('api', 'k0')])
    for (let n = 0; n <= 10_000; n += 1) {
      await known.drain('api', { key: `k${n}` })
      if (n === 0 || n === 9_999 || n === 10_000) values.add(known.timesOf('api', 'k0'))
    }
    // Before, after its own drain, and after a reset: three different values.
    expect(values.size).toBe(3)
  })

  test('is not made longer by a lost reply', async () => {
    const it = await scene({ api: { rate: 10 } })
    const limit = insideOf(it.first, aLease(it.platform))
    it.first.store.fail('limits.drain', { error: new JobmillError('OUTCOME_UNKNOWN', 'nobody knows') })
    it.first.store.loseReply('limits.drain', { times: 2 })
    const draining = limit.drain('api', { retryAfter: '10s' })
    await it.platform.advance(9_999)
    await draining
    expect(await limit.tryAcquire('api')).toBeNull()
    await it.platform.advance(1)
    expect(await limit.tryAcquire('api')).not.toBeNull()
  })

  test('without a time removes the saved tokens; a concurrency limit needs a time', async () => {
    const it = await scene({ api: { rate: 10, burst: 5 }, ...ONE })
    const limit = insideOf(it.first, aLease(it.platform))
    await limit.drain('api')
    expect(await limit.tryAcquire('api')).toBeNull()
    await it.platform.advance(100)
    expect(await limit.tryAcquire('api')).not.toBeNull()
    expect(await failure(limit.drain('db'))).toMatchObject({ code: 'OPTION_INVALID' })
    expect(await failure(limit.drain('api', { retryAfter: '25h' }))).toMatchObject({
      code: 'DURATION_INVALID',
    })
    expect(await failure(limit.drain('api', { after: 3 } as object))).toMatchObject({
      code: 'OPTION_UNKNOWN',
    })
  })
})
