/** Queues: settings at creation, changes by an operator, pauses and cool-downs. */
import assert from 'node:assert/strict'
import { DEFAULT_QUEUE_SETTINGS, type QueueRecord, type QueueSettings } from 'jobmill/store'
import { DONE, later, rooms } from '../../factories.ts'
import { type Case, test } from '../case.ts'
import { permits } from '../limits/limit-helpers.ts'
import { hasFields, pluck, rejectsWith } from '../looks.ts'

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
  targetLatencyMs: 8,
  groupFair: true,
  groupConcurrency: 2,
  groupRate: 3,
  groupRatePerMs: 4_000,
}

export const queueCases: readonly Case[] = [
  test('a declared queue has the settings it was declared with', async (t) => {
    await t.store.queues.declare([
      { name: 'a', settings: changes },
      { name: 'b', settings: DEFAULT_QUEUE_SETTINGS },
    ])
    const queues = (await t.store.queues.list()).toSorted((a, b) => (a.name < b.name ? -1 : 1))
    assert.deepEqual(queues, [
      { name: 'a', ...changes, coolingMs: 0, throttles: 0 },
      { name: 'b', ...DEFAULT_QUEUE_SETTINGS, coolingMs: 0, throttles: 0 },
    ])
    assert.deepEqual(pluck(await t.store.counts(), 'queue'), ['a', 'b'])
  }),
  {
    name: 'P13 a queue that had a job before its limit was declared uses that limit from then on',
    needs: ['limits'],
    async run(t) {
      for (let n = 0; n < 3; n += 1) await t.enqueue({ queue: 'narrow' })
      await t.store.limits.declare([{ name: 'two', settings: permits(2) }])
      await t.store.queues.declare([{ name: 'narrow', settings: { limit: 'two' } }])
      const leases = await t.claim(await t.worker(), { queues: rooms({ narrow: 10 }), limit: 10 })
      assert.equal(leases.length, 2)
    },
  },
  test('concurrent declarations from several handles make one queue, with the settings of one of them', async (t) => {
    const stores = await t.handles(3)
    await Promise.all(
      stores.map((each, n) =>
        each.queues.declare(['a', 'b'].map((name) => ({ name, settings: { workers: n + 1 } }))),
      ),
    )
    const queues = await t.store.queues.list()
    assert.deepEqual(queues.map(({ name }) => name).toSorted(), ['a', 'b'])
    assert.ok(queues.every(({ workers }) => [1, 2, 3].includes(workers ?? 0)))
  }),
  test('a change affects the given options, is visible to every handle, and is returned', async (t) => {
    await t.enqueue()
    await t.enqueue({ queue: 'other' })
    const before = await t.store.queues.list()
    const changed = await t.setQueue('default', { workers: 0, retainDeadMs: 7 })
    const expected = { name: 'default', ...DEFAULT_QUEUE_SETTINGS, workers: 0, retainDeadMs: 7 }
    assert.deepEqual(changed, { ...expected, coolingMs: 0, throttles: 0 })
    const unchanged = before.filter(({ name }) => name === 'other')
    assert.equal(unchanged.length, 1)
    const after = await (await t.another()).queues.list()
    assert.deepEqual(new Set(after), new Set([changed, ...unchanged]))
    const back = await t.setQueue('default', { workers: null, retainDeadMs: null })
    assert.deepEqual([back.workers, back.retainDeadMs], [null, null])
    for (const [key, value] of Object.entries(changes))
      hasFields(await t.setQueue('default', { [key]: value }), { [key]: value })
  }),
  test('a change to a backoff base above the live max is rejected, and changes nothing', async (t) => {
    const code = { backoffBaseMs: 20, backoffMaxMs: 40 }
    await t.store.queues.declare([{ name: 'mail', settings: code }])
    const change = (settings: Partial<QueueSettings>): Promise<QueueRecord> => t.setQueue('mail', settings)
    const before = await t.store.queues.list()
    await rejectsWith('OPTION_CONFLICT', () => change({ backoffBaseMs: 41, workers: 3 }))
    await rejectsWith('OPTION_CONFLICT', () => change({ backoffMaxMs: 19 }))
    await rejectsWith('OPTION_CONFLICT', () => change({ backoffBaseMs: 9, backoffMaxMs: 8 }))
    assert.deepEqual(await t.store.queues.list(), before)
    await change({ backoffBaseMs: 60, backoffMaxMs: 60 })
    await rejectsWith('OPTION_CONFLICT', () => change({ backoffMaxMs: 50 }))
    assert.equal((await change({ backoffBaseMs: 50 })).backoffBaseMs, 50)
    // Code may declare such values. They must not block a change of another option.
    await t.store.queues.declare([{ name: 'odd', settings: { backoffBaseMs: 9, backoffMaxMs: 8 } }])
    assert.equal((await t.setQueue('odd', { workers: 3 })).workers, 3)
  }),
  test('a change of an unknown queue is rejected and creates none', async (t) => {
    await rejectsWith('QUEUE_UNKNOWN', () => t.setQueue('nope', { paused: true }))
    assert.deepEqual(await t.store.queues.list(), [])
  }),
  test('an operator can cool a queue down, for longer, for shorter, and end it', async (t) => {
    await t.enqueue()
    const cool = async (coolMs: number | null): Promise<number> =>
      (await t.store.queues.change('default', { settings: {}, coolMs })).coolingMs
    assert.equal(await cool(5_000), 5_000)
    t.clock.advance(1_000)
    assert.equal(await cool(null), 4_000)
    assert.equal(await cool(500), 500)
    assert.equal(await cool(9_000), 9_000)
    assert.equal(await cool(0), 0)
  }),
  test('P7 a pause never affects a running job: it can still report progress, retry and finish', async (t) => {
    const [lease, other] = [await t.running(), await t.running()]
    await t.changesNothing(() =>
      t.store.queues.change('default', { settings: { paused: true, workers: 0 }, coolMs: 500 }),
    )
    t.clock.advance(1)
    assert.deepEqual(await t.store.progress([{ id: lease.id, token: lease.token, value: '1' }]), [true])
    assert.equal((await t.finish(lease, DONE)).accepted, true)
    assert.equal((await t.finish(other, later(0))).state, 'ready')
    await t.jobIs(lease.id, { state: 'done' })
  }),
  test('P7 enqueue works while a queue is paused', async (t) => {
    const first = await t.enqueue()
    await t.setQueue('default', { paused: true })
    const second = await t.enqueue()
    await t.jobIs(second, { state: 'ready' })
    await t.setQueue('default', { paused: false })
    assert.deepEqual(await t.claimIds(await t.worker()), [first, second])
  }),
]
