/** stage: due jobs become ready. claim: which instance gets which jobs, in which order, and never twice. */
import assert from 'node:assert/strict'
import { aClaim, HOUR, later, RELEASED, rooms, someJobs } from '../../factories.ts'
import { type Case, test } from '../case.ts'
import { hasFields, pluck, repeat, total } from '../looks.ts'

export const claimCases: readonly Case[] = [
  test('P9 a job is staged when it is due, and not a millisecond before', async (t) => {
    const id = await t.enqueue({ delay: 1_000 })
    t.clock.advance(999)
    const early = await t.changesNothing(() => t.store.stage(10))
    assert.deepEqual(early, { ready: 0, more: false, queues: [] })
    t.clock.advance(1)
    assert.deepEqual(await t.store.stage(10), { ready: 1, more: false, queues: ['default'] })
    await t.jobIs(id, { state: 'ready', dueAt: null })
  }),
  test('stage takes the oldest due first, then by id, and reports when there may be more', async (t) => {
    const ids = Array.from({ length: 5 }, (_, n) => `00000000-0000-7000-8000-00000000000${n}`)
    // Due in this order: 3, then 1 and 4 together, then 0, then 2.
    const delays = [30, 20, 40, 10, 20]
    await t.store.enqueue(someJobs(ids.map((id, n) => ({ id, delay: delays[n] ?? 0 })).toReversed()))
    t.clock.advance(100)
    assert.deepEqual(await t.store.stage(2), { ready: 2, more: true, queues: ['default'] })
    const instance = await t.worker()
    assert.deepEqual(await t.claimIds(instance), [ids[3], ids[1]])
    assert.deepEqual(await t.store.stage(10), { ready: 3, more: false, queues: ['default'] })
    const rest = await t.claim(instance)
    assert.deepEqual(pluck(rest, 'id'), [ids[4], ids[0], ids[2]])
    assert.equal(rest[0]?.readyAt, t.clock.now())
  }),
  test('a staged job comes after those that were ready before', async (t) => {
    const delayed = await t.enqueue({ delay: 10 })
    t.clock.advance(50)
    const ready = await t.enqueue()
    await t.store.stage(10)
    const after = await t.enqueue()
    assert.deepEqual(await t.claimIds(await t.worker()), [ready, delayed, after])
  }),
  test('stage counts the first jobs of order queues too, at most the limit, and names the queues', async (t) => {
    await t.enqueue({ queue: 'a', orderKey: 'x' })
    await t.enqueue({ queue: 'a', orderKey: 'y' })
    await t.enqueue({ queue: 'b', orderKey: 'x' })
    await t.enqueue({ queue: 'c', delay: 10 })
    await t.enqueue({ queue: 'never', delay: HOUR })
    t.clock.advance(10)
    const [first, second] = [await t.store.stage(2), await t.store.stage(2)]
    hasFields(first, { ready: 3, more: true })
    hasFields(second, { ready: 1, more: false })
    assert.deepEqual([...new Set([...first.queues, ...second.queues])].toSorted(), ['a', 'b', 'c'])
    assert.equal((await t.store.stage(2)).ready, 0)
  }),
  test('a due job with an order key joins its order queue and may get the order lock in the same pass', async (t) => {
    const first = await t.enqueue({ orderKey: 'o', delay: 10 })
    const second = await t.enqueue({ orderKey: 'o', delay: 20 })
    t.clock.advance(20)
    assert.deepEqual(await t.store.stage(10), { ready: 1, more: false, queues: ['default'] })
    await t.jobIs(first, { state: 'ready' })
    await t.jobIs(second, { state: 'scheduled', waitsForOrder: true })
  }),
  test('P3 concurrent stages from several handles make each job ready once', async (t) => {
    const stores = await t.handles(3)
    await t.store.enqueue(someJobs(Array.from({ length: 90 }, (_, n) => ({ delay: 1 + n }))))
    t.clock.advance(100)
    let ready = 0
    for (let pass = 0; pass < 10 && ready < 90; pass += 1) {
      const staged = await Promise.all(stores.map((each) => each.stage(40)))
      ready += total(pluck(staged, 'ready'))
    }
    assert.equal(ready, 90)
    await t.countsAre({ ready: 90 })
    assert.equal(new Set(await t.claimIds(await t.worker())).size, 90)
  }),
  test('stage works for a paused queue: only claims stop', async (t) => {
    const id = await t.enqueue({ delay: 10 })
    await t.setQueue('default', { paused: true })
    t.clock.advance(10)
    assert.equal((await t.store.stage(10)).ready, 1)
    await t.jobIs(id, { state: 'ready' })
  }),
  test('a lease has everything a handler needs', async (t) => {
    const common = { priority: 2, maxAttempts: 7, tags: ['t'] }
    const id = await t.enqueue({ ...common, payload: { a: 1 }, timeout: 50, metadata: { m: 1 } })
    const enqueuedAt = t.clock.now()
    t.clock.advance(5)
    const instance = await t.worker()
    const { token, ...lease } = await t.claimOne(instance)
    assert.ok(Number.isSafeInteger(token))
    const names = { id, kind: 'work', queue: 'default', orderKey: null, group: null, instance }
    const data = { payload: '{"a":1}', timeoutMs: 50, metadata: '{"m":1}', attempt: 1, crashes: 0 }
    const times = { enqueuedAt, readyAt: enqueuedAt, waitedMs: 5 }
    assert.deepEqual(lease, { ...names, ...common, ...data, ...times })
    await t.jobIs(id, { state: 'running', startedAt: t.clock.now(), instance, attempt: 1 })
  }),
  test('P2 the token is new and higher at every claim, over all handles', async (t) => {
    const other = await t.another()
    const [instance, second] = [await t.worker(), await t.worker()]
    await t.enqueue()
    let last = 0
    for (let round = 0; round < 6; round += 1) {
      const [from, by] = round % 2 === 0 ? [t.store, instance] : [other, second]
      const [lease] = await from.claim(aClaim(by))
      assert.ok(lease !== undefined && lease.token > last)
      last = lease.token
      await t.finish(lease, RELEASED)
    }
    assert.ok((await t.claimOne(instance)).token > last)
  }),
  test('best priority first, then the order of becoming ready, over all requested queues', async (t) => {
    const jobs = someJobs([
      { queue: 'a', priority: 1 },
      { queue: 'b', priority: 0 },
      { queue: 'a', priority: -1 },
      { queue: 'c', priority: 0 },
      { queue: 'a', priority: 0 },
      { queue: 'b', priority: -1 },
    ])
    await t.store.enqueue(jobs)
    const queues = rooms({ a: 10, b: 10, c: 10 })
    const order = [2, 5, 1, 3, 4, 0].map((at) => jobs[at]?.id)
    const instance = await t.worker()
    assert.deepEqual(await t.claimIds(instance, { queues, limit: 4 }), order.slice(0, 4))
    assert.deepEqual(await t.claimIds(instance, { queues }), order.slice(4))
  }),
  test('no more than the room of each queue, and no more than the limit in total', async (t) => {
    await t.store.enqueue(someJobs(Array.from({ length: 30 }, (_, n) => ({ queue: `q${n % 3}` }))))
    const instance = await t.worker()
    const leases = await t.claim(instance, { queues: rooms({ q0: 2, q1: 0, q2: 7 }) })
    assert.deepEqual(pluck(leases, 'queue').toSorted(), [...repeat('q0', 2), ...repeat('q2', 7)])
    assert.equal((await t.claim(instance, { queues: rooms({ q1: 9 }), limit: 4 })).length, 4)
  }),
  test('each queue fills its room with its own best jobs, even if another queue has better ones', async (t) => {
    const first = await t.enqueue({ queue: 'a', priority: -1 })
    await t.enqueue({ queue: 'a', priority: -1 })
    await t.enqueue({ queue: 'b', priority: 5 })
    const last = await t.enqueue({ queue: 'b', priority: 4 })
    assert.deepEqual(await t.claimIds(await t.worker(), { queues: rooms({ a: 1, b: 1 }) }), [first, last])
  }),
  test('P14 a claim takes only the kinds it names, and leaves the others untouched', async (t) => {
    const mine = await t.enqueue({ kind: 'mine' })
    const foreign = await t.enqueue({ kind: 'foreign', priority: -5 })
    const instance = await t.worker()
    const before = await t.job(foreign)
    assert.deepEqual(await t.claimIds(instance, { kinds: ['mine', 'unheard-of'] }), [mine])
    assert.deepEqual(await t.job(foreign), before)
    assert.equal(before.attempt, 0)
    await t.changesNothing(async () => assert.deepEqual(await t.claim(instance, { kinds: [] }), []))
  }),
  test('P14 jobs of foreign kinds at the head of the queue do not hide those behind them', async (t) => {
    await t.store.enqueue(someJobs(repeat({ kind: 'foreign', priority: -1 }, 700)))
    const mine = await t.enqueue()
    const instance = await t.worker()
    assert.deepEqual(await t.claimIds(instance), [mine])
    const next = await t.enqueue({ priority: -2 })
    assert.deepEqual(await t.claimIds(instance), [next])
    assert.equal((await t.claim(instance, { kinds: ['foreign'] })).length, 500)
  }),
  test('P7 P15 nothing is claimed from a paused queue, and it costs no write', async (t) => {
    await t.enqueue()
    await t.enqueue({ queue: 'open' })
    await t.setQueue('default', { paused: true })
    const instance = await t.worker()
    assert.deepEqual(await t.changesNothing(() => t.claim(instance)), [])
    const queues = rooms({ default: 5, open: 5 })
    assert.deepEqual(pluck(await t.claim(instance, { queues }), 'queue'), ['open'])
    await t.setQueue('default', { paused: false })
    assert.equal((await t.claim(instance)).length, 1)
  }),
  test('nothing is claimed from a cooling queue until its cool-down ends', async (t) => {
    await t.enqueue()
    await t.store.queues.change('default', { settings: {}, coolMs: 1_000 })
    const instance = await t.worker()
    t.clock.advance(999)
    assert.deepEqual(await t.changesNothing(() => t.claim(instance)), [])
    t.clock.advance(1)
    assert.equal((await t.claim(instance)).length, 1)
  }),
  test('P15 an empty queue, an unknown queue and an unknown kind return nothing, and cost no write', async (t) => {
    await t.enqueue({ delay: HOUR })
    const instance = await t.worker()
    const none = [{}, { queues: rooms({ 'unheard-of': 5 }) }, { kinds: ['unheard-of'] }, { queues: [] }]
    await t.changesNothing(async () => {
      for (const request of none) assert.deepEqual(await t.claim(instance, request), [])
    })
  }),
  test('P4 P9 an instance that is unknown, expired, lost or stopped gets nothing', async (t) => {
    await t.enqueue()
    const ended = await t.endedInstances()
    const expired = await t.worker({ leaseMs: 100 })
    t.clock.advance(101)
    for (const instance of [...ended, expired])
      assert.deepEqual(await t.changesNothing(() => t.claim(instance)), [])
    assert.equal((await t.claim(await t.worker())).length, 1)
  }),
  test('the attempt rises by one at every claim', async (t) => {
    await t.enqueue()
    const instance = await t.worker()
    for (const attempt of [1, 2, 3]) {
      const lease = await t.claimOne(instance)
      assert.equal(lease.attempt, attempt)
      await t.finish(lease, later(0))
    }
  }),
]
