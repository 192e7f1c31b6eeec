/** Direct dispatch: jobs are leased on insert to the instance that enqueues them, as far as there is room. */
import assert from 'node:assert/strict'
import {
  aDirectDispatch,
  aJob,
  DONE,
  HOUR,
  KIND,
  later,
  only,
  QUEUE,
  RELEASED,
  rooms,
} from '../../factories.ts'
import type { Bench } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { declare, permits, TEN } from '../limits/limit-helpers.ts'
import { enqueued, pluck } from '../looks.ts'
import { directDispatch, placesOf } from './direct-dispatch-helpers.ts'

/** Cancels all ready jobs, so that they do not block direct dispatch. */
async function clear(t: Bench): Promise<void> {
  await t.store.cancel(await t.idsOf({ state: 'ready' }), 'out of the way')
}

export const directDispatchCases: readonly Case[] = [
  test('P2 a directly dispatched job is running, under a lease like that of a claim', async (t) => {
    const request = { payload: { a: 1 }, priority: 3, tags: ['t'], timeout: 500, maxAttempts: 7 }
    const { ids, leases } = await directDispatch(t, [{ ...request, metadata: { m: 1 } }])
    const { id, token, ...lease } = only(leases)
    assert.deepEqual([id, Number.isSafeInteger(token)], [ids[0], true])
    const now = t.clock.now()
    const times = { enqueuedAt: now, readyAt: now, waitedMs: 0 }
    const common = { kind: KIND, queue: QUEUE, priority: 3, attempt: 1, maxAttempts: 7, crashes: 0 }
    const rest = {
      payload: '{"a":1}',
      timeoutMs: 500,
      tags: ['t'],
      metadata: '{"m":1}',
      orderKey: null,
      group: null,
    }
    assert.deepEqual(lease, { ...common, ...rest, ...times })
    await t.jobIs(id, { state: 'running', attempt: 1, startedAt: now, dueAt: null, endedAt: null })
    assert.deepEqual(await t.claim(await t.worker()), [])
  }),
  test('P2 the leases of one call share a token that is higher than all before', async (t) => {
    const requests = [{}, { queue: 'other' }, { priority: -1 }]
    const offer = { instance: await t.worker(), queues: rooms({ [QUEUE]: 9, other: 9 }) }
    let last = (await t.running({}, offer.instance)).token
    for (let round = 0; round < 3; round += 1) {
      const { leases } = await directDispatch(t, requests, offer)
      const [token = 0, ...others] = new Set(pluck(leases, 'token'))
      assert.deepEqual([leases.length, others], [3, []])
      assert.ok(token > last)
      last = (await t.running({}, offer.instance)).token
      assert.ok(last > token)
    }
  }),
  test('P4 P9 an instance that is unknown, expired, lost or stopped is dispatched nothing', async (t) => {
    const [expires, stops] = [await t.worker({ leaseMs: 1_000 }), await t.worker({ leaseMs: HOUR })]
    // Each call uses its own queue, because a leftover ready job would block the next one.
    let n = 0
    const many = async (instance: string): Promise<number> => {
      n += 1
      const queue = `q${n}`
      return (await placesOf(t, [{ queue }], { instance, queues: rooms({ [queue]: 1 }) })).length
    }
    assert.equal(await many(aJob().id), 0)
    t.clock.advance(999)
    assert.equal(await many(expires), 1)
    t.clock.advance(1)
    assert.equal(await many(expires), 0)
    await t.reap()
    assert.equal(await many(expires), 0)
    assert.equal(await many(stops), 1)
    await t.store.instances.deregister(stops)
    assert.equal(await many(stops), 0)
  }),
  test('P14 only jobs of the named kinds are dispatched directly', async (t) => {
    const instance = await t.worker({ kinds: ['a', 'b', 'c'] })
    const requests = ['a', 'b', 'c', 'a'].map((kind) => ({ kind }))
    assert.deepEqual(await placesOf(t, requests, { kinds: ['a', 'c'] }), [0, 2, 3])
    await t.claim(instance, { kinds: ['b'] })
    assert.deepEqual(await placesOf(t, requests, { kinds: [] }), [])
  }),
  test('P9 jobs that are due now are dispatched: without a delay, or at an instant that has passed', async (t) => {
    const now = t.clock.now()
    const instants = [now, now - HOUR, now + 1].map((runAt) => ({ runAt }))
    const requests = [...instants, { delay: 1 }, { delay: 0 }, {}]
    assert.deepEqual(await placesOf(t, requests), [0, 1, 4, 5])
    await t.countsAre({ running: 4, scheduled: 2 })
  }),
  test('jobs with a dedupe key or an order key are enqueued as usual, without direct dispatch', async (t) => {
    const requests = [{ dedupe: { key: 'k' } }, {}, { orderKey: 'o' }, { dedupe: { key: 'l' } }]
    const { ids, places, instance } = await directDispatch(t, requests)
    assert.deepEqual(places, [1])
    await t.countsAre({ running: 1, ready: 2, scheduled: 1 })
    const again = aJob({ dedupe: { key: 'k' } })
    const reply = await t.store.enqueue([again], { directDispatch: aDirectDispatch(instance) })
    assert.deepEqual(reply, [{ id: ids[0], outcome: 'duplicate' }])
    assert.equal((await t.store.stage(10)).ready, 1)
  }),
  {
    name: 'P10 nothing is dispatched directly in a transaction of the user',
    needs: ['transactions'],
    async run(t) {
      const instance = await t.worker()
      const [one, two] = [aJob(), aJob()]
      const reply = await t.transaction(
        (tx) => t.store.enqueue([one, two], { tx, directDispatch: aDirectDispatch(instance) }),
        'commit',
      )
      assert.deepEqual(reply, enqueued(pluck([one, two], 'id')))
      await t.countsAre({ ready: 2 })
    },
  },
  test('P11 a call that may repeat another dispatches nothing, neither new nor running jobs', async (t) => {
    const instance = await t.worker()
    const [first, second] = [aJob(), aJob()]
    const options = { directDispatch: aDirectDispatch(instance) }
    const [reply] = await t.store.enqueue([first], options)
    assert.equal(reply?.lease?.id, first.id)
    const again = await t.store.enqueue([first, second], { ...options, mayRepeat: true })
    assert.deepEqual(again, enqueued(pluck([first, second], 'id')))
    await t.countsAre({ running: 1, ready: 1 })
    // An instance that lost the reply learns which jobs it holds.
    const held = { id: first.id, token: reply?.lease?.token, ageMs: 0 }
    assert.deepEqual(await t.store.instances.held(instance), [held])
    const mayNotRepeat = { ...options, mayRepeat: false }
    assert.equal(only(await t.store.enqueue([aJob()], mayNotRepeat)).lease, undefined)
    await t.claim(instance)
    const fourth = aJob()
    assert.equal(only(await t.store.enqueue([fourth], mayNotRepeat)).lease?.id, fourth.id)
  }),
  test('a queue gets as many as there is room for; one without room or not named gets none', async (t) => {
    const requests = ['a', 'b', 'c', 'a', 'b', 'c', 'a'].map((queue) => ({ queue }))
    const queues = rooms({ a: 2, b: 0 })
    assert.deepEqual(await placesOf(t, requests, { queues }), [0, 3])
    assert.deepEqual(await placesOf(t, [{ queue: 'd' }], { queues: [] }), [])
  }),
  test('the rooms of a queue that is named twice add up', async (t) => {
    const rooms = [1, 0, 2].map((room) => ({ queue: QUEUE, room }))
    assert.deepEqual(await placesOf(t, [{}, {}, {}, {}], { queues: rooms }), [0, 1, 2])
    const none = [0, 0].map((room) => ({ queue: 'other', room }))
    assert.deepEqual(await placesOf(t, [{ queue: 'other' }], { queues: none }), [])
  }),
  test('with too little room, the best priority goes first, then the order of the call', async (t) => {
    const requests = [2, 1, 0, 1, 2, 0, 1].map((priority) => ({ priority }))
    assert.deepEqual(await placesOf(t, requests, { queues: rooms({ [QUEUE]: 4 }) }), [1, 2, 3, 5])
  }),
  test('jobs that are not dispatched directly use no room', async (t) => {
    const requests = [{ delay: HOUR }, { dedupe: { key: 'k' } }, { kind: 'foreign' }, { orderKey: 'o' }, {}]
    assert.deepEqual(await placesOf(t, requests, { queues: rooms({ [QUEUE]: 1 }) }), [4])
  }),
  test('a paused or cooling queue is dispatched nothing until it is open again', async (t) => {
    const others = ['cools', 'open'].map((name) => ({ name, settings: {} }))
    await t.store.queues.declare([{ name: 'paused', settings: { paused: true } }, ...others])
    await t.store.queues.change('cools', { settings: {}, coolMs: 500 })
    const names = ['paused', 'cools', 'open', 'new']
    const queues = names.map((queue) => ({ queue, room: 5 }))
    const requests = names.map((queue) => ({ queue }))
    assert.deepEqual(await placesOf(t, requests, { queues }), [2, 3])
    await t.setQueue('paused', { paused: false })
    t.clock.advance(499)
    await clear(t)
    assert.deepEqual(await placesOf(t, requests, { queues }), [0, 2, 3])
    t.clock.advance(1)
    await clear(t)
    assert.deepEqual(await placesOf(t, requests, { queues }), [0, 1, 2, 3])
  }),
  {
    name: 'P13 a queue with a limit is dispatched nothing, and nothing of the limit is spent',
    needs: ['limits'],
    async run(t) {
      const names = ['rate', 'permits', 'free']
      await declare(t.store, { ...TEN, burst: 10 }, 'rate')
      await declare(t.store, permits(10), 'permits')
      await t.store.queues.declare(names.slice(0, 2).map((name) => ({ name, settings: { limit: name } })))
      const queues = names.map((queue) => ({ queue, room: 5 }))
      const requests = names.map((queue) => ({ queue }))
      assert.deepEqual(await placesOf(t, requests, { queues }), [2])
      assert.deepEqual(pluck(await t.store.limits.list(), 'available'), [10, 10])
      await t.setQueue('rate', { limit: null })
      await clear(t)
      assert.deepEqual(await placesOf(t, requests, { queues }), [0, 2])
    },
  },
  test('no job overtakes one that was ready before with the same or a better priority', async (t) => {
    await t.enqueue({ priority: 2 })
    assert.deepEqual(await placesOf(t, [{ priority: 2 }, { priority: 1 }, { priority: 3 }]), [1])
    // By now there are two jobs of priority 2, and one of 3.
    assert.deepEqual(await placesOf(t, [{ priority: 3 }, { priority: 2 }, { priority: -1 }]), [2])
    assert.deepEqual(await placesOf(t, [{ priority: 1 }]), [0])
    const elsewhere = { queues: rooms({ other: 1 }) }
    assert.deepEqual(await placesOf(t, [{ queue: 'other', priority: 9 }], elsewhere), [0])
  }),
  test('ready jobs of any kind block direct dispatch: foreign kinds, and quarantined jobs', async (t) => {
    const foreign = await t.enqueue({ kind: 'foreign' })
    assert.deepEqual(await placesOf(t), [])
    await clear(t)
    await t.jobIs(foreign, { state: 'cancelled' })
    await t.enqueue({ kind: 'crashing' })
    await t.crashTimes('crashing', 2)
    assert.deepEqual(await placesOf(t, [{}, { priority: -1 }]), [1])
  }),
  test('scheduled jobs, jobs in an order queue, and running or ended jobs do not block direct dispatch', async (t) => {
    for (const state of ['scheduled', 'running', 'done', 'dead', 'cancelled'] as const) await t.jobIn(state)
    await t.enqueue({ orderKey: 'o' })
    assert.deepEqual(await placesOf(t, [{}, {}]), [0, 1])
    const lease = await t.running()
    await t.finish(lease, later(0))
    assert.deepEqual(await placesOf(t), [])
    await t.finish(await t.claimAgain(lease), RELEASED)
    assert.deepEqual(await placesOf(t), [])
    for (const one of await t.claim(await t.worker(), { kinds: [lease.kind, KIND] }))
      await t.finish(one, DONE)
    assert.deepEqual(await placesOf(t), [0])
  }),
  test('only jobs that were ready before the call count, not its own jobs', async (t) => {
    const requests = [{ priority: 5 }, { dedupe: { key: 'own' } }, { kind: 'foreign' }, { priority: 4 }]
    assert.deepEqual(await placesOf(t, requests), [0, 3])
  }),
  test('a call in which a job may replace another one, or a key occurs twice, is inserted normally', async (t) => {
    const instance = await t.worker()
    const wakes = { key: 'later', onConflict: 'replace' } as const
    const held = await t.enqueue({ delay: HOUR, dedupe: wakes })
    const options = { directDispatch: aDirectDispatch(instance) }
    const [waking, other] = [aJob({ dedupe: wakes }), aJob({ priority: 5 })]
    assert.deepEqual(await t.store.enqueue([waking, other], options), [
      { id: held, outcome: 'replaced' },
      { id: other.id, outcome: 'enqueued' },
    ])
    await clear(t)
    const [first, second, third] = [
      aJob({ dedupe: { key: 'twice' } }),
      aJob({ dedupe: { key: 'twice' } }),
      aJob(),
    ]
    assert.deepEqual(await t.store.enqueue([first, second, third], options), [
      { id: first.id, outcome: 'enqueued' },
      { id: first.id, outcome: 'duplicate' },
      { id: third.id, outcome: 'enqueued' },
    ])
  }),
  test('a large call is dispatched as far as there is room, in every queue separately', async (t) => {
    const instance = await t.worker()
    const requests = Array.from({ length: 600 }, (_, n) => ({ queue: `q${n % 3}`, priority: n % 5 }))
    const queues = rooms({ q0: 40, q1: 0, q2: 150 })
    const best = requests
      .map((request, place) => ({ ...request, place }))
      .toSorted((a, b) => a.priority - b.priority)
    const expected = queues.flatMap(({ queue, room }) =>
      best.filter((one) => one.queue === queue).slice(0, room),
    )
    const places = pluck(expected, 'place').toSorted((a, b) => a - b)
    assert.deepEqual(await placesOf(t, requests, { queues }), places)
    assert.deepEqual(await t.store.enqueue([], { directDispatch: aDirectDispatch(instance) }), [])
  }),
]
