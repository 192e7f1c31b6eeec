/**
 * Ticks: each is served once, whichever instance serves it, however often, and whatever happens to the
 * schedule.
 */
import assert from 'node:assert/strict'
import { aDefinition, aJob, aTick } from '../../factories.ts'
import { HOUR, only } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { pluck, hasFields, countsOf } from '../looks.ts'
import { NAME, createPlanned, tick, onlySchedule } from './schedule-helpers.ts'

export const tickOnceCases: readonly Case[] = [
  test('P12 concurrent ticks of one instant from several handles make one job', async (t) => {
    const { store, another, clock } = t
    const stores = [store, await another(), await another(), await another()]
    let at = await createPlanned(store, clock.now())
    for (let round = 1; round <= 10; round += 1) {
      const from = at
      const replies = await Promise.all(
        stores.map((each) => tick(each, { from, nextAt: from + 1, fires: [{ at: from, job: aJob() }] })),
      )
      assert.equal(replies.filter(({ accepted }) => accepted).length, 1)
      assert.equal(replies.flatMap(({ fired }) => fired).length, 1)
      assert.deepEqual(await countsOf(store), { ready: round })
      at += 1
    }
    assert.equal((await store.schedules.ticks(NAME, 100)).length, 10)
  }),
  test('P11 P12 a tick that is resent after a lost reply changes nothing', async ({ store, clock }) => {
    const at = await createPlanned(store, clock.now())
    const sent = { from: at, nextAt: at + HOUR, fires: [{ at, job: aJob() }], missed: 1 }
    await tick(store, sent)
    const before = [await store.schedules.list(), await store.schedules.ticks(NAME, 10)]
    assert.equal((await tick(store, sent)).accepted, false)
    assert.deepEqual([await store.schedules.list(), await store.schedules.ticks(NAME, 10)], before)
    assert.deepEqual(await countsOf(store), { ready: 1 })
  }),
  test('P12 a served instant is not served again when the schedule is planned again', async (t) => {
    const { store, clock } = t
    const at = await createPlanned(store, clock.now())
    const first = { at, job: aJob() }
    await tick(store, { from: at, nextAt: at + HOUR, fires: [first] })
    await store.schedules.change(NAME, { when: 'every 1h' })
    await tick(store, { revision: 2, nextAt: at })
    const again = await tick(store, { revision: 2, from: at, nextAt: at + 5, fires: [{ at, job: aJob() }] })
    assert.deepEqual(again, { schedule: NAME, accepted: true, fired: [] })
    hasFields(await onlySchedule(store), { nextAt: at + 5, lastJob: first.job.id })
    assert.deepEqual(await countsOf(store), { ready: 1 })
  }),
  test('P12 a served instant is not served again after the schedule was deleted and created again', async (t) => {
    const { store, clock } = t
    const at = await createPlanned(store, clock.now())
    await tick(store, { from: at, nextAt: at + HOUR, fires: [{ at, job: aJob() }] })
    await store.schedules.delete(NAME)
    assert.equal((await store.schedules.ticks(NAME, 10)).length, 1)
    await createPlanned(store, at)
    const fires = [at, at + 1].map((each) => ({ at: each, job: aJob() }))
    // A tick that was planned for the previous schedule is rejected.
    hasFields(await tick(store, { revision: 1, from: at, nextAt: at + HOUR, fires }), { accepted: false })
    const { fired } = await tick(store, { revision: 2, from: at, nextAt: at + HOUR, fires })
    assert.deepEqual(pluck(fired, 'at'), [at + 1])
    assert.deepEqual(await countsOf(store), { ready: 2 })
  }),
  test('P12 the job and the tick record are one transaction: a reader sees both or neither', async (t) => {
    const { store, another, clock } = t
    const other = await another()
    let at = await createPlanned(store, clock.now())
    for (let round = 0; round < 15; round += 1) {
      const job = aJob()
      const isNoted = async (): Promise<boolean> =>
        (await other.schedules.ticks(NAME, 100)).some((one) => one.job === job.id)
      const isThere = async (): Promise<boolean> => (await other.get([job.id]))[0] !== null
      const served = tick(store, { from: at, nextAt: at + 1, fires: [{ at, job }] })
      // Checks both orders: a reader that sees one of the two must also see the other.
      if (await isNoted()) assert.ok(await isThere(), 'a note without its job')
      if (await isThere()) assert.ok(await isNoted(), 'a job without its note')
      await served
      assert.deepEqual([await isNoted(), await isThere()], [true, true])
      at += 1
    }
  }),
  test('P12 a tick racing a pause or a delete serves before it, or not at all', async (t) => {
    const { store, another, clock } = t
    const other = await another()
    const at = clock.now()
    for (let round = 0; round < 10; round += 1) {
      const name = `s${round}`
      await store.schedules.create(name, aDefinition())
      const job = aJob()
      const [replies] = await Promise.all([
        store.schedules.tick([aTick(name, { nextAt: at + 1, fires: [{ at, job }] })]),
        round % 2 === 0 ? other.schedules.change(name, { paused: true }) : other.schedules.delete(name),
      ])
      const { accepted } = only(replies)
      assert.equal((await store.get([job.id]))[0] !== null, accepted)
      assert.equal((await store.schedules.ticks(name, 10)).length, accepted ? 1 : 0)
      const left = (await store.schedules.list()).find((one) => one.name === name)
      if (round % 2 === 0) assert.deepEqual([left?.planned, left?.nextAt], [false, null])
      else assert.equal(left, undefined)
    }
  }),
  test('P9 P12 an instant may be at any time; when it was served is by the clock of the database', async (t) => {
    const { store, clock } = t
    for (const at of [clock.now() - 10_000 * HOUR, clock.now() + HOUR]) {
      const { revision } = await store.schedules.create(NAME, aDefinition())
      await tick(store, { revision, nextAt: null, fires: [{ at, job: aJob() }] })
      assert.equal(
        (await store.schedules.ticks(NAME, 10)).find((one) => one.at === at)?.servedAt,
        clock.now(),
      )
      await store.schedules.delete(NAME)
      clock.advance(5)
    }
  }),
  test('P12 an instant that is listed twice in one tick is served once', async ({ store, clock }) => {
    const at = await createPlanned(store, clock.now())
    const [first, second] = [aJob(), aJob()]
    hasFields(
      await tick(store, {
        from: at,
        nextAt: null,
        fires: [first, second].map((job) => ({ at, job })),
      }),
      { fired: [{ at, outcome: 'enqueued', job: first.id }] },
    )
    assert.deepEqual(await countsOf(store), { ready: 1 })
  }),
]
