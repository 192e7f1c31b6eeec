/** claim: which instance gets which jobs, in which order, and never twice. */
import assert from 'node:assert/strict'
import { aClaim, someJobs, rooms } from '../../factories.ts'
import { HOUR, RELEASED, later } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { setQueue, pluck, changesNothing } from '../looks.ts'

export const claimCases: readonly Case[] = [
  test('a lease has everything a handler needs', async ({ clock, worker, claimOne, enqueue, jobIs }) => {
    const id = await enqueue({
      payload: { a: 1 },
      priority: 2,
      maxAttempts: 7,
      timeout: 50,
      tags: ['t'],
      metadata: { m: 1 },
    })
    const enqueuedAt = clock.now()
    clock.advance(5)
    const instance = await worker()
    const { token, ...lease } = await claimOne(instance)
    assert.ok(Number.isSafeInteger(token))
    assert.deepEqual(lease, {
      id,
      kind: 'work',
      queue: 'default',
      priority: 2,
      attempt: 1,
      maxAttempts: 7,
      crashes: 0,
      payload: '{"a":1}',
      timeoutMs: 50,
      tags: ['t'],
      metadata: '{"m":1}',
      orderKey: null,
      enqueuedAt,
      readyAt: enqueuedAt,
      waitedMs: 5,
      instance,
    })
    await jobIs(id, { state: 'running', startedAt: clock.now(), instance, attempt: 1 })
  }),
  test('P2 the token is new and higher at every claim, over all handles', async (t) => {
    const { store, another, worker, claimOne, finish, enqueue } = t
    const other = await another()
    const [instance, second] = [await worker(), await worker()]
    await enqueue()
    let last = 0
    for (let round = 0; round < 6; round += 1) {
      const [from, by] = round % 2 === 0 ? [store, instance] : [other, second]
      const [lease] = await from.claim(aClaim(by))
      assert.ok(lease !== undefined && lease.token > last)
      last = lease.token
      await finish(lease, RELEASED)
    }
    assert.ok((await claimOne(instance)).token > last)
  }),
  test('best priority first, then the order of becoming ready, over all requested queues', async (t) => {
    const { store, worker, claim } = t
    const jobs = someJobs([
      { queue: 'a', priority: 1 },
      { queue: 'b', priority: 0 },
      { queue: 'a', priority: -1 },
      { queue: 'c', priority: 0 },
      { queue: 'a', priority: 0 },
      { queue: 'b', priority: -1 },
    ])
    await store.enqueue(jobs)
    const queues = ['a', 'b', 'c'].map((queue) => ({ queue, room: 10 }))
    const order = [2, 5, 1, 3, 4, 0].map((at) => jobs[at]?.id)
    const instance = await worker()
    const first = await claim(instance, { queues, limit: 4 })
    assert.deepEqual(pluck(first, 'id'), order.slice(0, 4))
    assert.deepEqual(pluck(await claim(instance, { queues }), 'id'), order.slice(4))
  }),
  test('no more than the room of each queue, and no more than the limit in total', async (t) => {
    const { store, worker, claim } = t
    await store.enqueue(someJobs(Array.from({ length: 30 }, (_, n) => ({ queue: `q${n % 3}` }))))
    const instance = await worker()
    const queues = rooms({ q0: 2, q1: 0, q2: 7 })
    const claimedFrom = (await claim(instance, { queues })).map(({ queue }) => queue)
    assert.equal(claimedFrom.filter((queue) => queue === 'q0').length, 2)
    assert.equal(claimedFrom.filter((queue) => queue === 'q2').length, 7)
    assert.equal(claimedFrom.length, 9)
    assert.equal((await claim(instance, { queues: [{ queue: 'q1', room: 9 }], limit: 4 })).length, 4)
  }),
  test('each queue fills its room with its own best jobs, even if another queue has better ones', async (t) => {
    const { store, worker, claim } = t
    const jobs = someJobs([
      { queue: 'a', priority: -1 },
      { queue: 'a', priority: -1 },
      { queue: 'b', priority: 5 },
      { queue: 'b', priority: 4 },
    ])
    await store.enqueue(jobs)
    const queues = rooms({ a: 1, b: 1 })
    assert.deepEqual(pluck(await claim(await worker(), { queues }), 'id'), [jobs[0]?.id, jobs[3]?.id])
  }),
  test('P14 a claim takes only the kinds it names, and leaves the others untouched', async (t) => {
    const { store, enqueue, worker, claim, job } = t
    const [mine, foreign] = [
      await enqueue({ kind: 'mine' }),
      await enqueue({ kind: 'foreign', priority: -5 }),
    ]
    const instance = await worker()
    const before = await job(foreign)
    assert.deepEqual(pluck(await claim(instance, { kinds: ['mine', 'unheard-of'] }), 'id'), [mine])
    assert.deepEqual(await job(foreign), before)
    assert.equal(before.attempt, 0)
    await changesNothing(store, async () => assert.deepEqual(await claim(instance, { kinds: [] }), []))
  }),
  test('P14 jobs of foreign kinds at the head of the queue do not hide those behind them', async (t) => {
    const { store, enqueue, worker, claim } = t
    await store.enqueue(someJobs(Array.from({ length: 700 }, () => ({ kind: 'foreign', priority: -1 }))))
    const mine = await enqueue()
    const instance = await worker()
    assert.deepEqual(pluck(await claim(instance), 'id'), [mine])
    const next = await enqueue({ priority: -2 })
    assert.deepEqual(pluck(await claim(instance), 'id'), [next])
    assert.equal((await claim(instance, { kinds: ['foreign'] })).length, 500)
  }),
  test('P7 P15 nothing is claimed from a paused queue, and it costs no write', async (t) => {
    const { store, enqueue, worker, claim } = t
    await enqueue()
    await enqueue({ queue: 'open' })
    await setQueue(store, 'default', { paused: true })
    const instance = await worker()
    assert.deepEqual(await changesNothing(store, () => claim(instance)), [])
    const queues = rooms({ default: 5, open: 5 })
    assert.deepEqual(pluck(await claim(instance, { queues }), 'queue'), ['open'])
    await setQueue(store, 'default', { paused: false })
    assert.equal((await claim(instance)).length, 1)
  }),
  test('nothing is claimed from a cooling queue until its cool-down ends', async (t) => {
    const { store, clock, enqueue, worker, claim } = t
    await enqueue()
    await store.queues.change('default', { settings: {}, coolMs: 1_000 })
    const instance = await worker()
    clock.advance(999)
    assert.deepEqual(await changesNothing(store, () => claim(instance)), [])
    clock.advance(1)
    assert.equal((await claim(instance)).length, 1)
  }),
  test('P15 an empty queue, an unknown queue and an unknown kind return nothing, and cost no write', async (t) => {
    const { store, enqueue, worker, claim } = t
    await enqueue({ delay: HOUR })
    const instance = await worker()
    await changesNothing(store, async () => {
      assert.deepEqual(await claim(instance), [])
      assert.deepEqual(await claim(instance, { queues: [{ queue: 'unheard-of', room: 5 }] }), [])
      assert.deepEqual(await claim(instance, { kinds: ['unheard-of'] }), [])
      assert.deepEqual(await claim(instance, { queues: [] }), [])
    })
  }),
  test('P4 P9 an instance that is unknown, expired, lost or stopped gets nothing', async (t) => {
    const { store, clock, enqueue, worker, claim, reap } = t
    await enqueue()
    const [lost, stopped] = [await worker({ leaseMs: 100 }), await worker()]
    await store.instances.deregister(stopped)
    clock.advance(101)
    const refused = async (instance: string): Promise<void> => {
      assert.deepEqual(await changesNothing(store, () => claim(instance)), [])
    }
    await refused('00000000-0000-7000-8000-000000000000')
    await refused(stopped)
    await refused(lost)
    await reap()
    await refused(lost)
    assert.equal((await claim(await worker())).length, 1)
  }),
  test('the attempt rises by one at every claim', async ({ worker, claimOne, enqueue, finish }) => {
    await enqueue()
    const instance = await worker()
    for (const attempt of [1, 2, 3]) {
      const lease = await claimOne(instance)
      assert.equal(lease.attempt, attempt)
      await finish(lease, later(0))
    }
  }),
]
