/** retain by number, and what it deletes besides jobs: old ticks, events and metrics. */
import assert from 'node:assert/strict'
import { type FullStore, RESOLUTIONS } from 'jobmill/store'
import { aDefinition, aJob, anInstance, aRetain, aTick } from '../../factories.ts'
import { type Bench, HOUR, only } from '../bench.ts'
import { type Case, test } from '../case.ts'
import {
  hasFields,
  changesNothing,
  countsAreExact,
  countsOf,
  historyOf,
  remaining,
  setQueue,
  pluck,
  total,
} from '../looks.ts'

const DAY = 24 * HOUR

/** Done jobs, one millisecond apart. */
async function done({ jobIn, clock }: Bench, many: number, queue = 'default'): Promise<string[]> {
  const ids: string[] = []
  for (let n = 0; n < many; n += 1) {
    ids.push(await jobIn('done', { queue }))
    clock.advance(1)
  }
  return ids
}

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

async function bucketCounts(store: FullStore): Promise<number[]> {
  const query = { from: 0, before: 7_258_118_400_000 }
  const metrics = await Promise.all(
    RESOLUTIONS.map((resolution) => store.metrics.read({ resolution, ...query })),
  )
  return metrics.map(({ length }) => length)
}

async function rollUp(store: FullStore): Promise<void> {
  for (let n = 0; n < 10 && (await store.metrics.rollUp(1_000)) > 0; n += 1);
}

/** Serves these ticks of a new schedule. */
async function serve(store: FullStore, name: string, instants: readonly number[]): Promise<void> {
  await store.schedules.create(name, aDefinition())
  const fires = instants.map((at) => ({ at, job: aJob() }))
  assert.equal(only(await store.schedules.tick([aTick(name, { fires })])).accepted, true)
}

