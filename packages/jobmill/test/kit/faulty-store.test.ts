// A store with planned faults: each plan, their order, and that everything else succeeds.
import Database from 'better-sqlite3'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { freshFile } from '../../../../test/support/databases.ts'
import type { Store, TxOf } from '../../src/store/store.ts'
import { sqlite, type SqliteTx } from '../../src/sqlite.ts'
import { faultyStore, testPlatform } from '../../src/testing/index.ts'
import { aJob, anInstance, oracle, oracleDatabase } from '../../../conformance/src/index.ts'
import { aDirectDispatch } from '../../../conformance/src/factories.ts'
import { refusal, rejection } from '../unit/support.ts'
import { openStore } from './support.ts'

const open = async () => faultyStore(await openStore(testPlatform()))
const ready = async (store: Store): Promise<number> => (await store.counts())[0]?.ready ?? 0

describe('a faulty store', () => {
  test('without planned faults behaves like the wrapped store', async () => {
    const store = await open()
    expect(await store.enqueue([aJob()])).toMatchObject([{ outcome: 'enqueued' }])
    expect(store.name).toBe('sqlite :memory:')
    expectTypeOf<TxOf<typeof store>>().toEqualTypeOf<SqliteTx>()
  })

  test('fails a call without making it, as often as planned, with the given error', async () => {
    const store = await open()
    store.fail('enqueue', { times: 2 })
    store.fail('enqueue', { error: new Error('mine') })
    const errors = [
      await rejection(() => store.enqueue([aJob()])),
      await rejection(() => store.enqueue([aJob()])),
    ]
    expect(errors.map(({ code }) => code)).toEqual(['STORE_UNAVAILABLE', 'STORE_UNAVAILABLE'])
    await expect(store.enqueue([aJob()])).rejects.toThrow('mine')
    expect(await ready(store)).toBe(0)
    await store.enqueue([aJob()])
    expect(await ready(store)).toBe(1)
  })

  test('loses the reply of a call that was made, even if it was an error', async () => {
    const store = await open()
    store.loseReply('enqueue', { times: 2 })
    const job = aJob()
    expect((await rejection(() => store.enqueue([job]))).code).toBe('OUTCOME_UNKNOWN')
    expect(await ready(store)).toBe(1)
    store.loseReply('history')
    expect((await rejection(() => store.history('no id'))).code).toBe('OUTCOME_UNKNOWN')
  })

  test('holds a call before it is made', async () => {
    const store = await open()
    const held = store.hold('enqueue')
    const call = store.enqueue([aJob()])
    await held.reached
    // Only the next one is refused: later ones succeed.
    await store.enqueue([aJob()])
    expect(await ready(store)).toBe(1)
    held.release()
    expect(await call).toMatchObject([{ outcome: 'enqueued' }])
    expect(await ready(store)).toBe(2)
  })

  test('holds the reply of a call that was made', async () => {
    const store = await open()
    const held = store.holdReply('enqueue')
    const call = store.enqueue([aJob()])
    await held.reached
    expect(await ready(store)).toBe(1)
    held.release()
    expect(await call).toMatchObject([{ outcome: 'enqueued' }])
  })

  test('can hold a call and lose its reply, and a failed call keeps the fault planned for its reply', async () => {
    const store = await open()
    const held = store.hold('enqueue')
    store.fail('enqueue')
    store.loseReply('enqueue', { times: 2 })
    const first = rejection(() => store.enqueue([aJob()]))
    await held.reached
    expect((await rejection(() => store.enqueue([aJob()]))).code).toBe('STORE_UNAVAILABLE')
    held.release()
    expect((await first).code).toBe('OUTCOME_UNKNOWN')
    expect((await rejection(() => store.enqueue([aJob()]))).code).toBe('OUTCOME_UNKNOWN')
    expect(await ready(store)).toBe(2)
  })

  test('does not hold a call that was released before', async () => {
    const store = await open()
    store.hold('counts').release()
    expect(await ready(store)).toBe(0)
  })

  test('counts calls, made or failed', async () => {
    const store = await open()
    store.fail('queues.list')
    await rejection(() => store.queues.list())
    await store.queues.list()
    expect(store.calls('queues.list')).toBe(2)
    expect(store.calls()).toMatchObject({ 'queues.list': 2, claim: 0 })
  })

  test('clears its planned faults, endless ones too, and releases held calls', async () => {
    const store = await open()
    store.fail('queues.list', { times: Number.POSITIVE_INFINITY })
    const held = store.hold('counts')
    const call = store.counts()
    await held.reached
    await rejection(() => store.queues.list())
    await rejection(() => store.queues.list())
    store.clear()
    expect(await call).toEqual([])
    expect(await store.queues.list()).toEqual([])
  })

  test('refuses an invalid plan', async () => {
    const store = await open()
    expect(refusal(() => store.fail('claim', { times: 0 })).field).toBe('options.times')
    expect(refusal(() => store.loseReply('claim', { time: 1 } as object)).message).toContain('"times"')
  })

  test('A refuses a plan for an unknown verb', async () => {
    const store = await open()
    const text = /^verb: is not a verb of the store \(got "clame"\)\. /
    // @ts-expect-error: not a verb of a store
    expect(() => store.fail('clame')).toThrow(text)
    for (const plan of ['loseReply', 'hold', 'holdReply'] as const)
      expect(() => store[plan]('clame' as never)).toThrow(text)
  })

  test('writes in a transaction before the call returns', async () => {
    const path = freshFile()
    const store = faultyStore(sqlite(path))
    await store.open()
    const db = new Database(path)
    db.exec('begin immediate')
    const call = store.enqueue([aJob()], { tx: db })
    db.exec('commit')
    await call
    expect(await ready(store)).toBe(1)
    db.close()
    await store.close()
  })

  test('passes offers for direct dispatch on, and loses their leases with the reply', async () => {
    const store = await open()
    const instance = anInstance()
    await store.instances.register(instance)
    const directDispatch = aDirectDispatch(instance.id)
    const [reply] = await store.enqueue([aJob()], { directDispatch })
    expect(reply?.lease).toMatchObject({ id: reply?.id, attempt: 1 })
    store.loseReply('enqueue')
    const lost = aJob()
    expect((await rejection(() => store.enqueue([lost], { directDispatch }))).code).toBe('OUTCOME_UNKNOWN')
    const held = await store.instances.held(instance.id)
    expect(new Set(held.map(({ id }) => id))).toEqual(new Set([reply?.id, lost.id]))
  })

  test('wraps every store', async () => {
    const store = faultyStore(oracle(oracleDatabase(), { clock: testPlatform().now }))
    await store.open()
    store.loseReply('instances.register')
    const instance = anInstance()
    await rejection(() => store.instances.register(instance))
    expect(await store.instances.list()).toMatchObject([{ id: instance.id }])
    await store.close()
  })
})
