/** What retain deletes besides jobs: keys, ended instances, and old ticks, events and metrics. */
import assert from 'node:assert/strict'
import { type FullStore, RESOLUTIONS } from 'jobmill/store'
import { aDefinition, anInstance, aTick, DONE, FORGET, HOUR } from '../../factories.ts'
import type { Bench } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { hasFields, pluck } from '../looks.ts'
import { firesAt } from '../schedules/schedule-helpers.ts'

const DAY = 24 * HOUR

/** Writes an event and a metric with this age. */
async function write(store: FullStore, agoMs: number): Promise<void> {
  await store.metrics.record({
    source: anInstance().id,
    seq: 1,
    deltas: [{ scope: 'queue a', agoMs, data: { counters: { done: 1 } } }],
    own: [],
    events: [{ type: 'a', agoMs, queue: null, job: null, data: '{}' }],
  })
}

/** Checks how many buckets of each size exist. */
async function bucketsAre({ store }: Bench, ...expected: number[]): Promise<void> {
  const query = { from: 0, before: 7_258_118_400_000 }
  const buckets = RESOLUTIONS.map((resolution) => store.metrics.read({ resolution, ...query }))
  const counts = (await Promise.all(buckets)).map(({ length }) => length)
  assert.deepEqual(counts, expected)
}

async function rollUp(store: FullStore): Promise<void> {
  for (let n = 0; n < 10 && (await store.metrics.rollUp(1_000)) > 0; n += 1);
}

/** Serves these ticks of a new schedule. */
async function serve(store: FullStore, name: string, instants: readonly number[]): Promise<void> {
  await store.schedules.create(name, aDefinition())
  const [reply] = await store.schedules.tick([aTick(name, { fires: firesAt(...instants) })])
  assert.equal(reply?.accepted, true)
}

export const retainRecordCases: readonly Case[] = [
  test('dedupe keys are deleted when their hold is over, and not before', async (t) => {
    await t.finish(await t.running({ dedupe: { key: 'kept', holdFor: 1_000 } }), DONE)
    await t.finish(await t.running({ dedupe: { key: 'forgotten', holdFor: 1_000 } }), FORGET)
    await t.enqueue({ dedupe: { key: 'live' } })
    t.clock.advance(999)
    assert.equal((await t.retain()).keys, 0)
    t.clock.advance(1)
    assert.equal((await t.retain()).keys, 2)
    t.clock.advance(DAY)
    assert.equal((await t.retain()).keys, 0)
  }),
  test('P4 instances that ended an hour ago are deleted, running and expired ones stay', async (t) => {
    await t.store.instances.deregister(await t.worker())
    await t.worker()
    t.clock.advance(20_000)
    await t.reap()
    const [alive, expired] = [await t.worker({ leaseMs: 10 * DAY }), await t.worker()]
    t.clock.advance(HOUR - 20_001)
    assert.equal((await t.retain()).instances, 0)
    t.clock.advance(2)
    assert.equal((await t.retain()).instances, 1)
    t.clock.advance(20_000)
    assert.equal((await t.retain()).instances, 1)
    const left = pluck(await t.store.instances.list(), 'id')
    assert.deepEqual(left.toSorted(), [alive, expired].toSorted())
  }),
  {
    name: 'P12 tick records are deleted by when they were served, however old the tick is',
    needs: ['schedules'],
    async run(t) {
      await serve(t.store, 's', [1, 2])
      t.clock.advance(1_000)
      await serve(t.store, 't', [3])
      const ticksMs = 5_000
      t.clock.advance(3_999)
      assert.equal((await t.retain({ ticksMs })).ticks, 0)
      t.clock.advance(1)
      assert.equal((await t.retain({ ticksMs })).ticks, 2)
      assert.deepEqual(await t.store.schedules.ticks('s', 9), [])
      assert.equal((await t.store.schedules.ticks('t', 9)).length, 1)
      assert.equal((await t.store.schedules.list()).length, 2)
    },
  },
  {
    name: 'events are deleted at the given age, and not before',
    needs: ['metrics'],
    async run(t) {
      await write(t.store, 0)
      await write(t.store, 1_000)
      const eventsMs = 5_000
      t.clock.advance(3_999)
      assert.equal((await t.retain({ eventsMs })).events, 0)
      t.clock.advance(1)
      assert.equal((await t.retain({ eventsMs })).events, 1)
      assert.equal((await t.store.metrics.timeline({ limit: 9 })).length, 1)
    },
  },
  {
    name: 'metrics are deleted by the end of their bucket, each size after its own time',
    needs: ['metrics'],
    async run(t) {
      t.clock.advance(HOUR - (t.clock.now() % HOUR))
      await write(t.store, 0)
      await rollUp(t.store)
      const metricsMs = [5_000, HOUR, 2 * HOUR, DAY] as const
      const deletesOneAfter = async (ms: number): Promise<void> => {
        t.clock.advance(ms - 1)
        assert.equal((await t.retain({ metricsMs })).metrics, 0)
        t.clock.advance(1)
        assert.equal((await t.retain({ metricsMs })).metrics, 1)
      }
      await deletesOneAfter(10_000 + 5_000)
      await bucketsAre(t, 0, 1, 1, 1)
      await deletesOneAfter(HOUR + 60_000 - 15_000)
      await bucketsAre(t, 0, 0, 1, 1)
      await deletesOneAfter(HOUR + 4 * 60_000)
      await bucketsAre(t, 0, 0, 0, 1)
      await deletesOneAfter(DAY - HOUR - 5 * 60_000)
      await bucketsAre(t, 0, 0, 0, 0)
    },
  },
  {
    name: 'metrics that are not rolled up yet stay, however old they are',
    needs: ['metrics'],
    async run(t) {
      await write(t.store, 0)
      t.clock.advance(DAY)
      const metricsMs = [0, 0, 0, 0] as const
      assert.equal((await t.retain({ metricsMs })).metrics, 0)
      await bucketsAre(t, 1, 1, 1, 1)
      await rollUp(t.store)
      assert.equal((await t.retain({ metricsMs })).metrics, 4)
      await bucketsAre(t, 0, 0, 0, 0)
    },
  },
  {
    name: 'P15 one pass deletes at most the limit of each type, and more covers all of them',
    needs: ['metrics', 'schedules'],
    async run(t) {
      await serve(t.store, 's', [1, 2, 3])
      t.clock.advance(DAY)
      const ticksMs = HOUR
      hasFields(await t.retain({ limit: 2, ticksMs }), { ticks: 2, more: true })
      hasFields(await t.retain({ limit: 2, ticksMs }), { ticks: 1, more: false })
      for (const agoMs of [HOUR, 2 * HOUR, 3 * HOUR]) await write(t.store, agoMs)
      await rollUp(t.store)
      hasFields(await t.retain({ limit: 2, eventsMs: 5 }), { events: 2, more: true })
      const metricsMs = [0, 2 * DAY, 2 * DAY, 2 * DAY] as const
      hasFields(await t.retain({ limit: 2, metricsMs }), { metrics: 2, more: true })
    },
  },
  {
    name: 'P9 nothing is deleted by age unless requested',
    needs: ['metrics', 'schedules'],
    async run(t) {
      await serve(t.store, 's', [1])
      await write(t.store, 0)
      await rollUp(t.store)
      t.clock.advance(30 * DAY)
      hasFields(await t.retain(), { ticks: 0, events: 0, metrics: 0, more: false })
    },
  },
]
