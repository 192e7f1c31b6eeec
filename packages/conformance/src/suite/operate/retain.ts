/** retain: deletes what the settings no longer keep, in bounded passes, and nothing else. */
import assert from 'node:assert/strict'
import { NOTHING_RETAINED } from 'jobmill/store'
import { aRetain } from '../../factories.ts'
import { HOUR } from '../bench.ts'
import { type Case, test } from '../case.ts'
import {
  setQueue,
  hasFields,
  changesNothing,
  countsAreExact,
  countsOf,
  remaining,
  statesOf,
  pluck,
  total,
} from '../looks.ts'

const DAY = 24 * HOUR
const nothing = NOTHING_RETAINED

export const retainCases: readonly Case[] = [
  test('ended jobs are deleted at the age their queue sets for that state, and not before', async (t) => {
    const { store, clock, jobIn } = t
    const ids = [await jobIn('done'), await jobIn('cancelled'), await jobIn('dead')]
    const settings = { retainDoneMs: 1_000, retainCancelledMs: 2_000, retainDeadMs: 3_000 }
    await setQueue(store, 'default', settings)
    for (const [n, state] of ['done', 'cancelled', 'dead'].entries()) {
      clock.advance(999)
      assert.equal((await changesNothing(store, () => store.retain(aRetain()))).jobs, 0)
      clock.advance(1)
      assert.deepEqual(await store.retain(aRetain()), { ...nothing, jobs: 1, [state]: 1 })
      assert.deepEqual(await remaining(store, ids), ids.slice(n + 1))
    }
    await countsAreExact(store)
  }),
  test('P3 jobs that have not ended are never too old', async ({ store, clock, jobIn }) => {
    const ids = [await jobIn('scheduled'), await jobIn('ready'), await jobIn('running')]
    const settings = { retainDoneMs: 0, retainCancelledMs: 0, retainDeadMs: 0 }
    await setQueue(store, 'default', settings)
    clock.advance(3_650 * DAY)
    assert.equal((await store.retain(aRetain())).jobs, 0)
    assert.deepEqual(await remaining(store, ids), ids)
  }),
  test('by default done and cancelled jobs are kept for 7 days and dead ones forever', async (t) => {
    const { store, clock, jobIn } = t
    const ids = [await jobIn('done'), await jobIn('cancelled'), await jobIn('dead')]
    clock.advance(7 * DAY - 1)
    assert.equal((await changesNothing(store, () => store.retain(aRetain()))).jobs, 0)
    clock.advance(2)
    assert.equal((await store.retain(aRetain())).jobs, 2)
    clock.advance(3_650 * DAY)
    assert.equal((await store.retain(aRetain())).jobs, 0)
    assert.deepEqual(await statesOf(store, ids), [null, null, 'dead'])
  }),
  test('only jobs of the named queues are deleted, or of all when none is named', async (t) => {
    const { store, clock, jobIn } = t
    await jobIn('done', { queue: 'a' })
    await jobIn('done', { queue: 'b' })
    clock.advance(8 * DAY)
    assert.deepEqual(await store.retain(aRetain({ queues: [] })), nothing)
    const one = { ...nothing, jobs: 1, done: 1 }
    assert.deepEqual(await store.retain(aRetain({ queues: ['b', 'none'] })), one)
    assert.deepEqual([await countsOf(store, 'a'), await countsOf(store, 'b')], [{ done: 1 }, {}])
    assert.deepEqual(await store.retain(aRetain()), one)
  }),
  test('each queue has its own retention, and null means forever', async ({ store, clock, jobIn }) => {
    const [short, long] = [await jobIn('done', { queue: 'short' }), await jobIn('done', { queue: 'long' })]
    await setQueue(store, 'short', { retainDoneMs: 10 })
    await setQueue(store, 'long', { retainDoneMs: null })
    clock.advance(30 * DAY)
    assert.equal((await store.retain(aRetain())).jobs, 1)
    assert.deepEqual(await statesOf(store, [short, long]), [null, 'done'])
  }),
  test('P15 the oldest are deleted first, at most the limit, and more says to call again', async (t) => {
    const { store, clock, jobIn } = t
    const ids: string[] = []
    for (const state of ['done', 'cancelled', 'done', 'cancelled', 'done'] as const) {
      ids.push(await jobIn(state))
      clock.advance(10)
    }
    clock.advance(30 * DAY)
    for (const [gone, more] of [
      [2, true],
      [4, true],
      [5, false],
    ] as const) {
      hasFields(await store.retain(aRetain({ limit: 2 })), { jobs: more ? 2 : 1, more })
      assert.deepEqual(await remaining(store, ids), ids.slice(gone))
    }
    assert.deepEqual(await countsOf(store), {})
  }),
  test('history and tags are deleted with their job', async ({ store, clock, jobIn }) => {
    const id = await jobIn('done', { tags: ['t'] })
    clock.advance(30 * DAY)
    await store.retain(aRetain())
    assert.deepEqual(await store.history(id), [])
    assert.deepEqual((await store.list({ tags: ['t'] }, { limit: 10 })).jobs, [])
  }),
  test('dedupe keys are deleted when their hold is over, and not before', async (t) => {
    const { store, clock, jobIn, enqueue } = t
    await jobIn('done', { dedupe: { key: 'k', holdFor: 1_000 } })
    await enqueue({ dedupe: { key: 'live' } })
    clock.advance(999)
    assert.equal((await store.retain(aRetain())).keys, 0)
    clock.advance(2)
    assert.equal((await store.retain(aRetain())).keys, 1)
    clock.advance(DAY)
    assert.equal((await store.retain(aRetain())).keys, 0)
  }),
  test('P4 instances that ended an hour ago are deleted, running and expired ones stay', async (t) => {
    const { store, clock, worker, reap } = t
    const [stopped, lost] = [await worker(), await worker()]
    await store.instances.deregister(stopped)
    clock.advance(20_000)
    await reap()
    const [alive, expired] = [await worker({ leaseMs: 10 * DAY }), await worker()]
    clock.advance(HOUR - 20_001)
    assert.equal((await store.retain(aRetain())).instances, 0)
    clock.advance(2)
    assert.equal((await store.retain(aRetain())).instances, 1)
    clock.advance(20_000)
    assert.equal((await store.retain(aRetain())).instances, 1)
    const left = (await store.instances.list()).map(({ id }) => id)
    assert.deepEqual(left.toSorted(), [alive, expired].toSorted())
    assert.ok(!left.includes(lost))
  }),
  test('P15 a pass that finds nothing changes nothing', async ({ store, jobIn }) => {
    for (const state of ['scheduled', 'ready', 'running', 'done', 'dead', 'cancelled'] as const)
      await jobIn(state)
    assert.deepEqual(await changesNothing(store, () => store.retain(aRetain())), nothing)
  }),
  test('concurrent retention from several handles deletes each job once', async (t) => {
    const { store, another, clock, jobIn } = t
    const stores = [store, await another(), await another()]
    for (let n = 0; n < 15; n += 1) await jobIn(n % 2 === 0 ? 'done' : 'cancelled')
    clock.advance(30 * DAY)
    const passes = await Promise.all(stores.map((each) => each.retain(aRetain({ limit: 10 }))))
    const rest = await store.retain(aRetain())
    assert.equal(total(pluck([...passes, rest], 'jobs')), 15)
    assert.deepEqual(await countsOf(store), {})
  }),
]
