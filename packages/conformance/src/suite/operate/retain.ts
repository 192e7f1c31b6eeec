/** retain: deletes the jobs that the settings no longer keep, by age and by number, and nothing else. */
import assert from 'node:assert/strict'
import { NOTHING_RETAINED } from 'jobmill/store'
import { aJob, aRetain, DONE, HOUR, someJobs } from '../../factories.ts'
import type { Bench, HeldLease } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { hasFields, pluck, total } from '../looks.ts'

const DAY = 24 * HOUR
const nothing = NOTHING_RETAINED

/** Done jobs, one millisecond apart. */
async function done(t: Bench, many: number, queue = 'default'): Promise<string[]> {
  const ids: string[] = []
  for (let n = 0; n < many; n += 1) {
    ids.push(await t.jobIn('done', { queue }))
    t.clock.advance(1)
  }
  return ids
}

/** Checks which of these jobs still exist. */
async function areLeft({ store }: Bench, ids: readonly string[], expected: readonly string[]): Promise<void> {
  const left = (await store.get(ids)).flatMap((job) => job?.id ?? [])
  assert.deepEqual(left, expected)
}

/** Checks that passes of two jobs each delete five of these jobs, the oldest first. */
async function deletesFive(t: Bench, ids: readonly string[]): Promise<void> {
  for (const gone of [2, 4, 5]) {
    hasFields(await t.retain({ limit: 2 }), { jobs: gone === 5 ? 1 : 2, more: gone < 5 })
    await areLeft(t, ids, ids.slice(gone))
  }
}

/** The first of three jobs of one claim has ended, and retention deleted it. */
async function retainedFirst(t: Bench): Promise<HeldLease> {
  await t.store.enqueue(someJobs([{}, {}, {}]))
  const [first = assert.fail()] = await t.claim(await t.worker())
  await t.finish(first, DONE)
  await t.setQueue('default', { retainDoneMs: 0 })
  assert.equal((await t.retain()).done, 1)
  return first
}

