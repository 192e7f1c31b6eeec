// Wake-ups on one file: by this process, by another connection, and none without a reason.
import { assert, describe, test } from 'vitest'
import { ON_DEAD_QUEUE } from '../../src/job/attempt/on-dead.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../src/job/queue/queue-settings.ts'
import { aClaim, aJob, anInstance, KIND, QUEUE, someJobs } from '../../../conformance/src/factories.ts'
import { freshFile, openStore } from './support.ts'

const waiting = { queues: [QUEUE], timeoutMs: 5_000 }
const done = { outcome: 'returned', transition: { to: 'done', result: null } } as const

describe('the notifier of sqlite', () => {
  test('wakes at once for a commit of this process, with the number of ready jobs', async () => {
    const store = await openStore()
    const first = store.notifier.wait(waiting)
    await store.enqueue([aJob()])
    assert.deepEqual(await first, [{ queue: QUEUE, jobs: 1, seed: 1, skip: 0, passes: false }])
    const second = store.notifier.wait(waiting)
    await store.enqueue(someJobs([{}, {}]))
    assert.deepEqual(await second, [{ queue: QUEUE, jobs: 2, seed: 2, skip: 0, passes: false }])
  })

  test('all waiters get the same seed, in the committing process and in others', async () => {
    const path = freshFile()
    const stores = await Promise.all([openStore(path), openStore(path), openStore(path)])
    const instance = anInstance()
    await stores[0].instances.register(instance)
    for (let round = 0; round < 5; round += 1) {
      const waits = stores.map((store) => store.notifier.wait(waiting))
      await stores[round % 3]?.enqueue(someJobs([{}, {}]))
      const wakeUps = (await Promise.all(waits)).flat()
      assert.equal(wakeUps.length, 3)
      assert.deepEqual(
        wakeUps,
        Array.from({ length: 3 }, () => wakeUps[0]),
      )
      assert.equal(wakeUps[0]?.jobs, 2)
      await stores[0].claim(aClaim(instance.id))
    }
  })

  test('a wake-up is delivered once: a waiter that it did not select waits for the next', async () => {
    const path = freshFile()
    const [store, neighbour] = [await openStore(path), await openStore(path)]
    for (const enqueuing of [store, neighbour]) {
      const wakeUps = store.notifier.wait(waiting)
      await enqueuing.enqueue([aJob()])
      assert.equal((await wakeUps).length, 1)
      assert.deepEqual(await store.notifier.wait({ ...waiting, timeoutMs: 30 }), [])
    }
  })

  test('wakes for a follow-up of a dead job', async () => {
    let now = 0
    const store = await openStore(freshFile(), { clock: () => now })
    const instance = anInstance({ onDead: [KIND] })
    await store.queues.declare([{ name: ON_DEAD_QUEUE, settings: null }])
    await store.instances.register(instance)
    await store.enqueue([aJob()])
    const [lease] = await store.claim(aClaim(instance.id))
    assert.isDefined(lease)
    now = 3_600_000
    const wakeUps = store.notifier.wait({ ...waiting, queues: [ON_DEAD_QUEUE] })
    await store.instances.reap({ crashesUntilDead: 1, limit: 1 })
    assert.equal((await wakeUps)[0]?.jobs, 1)
  })

  test('wakes every waiter when an order queue advances and no job is ready', async () => {
    const path = freshFile()
    const [store, neighbour] = [await openStore(path), await openStore(path)]
    const instance = anInstance()
    await store.instances.register(instance)
    await store.enqueue([aJob({ orderKey: 'a' }), aJob({ orderKey: 'a' })])
    await store.stage(10)
    const [lease] = await store.claim(aClaim(instance.id))
    assert.isDefined(lease)
    await neighbour.notifier.wait({ ...waiting, timeoutMs: 1 })
    const waits = [store.notifier.wait(waiting), neighbour.notifier.wait(waiting)]
    await store.finish([{ id: lease.id, token: lease.token, ...done }])
    for (const wakeUps of await Promise.all(waits))
      assert.deepEqual([wakeUps.length, wakeUps[0]?.jobs], [1, null])
  })

  test('a released permit wakes the waiters of the queue, in this process and in others', async () => {
    const path = freshFile()
    const [store, neighbour] = [await openStore(path), await openStore(path)]
    await store.limits.declare([{ name: 'few', settings: { type: 'concurrency', most: 1 } }])
    await store.queues.declare([{ name: QUEUE, settings: { ...DEFAULT_QUEUE_SETTINGS, limit: 'few' } }])
    const instance = anInstance()
    await store.instances.register(instance)
    await store.enqueue(someJobs([{}, {}]))
    const [lease] = await store.claim(aClaim(instance.id))
    assert.isDefined(lease)
    assert.deepEqual(await store.claim(aClaim(instance.id)), [])
    // Long enough to have read the file: from now on only commits of other connections make it read again.
    await neighbour.notifier.wait({ ...waiting, timeoutMs: 1 })
    await neighbour.notifier.wait({ ...waiting, timeoutMs: 50 })
    const waits = [store.notifier.wait(waiting), neighbour.notifier.wait(waiting)]
    // This store has not used the queue before, and must find the name for its notification.
    await neighbour.finish([{ id: lease.id, token: lease.token, ...done }])
    // After the declaration, which changed the limit of the queue, and the enqueue.
    for (const wakeUps of await Promise.all(waits))
      assert.deepEqual(wakeUps, [{ queue: QUEUE, jobs: null, seed: 3, skip: 0, passes: false }])
  })

  test('does not wake for another queue, nor for jobs that are already claimed, and ends at its timeout', async () => {
    const path = freshFile()
    const store = await openStore(path)
    const neighbour = await openStore(path)
    const wakeUps = store.notifier.wait({ queues: ['other'], timeoutMs: 60 })
    await neighbour.enqueue([aJob()])
    assert.deepEqual(await wakeUps, [])
    const instance = anInstance()
    await neighbour.instances.register(instance)
    assert.equal((await neighbour.claim(aClaim(instance.id))).length, 1)
    assert.deepEqual(await store.notifier.wait({ queues: [QUEUE], timeoutMs: 30 }), [])
  })

  test('a job that arrives between an empty claim and the wait is not missed', async () => {
    const path = freshFile()
    const store = await openStore(path)
    const neighbour = await openStore(path)
    await neighbour.enqueue([aJob()])
    assert.equal((await store.notifier.wait(waiting))[0]?.jobs, 1)
    assert.deepEqual(await store.notifier.wait({ ...waiting, timeoutMs: 30 }), [])
    // A write of this process is not missed either.
    await store.enqueue([aJob()])
    assert.equal((await store.notifier.wait(waiting))[0]?.jobs, 1)
    // A job that arrives during a wait for another queue is not missed either.
    const other = store.notifier.wait({ queues: ['other'], timeoutMs: 5_000 })
    await neighbour.enqueue([aJob(), aJob({ queue: 'other' })])
    await other
    assert.equal((await store.notifier.wait(waiting))[0]?.jobs, 1)
  })

  test('a manual notification wakes every waiter, and forwarding one does nothing', async () => {
    const store = await openStore()
    const wakeUps = store.notifier.wait(waiting)
    store.notifier.forward({ queue: QUEUE, jobs: 1, seed: 1, skip: 1, passes: false })
    store.notifier.notify([QUEUE])
    assert.deepEqual(await wakeUps, [{ queue: QUEUE, jobs: null, seed: 0, skip: 0, passes: false }])
  })

  test('ends with its signal and with the store', async () => {
    const store = await openStore()
    const stop = new AbortController()
    const waits = [store.notifier.wait({ ...waiting, signal: stop.signal }), store.notifier.wait(waiting)]
    stop.abort()
    assert.deepEqual(await waits[0], [])
    await store.close()
    assert.deepEqual(await waits[1], [])
  })
})