export const retainMoreCases: readonly Case[] = [
  test('ended jobs beyond the newest that their queue keeps are deleted, oldest first', async (t) => {
    const { store } = t
    const ids = await done(t, 6)
    await setQueue(store, 'default', { keepDone: 4 })
    assert.equal((await store.retain(aRetain())).jobs, 2)
    assert.deepEqual(await remaining(store, ids), ids.slice(2))
    assert.equal((await changesNothing(store, () => store.retain(aRetain()))).jobs, 0)
    await setQueue(store, 'default', { keepDone: 0 })
    assert.equal((await store.retain(aRetain())).jobs, 4)
    assert.deepEqual(await historyOf(store, ids[5] ?? ''), [])
    await countsAreExact(store)
  }),
  test('each state and each queue is counted separately', async (t) => {
    const { store, jobIn } = t
    await done(t, 3)
    await done(t, 3, 'other')
    for (const state of ['dead', 'dead', 'cancelled', 'cancelled'] as const) await jobIn(state)
    await setQueue(store, 'default', { keepDone: 2, keepDead: 0, keepCancelled: 1 })
    assert.equal((await store.retain(aRetain())).jobs, 4)
    assert.deepEqual(await countsOf(store), { done: 2, cancelled: 1 })
    assert.deepEqual(await countsOf(store, 'other'), { done: 3 })
    await countsAreExact(store)
  }),
  test('P3 jobs that have not ended do not count and are never deleted', async ({ store, jobIn }) => {
    const ids = [await jobIn('scheduled'), await jobIn('ready'), await jobIn('running')]
    await setQueue(store, 'default', { keepDone: 0, keepDead: 0, keepCancelled: 0 })
    assert.equal((await store.retain(aRetain())).jobs, 0)
    assert.deepEqual(await remaining(store, ids), ids)
  }),
  test('of jobs that ended in the same millisecond the one with the higher id is the newer', async (t) => {
    const { store, jobIn } = t
    const ids = []
    for (let n = 0; n < 5; n += 1) ids.push(await jobIn('done'))
    await setQueue(store, 'default', { keepDone: 2 })
    await store.retain(aRetain())
    assert.deepEqual(await remaining(store, ids.toSorted()), ids.toSorted().slice(3))
  }),
  test('old jobs are deleted even if among the newest, and surplus jobs even if young', async (t) => {
    const { store, clock } = t
    await done(t, 2)
    clock.advance(DAY)
    const young = await done(t, 3)
    await setQueue(store, 'default', { keepDone: 4, retainDoneMs: HOUR })
    assert.equal((await store.retain(aRetain())).jobs, 2)
    await setQueue(store, 'default', { keepDone: 1 })
    assert.equal((await store.retain(aRetain())).jobs, 2)
    assert.deepEqual(await remaining(store, young), young.slice(2))
  }),
  test('P15 one pass deletes at most the limit, by number and age together, and more says to call again', async (t) => {
    const { store } = t
    const ids = await done(t, 7)
    await setQueue(store, 'default', { keepDone: 2 })
    for (const [gone, more] of [
      [2, true],
      [4, true],
      [5, false],
    ] as const) {
      hasFields(await store.retain(aRetain({ limit: 2 })), { jobs: more ? 2 : 1, more })
      assert.deepEqual(await remaining(store, ids), ids.slice(gone))
    }
  }),
  test('a retried job no longer counts, and counts as new when it ends again', async (t) => {
    const { store, worker, clock } = t
    const first = await t.jobIn('dead', { kind: 'again' })
    clock.advance(1)
    const second = await t.jobIn('dead')
    clock.advance(1)
    await store.retry([first])
    await setQueue(store, 'default', { keepDead: 1 })
    assert.equal((await store.retain(aRetain())).jobs, 0)
    await t.finish(await t.claimOne(await worker(), { kinds: ['again'] }), { to: 'dead' })
    assert.equal((await store.retain(aRetain())).jobs, 1)
    assert.deepEqual(await remaining(store, [first, second]), [first])
  }),
  test('concurrent retention by number from several handles deletes no more than the surplus', async (t) => {
    const { store, another } = t
    const stores = [store, await another(), await another()]
    const ids = await done(t, 12)
    await setQueue(store, 'default', { keepDone: 5 })
    const passes = await Promise.all(stores.map((each) => each.retain(aRetain({ limit: 4 }))))
    const rest = await store.retain(aRetain())
    assert.equal(total(pluck([...passes, rest], 'jobs')), 7)
    assert.deepEqual(await remaining(store, ids), ids.slice(7))
    await countsAreExact(store)
  }),
  {
    name: 'P12 tick records are deleted by when they were served, however old the tick is',
    needs: ['schedules'],
    async run({ store, clock }) {
      await serve(store, 's', [1, 2])
      clock.advance(1_000)
      await serve(store, 't', [3])
      const ticksMs = 5_000
      clock.advance(3_999)
      assert.equal((await store.retain(aRetain({ ticksMs }))).ticks, 0)
      clock.advance(1)
      assert.equal((await store.retain(aRetain({ ticksMs }))).ticks, 2)
      assert.deepEqual(await store.schedules.ticks('s', 9), [])
      assert.equal((await store.schedules.ticks('t', 9)).length, 1)
      assert.equal((await store.schedules.list()).length, 2)
    },
  },
  {
    name: 'events are deleted at the given age, and not before',
    needs: ['metrics'],
    async run({ store, clock }) {
      await write(store, 0)
      await write(store, 1_000)
      const eventsMs = 5_000
      clock.advance(3_999)
      assert.equal((await store.retain(aRetain({ eventsMs }))).events, 0)
      clock.advance(1)
      assert.equal((await store.retain(aRetain({ eventsMs }))).events, 1)
      assert.equal((await store.metrics.timeline({ limit: 9 })).length, 1)
    },
  },
  {
    name: 'metrics are deleted by the end of their bucket, each size after its own time',
    needs: ['metrics'],
    async run({ store, clock }) {
      clock.advance(HOUR - (clock.now() % HOUR))
      await write(store, 0)
      await rollUp(store)
      const metricsMs = [5_000, HOUR, DAY] as const
      const passes = async (): Promise<number> => (await store.retain(aRetain({ metricsMs }))).metrics
      clock.advance(10_000 + 5_000 - 1)
      assert.equal(await passes(), 0)
      clock.advance(1)
      assert.equal(await passes(), 1)
      assert.deepEqual(await bucketCounts(store), [0, 1, 1])
      clock.advance(HOUR + 60_000 - 15_000 - 1)
      assert.equal(await passes(), 0)
      clock.advance(1)
      assert.equal(await passes(), 1)
      assert.deepEqual(await bucketCounts(store), [0, 0, 1])
      clock.advance(DAY - 60_000 - 1)
      assert.equal(await passes(), 0)
      clock.advance(1)
      assert.equal(await passes(), 1)
      assert.deepEqual(await bucketCounts(store), [0, 0, 0])
    },
  },
  {
    name: 'metrics that are not rolled up yet stay, however old they are',
    needs: ['metrics'],
    async run({ store, clock }) {
      await write(store, 0)
      clock.advance(DAY)
      const metricsMs = [0, 0, 0] as const
      assert.equal((await store.retain(aRetain({ metricsMs }))).metrics, 0)
      assert.deepEqual(await bucketCounts(store), [1, 1, 1])
      await rollUp(store)
      assert.equal((await store.retain(aRetain({ metricsMs }))).metrics, 3)
      assert.deepEqual(await bucketCounts(store), [0, 0, 0])
    },
  },
  {
    name: 'P15 one pass deletes at most the limit of each type, and more covers all of them',
    needs: ['metrics', 'schedules'],
    async run({ store, clock }) {
      await serve(store, 's', [1, 2, 3])
      clock.advance(DAY)
      const ticksMs = HOUR
      hasFields(await store.retain(aRetain({ limit: 2, ticksMs })), { ticks: 2, more: true })
      hasFields(await store.retain(aRetain({ limit: 2, ticksMs })), { ticks: 1, more: false })
      for (const agoMs of [HOUR, 2 * HOUR, 3 * HOUR]) await write(store, agoMs)
      await rollUp(store)
      hasFields(await store.retain(aRetain({ limit: 2, eventsMs: 5 })), { events: 2, more: true })
      const metricsMs = [0, 2 * DAY, 2 * DAY] as const
      hasFields(await store.retain(aRetain({ limit: 2, metricsMs })), { metrics: 2, more: true })
    },
  },
  {
    name: 'P9 nothing is deleted by age unless requested',
    needs: ['metrics', 'schedules'],
    async run({ store, clock }) {
      await serve(store, 's', [1])
      await write(store, 0)
      await rollUp(store)
      clock.advance(30 * DAY)
      hasFields(await store.retain(aRetain()), { ticks: 0, events: 0, metrics: 0, more: false })
    },
  },
]
