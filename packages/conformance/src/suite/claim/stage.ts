/** stage: due jobs become ready, in bounded passes. */
import assert from 'node:assert/strict'
import { someJobs } from '../../factories.ts'
import { HOUR } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { setQueue, pluck, changesNothing, countsOf } from '../looks.ts'

export const stageCases: readonly Case[] = [
  test('P9 a job is staged when it is due, and not a millisecond before', async (t) => {
    const { store, clock, enqueue, jobIs } = t
    const id = await enqueue({ delay: 1_000 })
    clock.advance(999)
    assert.deepEqual(await changesNothing(store, () => store.stage(10)), {
      ready: 0,
      more: false,
      queues: [],
    })
    clock.advance(1)
    assert.deepEqual(await store.stage(10), { ready: 1, more: false, queues: ['default'] })
    await jobIs(id, { state: 'ready', dueAt: null })
  }),
  test('stage takes the oldest due first, then by id, and reports when there may be more', async (t) => {
    const { store, clock, claim, worker } = t
    const ids = Array.from({ length: 5 }, (_, n) => `00000000-0000-7000-8000-00000000000${n}`)
    // Due in this order: 3, then 1 and 4 together, then 0, then 2.
    const delays = [30, 20, 40, 10, 20]
    await store.enqueue(someJobs(ids.map((id, n) => ({ id, delay: delays[n] ?? 0 })).toReversed()))
    clock.advance(100)
    assert.deepEqual(await store.stage(2), { ready: 2, more: true, queues: ['default'] })
    const instance = await worker()
    const first = await claim(instance)
    assert.deepEqual(pluck(first, 'id'), [ids[3], ids[1]])
    assert.deepEqual(await store.stage(10), { ready: 3, more: false, queues: ['default'] })
    const rest = await claim(instance)
    assert.deepEqual(pluck(rest, 'id'), [ids[4], ids[0], ids[2]])
    assert.equal(rest[0]?.readyAt, clock.now())
  }),
  test('a staged job comes after those that were ready before', async (t) => {
    const { store, clock, enqueue, claim, worker } = t
    const delayed = await enqueue({ delay: 10 })
    clock.advance(50)
    const ready = await enqueue()
    await store.stage(10)
    const after = await enqueue()
    assert.deepEqual(pluck(await claim(await worker()), 'id'), [ready, delayed, after])
  }),
  test('stage counts the first jobs of order queues too, at most the limit, and names the queues', async (t) => {
    const { store, clock, enqueue } = t
    for (const [queue, orderKey] of [
      ['a', 'x'],
      ['a', 'y'],
      ['b', 'x'],
    ] as const)
      await enqueue({ queue, orderKey })
    await enqueue({ queue: 'c', delay: 10 })
    await enqueue({ queue: 'never', delay: HOUR })
    clock.advance(10)
    const first = await store.stage(2)
    assert.deepEqual([first.ready, first.more], [3, true])
    const second = await store.stage(2)
    assert.deepEqual([second.ready, second.more], [1, false])
    assert.deepEqual([...new Set([...first.queues, ...second.queues])].toSorted(), ['a', 'b', 'c'])
    assert.equal((await store.stage(2)).ready, 0)
  }),
  test('a due job with an order key joins its order queue and may get the order lock in the same pass', async (t) => {
    const { store, clock, enqueue, jobIs } = t
    const [first, second] = [
      await enqueue({ orderKey: 'o', delay: 10 }),
      await enqueue({ orderKey: 'o', delay: 20 }),
    ]
    clock.advance(20)
    assert.deepEqual(await store.stage(10), { ready: 1, more: false, queues: ['default'] })
    await jobIs(first, { state: 'ready' })
    await jobIs(second, { state: 'scheduled', waitsForOrder: true })
  }),
  test('P3 concurrent stages from several handles make each job ready once', async (t) => {
    const { store, another, clock, claim, worker } = t
    const stores = [store, await another(), await another()]
    await store.enqueue(someJobs(Array.from({ length: 90 }, (_, n) => ({ delay: 1 + n }))))
    clock.advance(100)
    let ready = 0
    for (let pass = 0; pass < 10 && ready < 90; pass += 1) {
      const staged = await Promise.all(stores.map((each) => each.stage(40)))
      ready += staged.reduce((sum, one) => sum + one.ready, 0)
    }
    assert.equal(ready, 90)
    assert.deepEqual(await countsOf(store), { ready: 90 })
    const leases = await claim(await worker())
    assert.equal(new Set(leases.map(({ id }) => id)).size, 90)
  }),
  test('stage works for a paused queue: only claims stop', async ({ store, clock, enqueue, jobIs }) => {
    const id = await enqueue({ delay: 10 })
    await setQueue(store, 'default', { paused: true })
    clock.advance(10)
    assert.equal((await store.stage(10)).ready, 1)
    await jobIs(id, { state: 'ready' })
  }),
]