export const retainCases: readonly Case[] = [
  test('ended jobs are deleted at the age their queue sets for that state, and not before', async (t) => {
    const ids = [await t.jobIn('done'), await t.jobIn('cancelled'), await t.jobIn('dead')]
    const settings = { retainDoneMs: 1_000, retainCancelledMs: 2_000, retainDeadMs: 3_000 }
    await t.setQueue('default', settings)
    for (const [n, state] of ['done', 'cancelled', 'dead'].entries()) {
      t.clock.advance(999)
      assert.equal((await t.changesNothing(() => t.retain())).jobs, 0)
      t.clock.advance(1)
      assert.deepEqual(await t.retain(), { ...nothing, jobs: 1, [state]: 1 })
      await areLeft(t, ids, ids.slice(n + 1))
    }
    await t.countsAreExact()
  }),
  test('by default done and cancelled jobs are kept for 7 days and dead ones forever', async (t) => {
    const ids = [await t.jobIn('done'), await t.jobIn('cancelled'), await t.jobIn('dead')]
    t.clock.advance(7 * DAY - 1)
    assert.equal((await t.changesNothing(() => t.retain())).jobs, 0)
    t.clock.advance(2)
    assert.equal((await t.retain()).jobs, 2)
    t.clock.advance(3_650 * DAY)
    assert.equal((await t.retain()).jobs, 0)
    await t.statesAre(ids, [null, null, 'dead'])
  }),
  test('only jobs of the named queues are deleted, or of all when none is named', async (t) => {
    await t.jobIn('done', { queue: 'a' })
    await t.jobIn('done', { queue: 'b' })
    t.clock.advance(8 * DAY)
    assert.deepEqual(await t.retain({ queues: [] }), nothing)
    const one = { ...nothing, jobs: 1, done: 1 }
    assert.deepEqual(await t.retain({ queues: ['b', 'none'] }), one)
    await t.countsAre({ done: 1 }, 'a')
    await t.countsAre({}, 'b')
    assert.deepEqual(await t.retain(), one)
  }),
  test('each queue has its own retention, and null means forever', async (t) => {
    const [short, long] = [
      await t.jobIn('done', { queue: 'short' }),
      await t.jobIn('done', { queue: 'long' }),
    ]
    await t.setQueue('short', { retainDoneMs: 10 })
    await t.setQueue('long', { retainDoneMs: null })
    t.clock.advance(30 * DAY)
    assert.equal((await t.retain()).jobs, 1)
    await t.statesAre([short, long], [null, 'done'])
  }),
  test('history and tags are deleted with their job', async (t) => {
    const id = await t.jobIn('done', { tags: ['t'] })
    t.clock.advance(30 * DAY)
    await t.retain()
    assert.deepEqual(await t.store.history(id), [])
    assert.deepEqual(await t.idsOf({ tags: ['t'] }), [])
  }),
  test('P15 a pass that finds nothing changes nothing', async (t) => {
    for (const state of ['scheduled', 'ready', 'running', 'done', 'dead', 'cancelled'] as const)
      await t.jobIn(state)
    assert.deepEqual(await t.changesNothing(() => t.retain()), nothing)
  }),
  test('P3 jobs that have not ended are never too old, do not count, and are never deleted', async (t) => {
    const ids = [await t.jobIn('scheduled'), await t.jobIn('ready'), await t.jobIn('running')]
    await t.setQueue('default', { retainDoneMs: 0, retainCancelledMs: 0, retainDeadMs: 0 })
    await t.setQueue('default', { keepDone: 0, keepDead: 0, keepCancelled: 0 })
    t.clock.advance(3_650 * DAY)
    assert.equal((await t.retain()).jobs, 0)
    await areLeft(t, ids, ids)
  }),
  test('P15 the oldest are deleted first, at most the limit, and more says to call again', async (t) => {
    const ids: string[] = []
    for (const state of ['done', 'cancelled', 'done', 'cancelled', 'done'] as const) {
      ids.push(await t.jobIn(state))
      t.clock.advance(10)
    }
    t.clock.advance(30 * DAY)
    await deletesFive(t, ids)
    await t.countsAre({})
  }),
  test('P15 one pass deletes at most the limit, by number and age together, and more says to call again', async (t) => {
    const ids = await done(t, 7)
    await t.setQueue('default', { keepDone: 2 })
    await deletesFive(t, ids)
  }),
  test('P2 a job that retention deletes while others of its claim run is gone, and its finish is refused', async (t) => {
    const first = await retainedFirst(t)
    assert.deepEqual(await t.store.results([first.id]), [null])
    const reply = await t.changesNothing(() => t.finish(first, DONE))
    hasFields(reply, { accepted: false, state: null })
    await t.countsAre({ running: 2 })
    assert.deepEqual(await t.store.history(first.id), [])
  }),
  test('P1 P3 P6 the id of a retained job is that of a new job, also when the instance of the old one ends', async (t) => {
    const first = await retainedFirst(t)
    await t.finish(first, DONE)
    await t.store.enqueue([aJob({ id: first.id })])
    assert.equal((await t.retain()).jobs, 0)
    assert.equal((await t.store.instances.held(first.instance)).length, 2)
    assert.equal(await t.store.instances.deregister(first.instance), 2)
    await t.jobIs(first.id, { state: 'ready', attempt: 0 })
    await t.countsAre({ ready: 3 })
    await t.countsAreExact()
  }),
  test('ended jobs beyond the newest that their queue keeps are deleted, oldest first', async (t) => {
    const ids = await done(t, 6)
    await t.setQueue('default', { keepDone: 4 })
    assert.equal((await t.retain()).jobs, 2)
    await areLeft(t, ids, ids.slice(2))
    assert.equal((await t.changesNothing(() => t.retain())).jobs, 0)
    await t.setQueue('default', { keepDone: 0 })
    assert.equal((await t.retain()).jobs, 4)
    await t.historyIs(ids[5] ?? '', [])
    await t.countsAreExact()
  }),
  test('each state and each queue is counted separately', async (t) => {
    await done(t, 3)
    await done(t, 3, 'other')
    for (const state of ['dead', 'dead', 'cancelled', 'cancelled'] as const) await t.jobIn(state)
    await t.setQueue('default', { keepDone: 2, keepDead: 0, keepCancelled: 1 })
    assert.equal((await t.retain()).jobs, 4)
    await t.countsAre({ done: 2, cancelled: 1 })
    await t.countsAre({ done: 3 }, 'other')
    await t.countsAreExact()
  }),
  test('of jobs that ended in the same millisecond the one with the higher id is the newer', async (t) => {
    const ids = []
    for (let n = 0; n < 5; n += 1) ids.push(await t.jobIn('done'))
    await t.setQueue('default', { keepDone: 2 })
    await t.retain()
    await areLeft(t, ids.toSorted(), ids.toSorted().slice(3))
  }),
  test('old jobs are deleted even if among the newest, and surplus jobs even if young', async (t) => {
    await done(t, 2)
    t.clock.advance(DAY)
    const young = await done(t, 3)
    await t.setQueue('default', { keepDone: 4, retainDoneMs: HOUR })
    assert.equal((await t.retain()).jobs, 2)
    await t.setQueue('default', { keepDone: 1 })
    assert.equal((await t.retain()).jobs, 2)
    await areLeft(t, young, young.slice(2))
  }),
  test('a retried job no longer counts, and counts as new when it ends again', async (t) => {
    const first = await t.jobIn('dead', { kind: 'again' })
    t.clock.advance(1)
    const second = await t.jobIn('dead')
    t.clock.advance(1)
    await t.store.retry([first])
    await t.setQueue('default', { keepDead: 1 })
    assert.equal((await t.retain()).jobs, 0)
    await t.finish(await t.claimOne(await t.worker(), { kinds: ['again'] }), { to: 'dead' })
    assert.equal((await t.retain()).jobs, 1)
    await areLeft(t, [first, second], [first])
  }),
  test('concurrent retention from several handles deletes each job once, and no more than the surplus', async (t) => {
    const stores = await t.handles(3)
    for (let n = 0; n < 7; n += 1) await t.jobIn('cancelled')
    const ids = await done(t, 12)
    const deleted = async (): Promise<number> => {
      const passes = await Promise.all(stores.map((each) => each.retain(aRetain({ limit: 4 }))))
      return total(pluck([...passes, await t.retain()], 'jobs'))
    }
    await t.setQueue('default', { keepDone: 5 })
    assert.equal(await deleted(), 7)
    await areLeft(t, ids, ids.slice(7))
    await t.countsAreExact()
    t.clock.advance(30 * DAY)
    assert.equal(await deleted(), 12)
    await t.countsAre({})
  }),
]
