/** Queues: settings at creation, changes by an operator, pauses and cool-downs. */
import assert from 'node:assert/strict'
import { DEFAULT_QUEUE_SETTINGS, type QueueRecord, type QueueSettings } from 'jobmill/store'
import { DONE } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { setQueue, pluck, changesNothing, rejectsWith } from '../looks.ts'

const changes = {
  workers: 4,
  paused: true,
  backoffEnabled: false,
  backoffBaseMs: 1,
  backoffMaxMs: 2,
  retainDoneMs: null,
  retainCancelledMs: 3,
  retainDeadMs: 4,
  keepDone: 5,
  keepCancelled: 0,
  keepDead: 7,
  limit: null,
}

export const queueCases: readonly Case[] = [
  test('a declared queue has the settings it was declared with', async ({ store }) => {
    await store.queues.declare([
      { name: 'a', settings: changes },
      { name: 'b', settings: DEFAULT_QUEUE_SETTINGS },
    ])
    const queues = (await store.queues.list()).toSorted((a, b) => (a.name < b.name ? -1 : 1))
    assert.deepEqual(queues, [
      { name: 'a', ...changes, coolingMs: 0, throttles: 0 },
      { name: 'b', ...DEFAULT_QUEUE_SETTINGS, coolingMs: 0, throttles: 0 },
    ])
    assert.deepEqual(pluck(await store.counts(), 'queue'), ['a', 'b'])
  }),
  {
    name: 'P13 a queue that had a job before its limit was declared uses that limit from then on',
    needs: ['limits'],
    async run({ store, enqueue, worker, claim }) {
      for (let n = 0; n < 3; n += 1) await enqueue({ queue: 'narrow' })
      await store.limits.declare([{ name: 'two', settings: { type: 'concurrency', most: 2 } }])
      await store.queues.declare([{ name: 'narrow', settings: { ...DEFAULT_QUEUE_SETTINGS, limit: 'two' } }])
      const leases = await claim(await worker(), { queues: [{ queue: 'narrow', room: 10 }], limit: 10 })
      assert.equal(leases.length, 2)
    },
  },
  test('concurrent declarations from several handles make one queue, with the settings of one of them', async (t) => {
    const { store, another } = t
    const stores = [store, await another(), await another()]
    const settings = [1, 2, 3].map((workers) => ({ ...DEFAULT_QUEUE_SETTINGS, workers }))
    await Promise.all(
      stores.map((each, n) =>
        each.queues.declare(['a', 'b'].map((name) => ({ name, settings: settings[n] ?? changes }))),
      ),
    )
    const queues = await store.queues.list()
    assert.deepEqual(queues.map(({ name }) => name).toSorted(), ['a', 'b'])
    assert.ok(queues.every(({ workers }) => [1, 2, 3].includes(workers ?? 0)))
  }),
  test('a change affects the given options, is visible to every handle, and is returned', async (t) => {
    const { store, another, enqueue } = t
    await enqueue()
    await enqueue({ queue: 'other' })
    const before = await store.queues.list()
    const changed = await setQueue(store, 'default', { workers: 0, retainDeadMs: 7 })
    const expected = { name: 'default', ...DEFAULT_QUEUE_SETTINGS, workers: 0, retainDeadMs: 7 }
    assert.deepEqual(changed, { ...expected, coolingMs: 0, throttles: 0 })
    const records = await (await another()).queues.list()
    assert.deepEqual(
      records.find(({ name }) => name === 'default'),
      changed,
    )
    assert.deepEqual(
      records.find(({ name }) => name === 'other'),
      before.find(({ name }) => name === 'other'),
    )
    const back = await setQueue(store, 'default', { workers: null, retainDeadMs: null })
    assert.deepEqual([back.workers, back.retainDeadMs], [null, null])
    for (const [key, value] of Object.entries(changes)) {
      const one = await setQueue(store, 'default', { [key]: value })
      assert.equal(Object.entries(one).find(([name]) => name === key)?.[1], value)
    }
  }),
  test('a change to a backoff base above the live max is rejected, and changes nothing', async (t) => {
    const { store } = t
    const code = { backoffBaseMs: 20, backoffMaxMs: 40 }
    await store.queues.declare([{ name: 'mail', settings: code }])
    const change = (settings: Partial<QueueSettings>): Promise<QueueRecord> =>
      setQueue(store, 'mail', settings)
    const before = await store.queues.list()
    await rejectsWith('OPTION_CONFLICT', () => change({ backoffBaseMs: 41, workers: 3 }))
    await rejectsWith('OPTION_CONFLICT', () => change({ backoffMaxMs: 19 }))
    await rejectsWith('OPTION_CONFLICT', () => change({ backoffBaseMs: 9, backoffMaxMs: 8 }))
    assert.deepEqual(await store.queues.list(), before)
    await change({ backoffBaseMs: 60, backoffMaxMs: 60 })
    await rejectsWith('OPTION_CONFLICT', () => change({ backoffMaxMs: 50 }))
    assert.equal((await change({ backoffBaseMs: 50 })).backoffBaseMs, 50)
    // Code may declare such values. They must not block a change of another option.
    await store.queues.declare([{ name: 'odd', settings: { backoffBaseMs: 9, backoffMaxMs: 8 } }])
    assert.equal((await setQueue(store, 'odd', { workers: 3 })).workers, 3)
  }),
  test('a change of an unknown queue is rejected and creates none', async ({ store }) => {
    await rejectsWith('QUEUE_UNKNOWN', () => setQueue(store, 'nope', { paused: true }))
    assert.deepEqual(await store.queues.list(), [])
  }),
  test('an operator can cool a queue down, for longer, for shorter, and end it', async (t) => {
    const { store, clock, enqueue } = t
    await enqueue()
    const cool = async (coolMs: number | null): Promise<number> =>
      (await store.queues.change('default', { settings: {}, coolMs })).coolingMs
    assert.equal(await cool(5_000), 5_000)
    clock.advance(1_000)
    assert.equal(await cool(null), 4_000)
    assert.equal(await cool(500), 500)
    assert.equal(await cool(9_000), 9_000)
    assert.equal(await cool(0), 0)
  }),
  test('P7 a pause never affects a running job: it can still report progress, retry and finish', async (t) => {
    const { store, clock, running, finish, jobIs } = t
    const [lease, other] = [await running(), await running()]
    await changesNothing(store, () =>
      store.queues.change('default', { settings: { paused: true, workers: 0 }, coolMs: 500 }),
    )
    clock.advance(1)
    assert.deepEqual(await store.progress([{ id: lease.id, token: lease.token, value: '1' }]), [true])
    assert.equal((await finish(lease, DONE)).accepted, true)
    assert.equal((await finish(other, { to: 'scheduled', delayMs: 0, refund: false })).state, 'ready')
    await jobIs(lease.id, { state: 'done' })
  }),
  test('P7 enqueue works while a queue is paused', async ({ store, enqueue, worker, claim, jobIs }) => {
    const first = await enqueue()
    await setQueue(store, 'default', { paused: true })
    const second = await enqueue()
    await jobIs(second, { state: 'ready' })
    await setQueue(store, 'default', { paused: false })
    assert.deepEqual(pluck(await claim(await worker()), 'id'), [first, second])
  }),
]
