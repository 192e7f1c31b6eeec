// Two mills on one clock: on one store, and on one file with a handle each.
import { describe, expect, test } from 'vitest'
import { freshFile } from '../../../../test/support/databases.ts'
import { defineJob, type JobContext } from '../../src/index.ts'
import { sqlite } from '../../src/sqlite.ts'
import { faultyStore, testMill, testPlatform } from '../../src/testing/index.ts'
import { aClaim, anInstance } from '../../../conformance/src/index.ts'
import { rejection } from '../unit/support.ts'
import { echo, gatedJob } from './support.ts'

describe('two mills on one store', () => {
  test('see each other, share the clock, and the last one closes the store', async () => {
    const first = await testMill({ jobs: [echo] })
    const second = await testMill({ jobs: [echo], platform: first.platform, store: () => first.store })
    await first.clock.advance('1m')
    expect(await second.instances()).toMatchObject([{ state: 'alive' }, { state: 'alive' }])
    expect(second.clock.now()).toBe(first.clock.now())
    await first.stop()
    const job = await second.enqueue(echo, { n: 1 })
    expect(await job.result()).toBe(1)
    await second.stop()
    await expect(first.store.counts()).rejects.toMatchObject({ code: 'STORE_CLOSED' })
    expect(first.platform.pendingTimers).toBe(0)
  })

  test('can both use a given store', async () => {
    const platform = testPlatform()
    const shared = sqlite(':memory:', { clock: platform.now })
    await using first = await testMill({ jobs: [echo], platform, store: () => shared })
    {
      await using second = await testMill({ jobs: [echo], platform, store: () => shared })
      expect(await second.instances()).toHaveLength(2)
    }
    expect(await first.enqueue(echo, { n: 3 }).then((job) => job.result())).toBe(3)
  })

  test('one runs the jobs that the other enqueues; result() and drain() wait for them', async () => {
    await using worker = await testMill({ jobs: [echo] })
    const clockOf = { platform: worker.platform, store: () => worker.store }
    await using client = await testMill({ ...clockOf, start: false })
    const before = worker.clock.now()
    const job = await client.enqueue(echo, { n: 5 })
    expect(await job.result()).toBe(5)
    expect(worker.clock.now()).toBe(before)
    expect([client.enqueued(echo).length, worker.enqueued(echo).length]).toEqual([1, 0])
    const { job: gated, entered, open } = gatedJob()
    await using other = await testMill({ ...clockOf, jobs: [gated] })
    await client.enqueue(gated, null)
    // The wake-up may go to the mill without a handler, which does not know the other yet: then the other
    // polls a moment later.
    await worker.platform.advance('1s')
    await entered
    const drained = worker.drain()
    open('opened')
    await drained
    expect((await other.counts())[0]).toMatchObject({ done: 2, running: 0 })
  })
})

describe('two mills on one file', () => {
  test('one takes over and retries the jobs of the other when it goes silent', async () => {
    const platform = testPlatform()
    const path = freshFile()
    const handle = () => faultyStore(sqlite(path, { clock: platform.now }))
    const { job, entered } = gatedJob()
    const quick = defineJob({ kind: 'gated', run: ({ job: { crashes } }: JobContext<null>) => crashes })
    const [brokenStore, store] = [handle(), handle()]
    await using broken = await testMill({ jobs: [job], platform, store: () => brokenStore })
    const { id } = await broken.enqueue(job, null)
    const signal = await entered
    await using healthy = await testMill({ jobs: [quick], platform, store: () => store })
    brokenStore.fail('instances.renew', { times: Number.POSITIVE_INFINITY })
    brokenStore.fail('instances.register', { times: Number.POSITIVE_INFINITY })
    await platform.advance('15s')
    expect(signal.reason).toMatchObject({ why: 'lease-lost' })
    expect(await healthy.get(id)).toMatchObject({ state: 'done', crashes: 1, attempt: 1, result: 1 })
    expect(healthy.events.map(({ type }) => type)).toContain('reaped')
  })

  test('drain advances the clock until the jobs of a lost instance are reaped', async () => {
    const platform = testPlatform()
    const path = freshFile()
    const lost = sqlite(path, { clock: platform.now })
    await using mill = await testMill({
      jobs: [echo],
      platform,
      store: () => sqlite(path, { clock: platform.now }),
      start: false,
    })
    const { id } = await mill.enqueue(echo, { n: 1 })
    await lost.open()
    const instance = platform.id()
    const kinds = ['echo']
    await lost.instances.register(anInstance({ id: instance, kinds }))
    expect(await lost.claim(aClaim(instance, { kinds }))).toHaveLength(1)
    await lost.close()
    await mill.start()
    await mill.drain()
    expect(await mill.get(id)).toMatchObject({ state: 'done', crashes: 1 })
  })
})

describe('results while the clock does not move', () => {
  test('a handler can await several jobs, in any order of their ends', async () => {
    const parent = defineJob({
      kind: 'parent',
      async run({ enqueue, enqueueMany }): Promise<number[]> {
        const one = await enqueue(echo, { n: 1 })
        const more = await enqueueMany(echo, [{ payload: { n: 2 } }, { payload: { n: 3 } }])
        const values: number[] = []
        for (const job of [one, ...more]) values.push(await job.result())
        return values
      },
    })
    await using mill = await testMill({ jobs: [echo, parent] })
    const job = await mill.enqueue(parent, null)
    expect(await job.result()).toEqual([1, 2, 3])
  })

  test('results are available after the end, repeatedly, and so are errors', async () => {
    await using mill = await testMill({ jobs: [echo] })
    const jobs = await mill.enqueueMany(echo, [{ payload: { n: 1 } }, { payload: { n: 2 } }])
    await mill.drain()
    expect(await Promise.all([...jobs, ...jobs].map((job) => job.result()))).toEqual([1, 2, 1, 2])
    const later = await mill.enqueue(echo, { n: 1 }, { delay: '1h' })
    const waiting = later.result()
    await mill.cancel(later.id, 'not needed')
    await expect(waiting).rejects.toMatchObject({ code: 'JOB_CANCELLED' })
    await expect(mill.job(mill.platform.id()).result()).rejects.toMatchObject({ code: 'JOB_UNKNOWN' })
    expect(mill.platform.pendingTimers).toBeLessThan(12)
  })

  test('a timeout follows the test clock, and the stop of the mill rejects', async () => {
    const mill = await testMill({ jobs: [echo] })
    const { id } = await mill.enqueue(echo, { n: 1 }, { delay: '1h' })
    const late = rejection(() => mill.job(id).result({ timeout: '5m' }))
    await mill.clock.advance('5m')
    expect((await late).code).toBe('RESULT_TIMEOUT')
    const stopped = rejection(() => mill.job(id).result())
    await mill.stop()
    expect((await stopped).code).toBe('MILL_STOPPED')
  })
})
