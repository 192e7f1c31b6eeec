// How a mill handles a failing store: planned faults, on a fake clock that skips every pause and lease.
import { describe, expect, test } from 'vitest'
import { defineJob, type JobContext } from '../../src/index.ts'
import { sqlite } from '../../src/sqlite.ts'
import { faultyStore, type TestMill, testMill, testPlatform } from '../../src/testing/index.ts'
import { echo, gatedJob } from './support.ts'

async function faultyMill(options: Parameters<typeof testMill>[0]) {
  const platform = testPlatform()
  const store = faultyStore(sqlite(':memory:', { clock: platform.now }))
  const mill = await testMill({ ...options, platform, store: () => store })
  return { mill, store, platform, [Symbol.asyncDispose]: () => mill[Symbol.asyncDispose]() }
}

const count = (mill: TestMill, wanted: string): number =>
  mill.events.filter(({ type }) => type === wanted).length

/** A job with a key is not dispatched directly: a worker has to claim it. */
const CLAIMED = { dedupe: { key: 'k' } }

describe('a mill on a store with faults', () => {
  test('an enqueue with a lost reply stores one job', async () => {
    await using it = await faultyMill({ jobs: [echo] })
    it.store.loseReply('enqueue')
    const { id, outcome } = await it.mill.enqueue(echo, { n: 1 })
    await it.mill.drain()
    expect(outcome).toBe('enqueued')
    expect((await it.mill.counts())[0]).toMatchObject({ done: 1 })
    expect(it.mill.enqueued()).toMatchObject([{ id, outcome: 'enqueued' }])
    expect(it.store.calls('enqueue')).toBe(2)
    expect(await it.mill.history(id)).toHaveLength(1)
  })

  test('an enqueue that fails is rejected, and stores none', async () => {
    await using it = await faultyMill({ jobs: [echo] })
    it.store.fail('enqueue')
    await expect(it.mill.enqueue(echo, { n: 1 })).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    expect(it.mill.enqueued()).toEqual([])
  })

  test('a claim with a lost reply is found by comparing, and released without spending an attempt', async () => {
    await using it = await faultyMill({ jobs: [echo] })
    await it.platform.settled()
    it.store.loseReply('claim')
    const { id } = await it.mill.enqueue(echo, { n: 1 }, CLAIMED)
    await it.platform.settled()
    expect(await it.mill.get(id)).toMatchObject({ state: 'running', attempt: 1 })
    expect(count(it.mill, 'started')).toBe(0)
    await it.mill.clock.advance('20s')
    expect(count(it.mill, 'leases-found')).toBe(1)
    expect(await it.mill.get(id)).toMatchObject({ state: 'done', attempt: 1, crashes: 0 })
    expect(await it.mill.history(id)).toHaveLength(1)
  })

  test('drain waits for that too, and moves the clock no further than needed', async () => {
    await using it = await faultyMill({ jobs: [echo] })
    await it.platform.settled()
    it.store.loseReply('claim')
    const before = it.mill.clock.now()
    const { id } = await it.mill.enqueue(echo, { n: 1 }, CLAIMED)
    await it.mill.drain()
    expect(await it.mill.get(id)).toMatchObject({ state: 'done', attempt: 1 })
    expect(it.mill.clock.now() - before).toBeLessThan(20_000)
  })

  test('a finish with a lost reply is written once', async () => {
    await using it = await faultyMill({ jobs: [echo] })
    it.store.loseReply('finish')
    const job = await it.mill.enqueue(echo, { n: 7 })
    await it.mill.drain()
    expect(it.store.calls('finish')).toBe(2)
    expect(await it.mill.history(job.id)).toMatchObject([{ attempt: 1, outcome: 'returned' }])
    expect(await job.result()).toBe(7)
    expect(count(it.mill, 'finished')).toBe(1)
  })

  test('a job enqueued with a completion whose reply is lost is recorded', async () => {
    const parent = defineJob({
      kind: 'parent',
      run: async ({ enqueue }: JobContext<null>) =>
        void (await enqueue(echo, { n: 1 }, { withCompletion: true })),
    })
    await using it = await faultyMill({ jobs: [echo, parent] })
    it.store.loseReply('finish')
    await it.mill.enqueue(parent, null)
    await it.mill.drain()
    expect(it.mill.enqueued().map(({ kind }) => kind)).toEqual(['parent', 'echo'])
    expect((await it.mill.counts())[0]).toMatchObject({ done: 2 })
  })

  test('a finish that fails is written when the store recovers', async () => {
    await using it = await faultyMill({ jobs: [echo] })
    it.store.fail('finish', { times: 5 })
    const job = await it.mill.enqueue(echo, { n: 7 })
    await it.mill.drain()
    expect(await job.result()).toBe(7)
    expect([
      count(it.mill, 'started'),
      count(it.mill, 'store-failing'),
      count(it.mill, 'store-back'),
    ]).toEqual([1, 1, 1])
  })

  test('a mill without renewals for the length of its lease aborts its jobs, and recovers', async () => {
    const { job, entered, open } = gatedJob()
    await using it = await faultyMill({ jobs: [job] })
    const { id } = await it.mill.enqueue(job, null)
    const signal = await entered
    it.store.fail('instances.renew', { times: Number.POSITIVE_INFINITY })
    await it.mill.clock.advance('6s')
    expect(signal.aborted).toBe(false)
    await it.mill.clock.advance('5s')
    expect(signal.reason).toMatchObject({ why: 'lease-lost' })
    it.store.clear()
    await it.mill.clock.advance('2s')
    expect([count(it.mill, 'instance-lost'), count(it.mill, 'instance-back')]).toEqual([1, 1])
    open('too late')
    await it.mill.drain()
    expect(await it.mill.get(id)).toMatchObject({ state: 'done' })
  })

  test('reads of the test kit itself use no planned fault and count as no call', async () => {
    await using it = await faultyMill({ jobs: [echo] })
    await it.platform.settled()
    const before = it.store.calls()
    it.store.fail('counts')
    it.store.fail('stage')
    await it.mill.clock.advance(0)
    await it.mill.drain()
    expect(it.store.calls()).toEqual(before)
    await expect(it.mill.counts()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
  })

  test('a held claim lets the clock advance, and a stop does not wait for it endlessly', async () => {
    await using it = await faultyMill({ jobs: [echo] })
    await it.platform.settled()
    const held = it.store.hold('claim')
    await it.mill.enqueue(echo, { n: 1 }, CLAIMED)
    await held.reached
    await it.mill.clock.advance('1m')
    const stopping = it.mill.stop()
    await it.platform.advance('1m')
    expect(await stopping).toMatchObject({ finished: 0 })
  })
})
