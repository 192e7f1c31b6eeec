/** Direct dispatch: how many jobs of a queue are leased, and what prevents it. */
import assert from 'node:assert/strict'
import { DEFAULT_QUEUE_SETTINGS } from 'jobmill/store'
import { aHandOff, aJob, KIND, QUEUE, rooms } from '../../factories.ts'
import { type Bench, DONE, HOUR, RELEASED, later } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { setQueue, pluck } from '../looks.ts'
import { placesOf } from './hand-off-helpers.ts'

/** Leaves one ready job that crashed twice. */
async function quarantined(t: Bench, kind: string): Promise<void> {
  await t.enqueue({ kind })
  for (let n = 0; n < 2; n += 1) {
    await t.claimOne(await t.worker(), { kinds: [kind] })
    await t.crash()
  }
}

/** Cancels all ready jobs, so that they do not block direct dispatch. */
async function clear({ store }: Bench): Promise<void> {
  const { jobs } = await store.list({ state: 'ready' }, { limit: 500 })
  await store.cancel(
    jobs.map(({ id }) => id),
    'out of the way',
  )
}

export const handOffRoomCases: readonly Case[] = [
  test('a queue gets as many as there is room for; one without room or not named gets none', async (t) => {
    const instance = await t.worker()
    const requests = ['a', 'b', 'c', 'a', 'b', 'c', 'a'].map((queue) => ({ queue }))
    const queues = rooms({ a: 2, b: 0 })
    assert.deepEqual(await placesOf(t, instance, requests, { queues }), [0, 3])
    assert.deepEqual(await placesOf(t, instance, [{ queue: 'd' }], { queues: [] }), [])
  }),
  test('the rooms of a queue that is named twice add up', async (t) => {
    const instance = await t.worker()
    const rooms = [1, 0, 2].map((room) => ({ queue: QUEUE, room }))
    assert.deepEqual(await placesOf(t, instance, [{}, {}, {}, {}], { queues: rooms }), [0, 1, 2])
    const none = [0, 0].map((room) => ({ queue: 'other', room }))
    assert.deepEqual(await placesOf(t, instance, [{ queue: 'other' }], { queues: none }), [])
  }),
  test('with too little room, the best priority goes first, then the order of the call', async (t) => {
    const instance = await t.worker()
    const requests = [2, 1, 0, 1, 2, 0, 1].map((priority) => ({ priority }))
    const queues = [{ queue: QUEUE, room: 4 }]
    assert.deepEqual(await placesOf(t, instance, requests, { queues }), [1, 2, 3, 5])
  }),
  test('jobs that are not dispatched directly use no room', async (t) => {
    const instance = await t.worker()
    const requests = [{ delay: HOUR }, { dedupe: { key: 'k' } }, { kind: 'foreign' }, { orderKey: 'o' }, {}]
    assert.deepEqual(await placesOf(t, instance, requests, { queues: [{ queue: QUEUE, room: 1 }] }), [4])
  }),
  test('a paused or cooling queue is dispatched nothing until it is open again', async (t) => {
    const instance = await t.worker()
    const settings = DEFAULT_QUEUE_SETTINGS
    await t.store.queues.declare([
      { name: 'paused', settings: { ...settings, paused: true } },
      { name: 'cools', settings },
      { name: 'open', settings },
    ])
    await t.store.queues.change('cools', { settings: {}, coolMs: 500 })
    const names = ['paused', 'cools', 'open', 'new']
    const queues = names.map((queue) => ({ queue, room: 5 }))
    const requests = names.map((queue) => ({ queue }))
    assert.deepEqual(await placesOf(t, instance, requests, { queues }), [2, 3])
    await setQueue(t.store, 'paused', { paused: false })
    t.clock.advance(499)
    await clear(t)
    assert.deepEqual(await placesOf(t, instance, requests, { queues }), [0, 2, 3])
    t.clock.advance(1)
    await clear(t)
    assert.deepEqual(await placesOf(t, instance, requests, { queues }), [0, 1, 2, 3])
  }),
  {
    name: 'P13 a queue with a limit is dispatched nothing, and nothing of the limit is spent',
    needs: ['limits'],
    async run(t) {
      const instance = await t.worker()
      const limits = [
        { name: 'rate', settings: { type: 'rate', amount: 10, perMs: 1_000, burst: 10 } },
        { name: 'permits', settings: { type: 'concurrency', most: 10 } },
      ] as const
      await t.store.limits.declare(limits)
      await t.store.queues.declare(
        limits.map(({ name }) => ({ name, settings: { ...DEFAULT_QUEUE_SETTINGS, limit: name } })),
      )
      const names = [...limits.map(({ name }) => name), 'free']
      const queues = names.map((queue) => ({ queue, room: 5 }))
      const requests = names.map((queue) => ({ queue }))
      assert.deepEqual(await placesOf(t, instance, requests, { queues }), [2])
      assert.deepEqual(pluck(await t.store.limits.list(), 'available'), [10, 10])
      await setQueue(t.store, 'rate', { limit: null })
      await clear(t)
      assert.deepEqual(await placesOf(t, instance, requests, { queues }), [0, 2])
    },
  },
  test('no job overtakes one that was ready before with the same or a better priority', async (t) => {
    const instance = await t.worker()
    await t.enqueue({ priority: 2 })
    assert.deepEqual(await placesOf(t, instance, [{ priority: 2 }, { priority: 1 }, { priority: 3 }]), [1])
    // By now there are two jobs of priority 2, and one of 3.
    assert.deepEqual(await placesOf(t, instance, [{ priority: 3 }, { priority: 2 }, { priority: -1 }]), [2])
    assert.deepEqual(await placesOf(t, instance, [{ priority: 1 }]), [0])
    const elsewhere = { queues: [{ queue: 'other', room: 1 }] }
    assert.deepEqual(await placesOf(t, instance, [{ queue: 'other', priority: 9 }], elsewhere), [0])
  }),
  test('ready jobs of any kind block direct dispatch: foreign kinds, and quarantined jobs', async (t) => {
    const instance = await t.worker({ leaseMs: 3 * HOUR })
    const foreign = await t.enqueue({ kind: 'foreign' })
    assert.deepEqual(await placesOf(t, instance, [{}]), [])
    await clear(t)
    await t.jobIs(foreign, { state: 'cancelled' })
    await quarantined(t, 'crashing')
    assert.deepEqual(await placesOf(t, instance, [{}, { priority: -1 }]), [1])
  }),
  test('scheduled jobs, jobs in an order queue, and running or ended jobs do not block direct dispatch', async (t) => {
    const instance = await t.worker()
    for (const state of ['scheduled', 'running', 'done', 'dead', 'cancelled'] as const) await t.jobIn(state)
    await t.enqueue({ orderKey: 'o' })
    assert.deepEqual(await placesOf(t, instance, [{}, {}]), [0, 1])
    const lease = await t.running({}, instance)
    await t.finish(lease, later(0))
    assert.deepEqual(await placesOf(t, instance, [{}]), [])
    await t.finish(await t.claimOne(instance, { kinds: [lease.kind] }), RELEASED)
    assert.deepEqual(await placesOf(t, instance, [{}]), [])
    for (const one of await t.claim(instance, { kinds: [lease.kind, KIND] })) await t.finish(one, DONE)
    assert.deepEqual(await placesOf(t, instance, [{}]), [0])
  }),
  test('only jobs that were ready before the call count, not its own jobs or what they replace', async (t) => {
    const instance = await t.worker()
    const requests = [{ priority: 5 }, { dedupe: { key: 'own' } }, { kind: 'foreign' }, { priority: 4 }]
    assert.deepEqual(await placesOf(t, instance, requests), [0, 3])
    await clear(t)
    const wakes = { key: 'later', onConflict: 'replace' } as const
    const held = await t.enqueue({ delay: HOUR, dedupe: wakes })
    const dueJobs = [aJob({ dedupe: wakes }), aJob({ priority: 5 })]
    const replies = await t.store.enqueue(dueJobs, { handOff: aHandOff(instance) })
    assert.deepEqual(replies[0], { id: held, outcome: 'replaced' })
    assert.deepEqual([(await t.job(held)).state, replies[1]?.lease?.id], ['ready', dueJobs[1]?.id])
    // The reverse: the blocking job was ready, and the same call delays it.
    const putOff = [aJob({ dedupe: wakes, delay: HOUR }), aJob({ priority: 5 })]
    const [first, second] = await t.store.enqueue(putOff, { handOff: aHandOff(instance) })
    assert.deepEqual([first?.outcome, (await t.job(held)).state], ['replaced', 'scheduled'])
    assert.equal(second?.lease, undefined)
  }),
  test('a large call is dispatched as far as there is room, in every queue separately', async (t) => {
    const instance = await t.worker()
    const requests = Array.from({ length: 600 }, (_, n) => ({ queue: `q${n % 3}`, priority: n % 5 }))
    const rooms = [40, 0, 150]
    const queues = rooms.map((room, n) => ({ queue: `q${n}`, room }))
    const expected = rooms.flatMap((room, q) =>
      requests
        .map(({ priority }, place) => ({ priority, place }))
        .filter(({ place }) => place % 3 === q)
        .toSorted((a, b) => a.priority - b.priority)
        .slice(0, room)
        .map(({ place }) => place),
    )
    assert.deepEqual(
      await placesOf(t, instance, requests, { queues }),
      expected.toSorted((a, b) => a - b),
    )
    assert.deepEqual(await t.store.enqueue([], { handOff: aHandOff(instance) }), [])
  }),
]
