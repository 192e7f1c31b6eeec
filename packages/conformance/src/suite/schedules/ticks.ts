/** Ticks: each is served once, with its job and its record in one transaction. */
import assert from 'node:assert/strict'
import type { Tick } from 'jobmill/store'
import { aDefinition, aJob, anInstance, aTick, DONE, HOUR, only } from '../../factories.ts'
import { type Case, test } from '../case.ts'
import { hasFields, pluck } from '../looks.ts'
import {
  createPlanned,
  dailySchedule,
  declare,
  firesAt,
  isUnserved,
  NAME,
  nonOverlappingJob,
  onlySchedule,
  tick,
} from './schedule-helpers.ts'

export const tickCases: readonly Case[] = [
  test('P12 a tick plans a schedule that is not planned, and serves nothing', async (t) => {
    await t.store.schedules.create(NAME, aDefinition())
    const at = t.clock.now() + HOUR
    const reply = await tick(t.store, { nextAt: at, missed: 2 })
    assert.deepEqual(reply, { schedule: NAME, accepted: true, fired: [] })
    const planned = { planned: true, nextAt: at, missed: 2, lastAt: null, revision: 1 }
    hasFields(await onlySchedule(t.store), planned)
    await isUnserved(t)
  }),
  test('P12 a tick serves its instant: the job, the record, the next instant, and the fields of the schedule', async (t) => {
    const at = await createPlanned(t)
    t.clock.advance(20)
    const fire = { at, job: aJob({ payload: { n: 1 }, queue: 'new', priority: 3 }) }
    const served = { at, outcome: 'enqueued', job: fire.job.id } as const
    const reply = await tick(t.store, { from: at, nextAt: at + HOUR, fires: [fire] })
    assert.deepEqual(reply, { schedule: NAME, accepted: true, fired: [served] })
    const ready = { state: 'ready', queue: 'new', priority: 3, payload: '{"n":1}' } as const
    await t.jobIs(served.job, { ...ready, enqueuedAt: t.clock.now() })
    const last = { lastAt: at, lastOutcome: 'enqueued', lastJob: served.job } as const
    hasFields(await onlySchedule(t.store), { ...last, nextAt: at + HOUR, revision: 1 })
    assert.deepEqual(await t.store.schedules.ticks(NAME, 10), [{ ...served, servedAt: t.clock.now() }])
    await t.countsAreExact()
  }),
  test('a job that a tick enqueues may be due later', async (t) => {
    const at = await createPlanned(t)
    const late = { ...aJob(), delayMs: 500 }
    await tick(t.store, { from: at, nextAt: at + HOUR, fires: [{ at, job: late }] })
    await t.jobIs(late.id, { state: 'scheduled', dueAt: at + 500 })
  }),
  test('P12 a tick of another revision, from another instant, or of a missing schedule is refused as a whole', async (t) => {
    const at = await createPlanned(t)
    const before = await t.store.schedules.list()
    const fires = firesAt(at)
    const wrong: readonly Partial<Tick>[] = [
      { from: at, revision: 2 },
      { from: at, revision: 0 },
      { from: at + 1 },
      { from: at - HOUR },
      { from: null },
      { from: at, schedule: 'nope' },
    ]
    for (const one of wrong) {
      const reply = await tick(t.store, { nextAt: at + HOUR, fires, missed: 1, ...one })
      assert.deepEqual(reply, { schedule: one.schedule ?? NAME, accepted: false, fired: [] })
    }
    assert.deepEqual(await t.store.schedules.list(), before)
    await isUnserved(t)
  }),
  test('P12 a schedule that is paused or deleted is not served', async (t) => {
    const at = t.clock.now()
    await declare(t.store, 1)
    await t.store.schedules.change(NAME, { paused: true })
    const fires = firesAt(at)
    assert.equal((await tick(t.store, { revision: 2, nextAt: at, fires })).accepted, false)
    await t.store.schedules.change(NAME, { paused: false })
    await t.store.schedules.delete(NAME)
    for (const revision of [1, 2, 3, 4])
      assert.equal((await tick(t.store, { revision, nextAt: at, fires })).accepted, false)
    await isUnserved(t)
  }),
  test('P12 one tick serves several instants, in order, and the last is reported', async (t) => {
    const at = await createPlanned(t)
    t.clock.advance(HOUR)
    const fires = firesAt(at, at + 1, at + 2)
    const { fired } = await tick(t.store, { from: at, nextAt: at + 2 * HOUR, fires, missed: 4 })
    const ids = fires.map(({ job }) => job.id)
    assert.deepEqual(pluck(fired, 'job'), ids)
    assert.deepEqual(await t.claimIds(await t.worker()), ids)
    hasFields(await onlySchedule(t.store), { lastAt: at + 2, lastJob: ids[2], missed: 4 })
  }),
  test('P12 an instant whose job would overlap is recorded as skipped, with the job that is still waiting or running', async (t) => {
    const at = await createPlanned(t)
    const [first, second, third] = [nonOverlappingJob(), nonOverlappingJob(), nonOverlappingJob()]
    const fires = [first, second].map((job, n) => ({ at: at + n, job }))
    const both = await tick(t.store, { from: at, nextAt: at + 2, fires })
    assert.deepEqual(both.fired, [
      { at, outcome: 'enqueued', job: first.id },
      { at: at + 1, outcome: 'skipped', job: first.id },
    ])
    const lease = await t.claimOne(await t.worker())
    const later = [{ at: at + 2, job: second }]
    const running = await tick(t.store, { from: at + 2, nextAt: at + 3, fires: later })
    assert.deepEqual(running.fired, [{ at: at + 2, outcome: 'skipped', job: first.id }])
    hasFields(await onlySchedule(t.store), { lastAt: at + 2, lastOutcome: 'skipped', lastJob: first.id })
    await t.finish(lease, DONE)
    const free = await tick(t.store, { from: at + 3, nextAt: null, fires: [{ at: at + 3, job: third }] })
    assert.deepEqual(free.fired, [{ at: at + 3, outcome: 'enqueued', job: third.id }])
    await t.countsAre({ done: 1, ready: 1 })
  }),
  test('items of one call are processed in order, and a refused one does not affect the others', async (t) => {
    const at = await createPlanned(t)
    await t.store.schedules.create('other', aDefinition())
    const replies = await t.store.schedules.tick([
      aTick(NAME, { from: at, nextAt: at + 1, fires: firesAt(at) }),
      aTick('nope', { nextAt: at + 1, fires: firesAt(at) }),
      aTick(NAME, { from: at, nextAt: at + 9, fires: firesAt(at + 9) }),
      aTick('other', { nextAt: at + 5, fires: firesAt(at) }),
      aTick(NAME, { from: at + 1, nextAt: at + 2, fires: firesAt(at + 1) }),
    ])
    assert.deepEqual(pluck(replies, 'schedule'), [NAME, 'nope', NAME, 'other', NAME])
    assert.deepEqual(pluck(replies, 'accepted'), [true, false, false, true, true])
    const numbers = replies.map(({ fired }) => fired.length)
    assert.deepEqual(numbers, [1, 0, 0, 1, 1])
    assert.equal((await dailySchedule(t.store)).nextAt, at + 2)
    await t.countsAre({ ready: 3 })
    assert.deepEqual(await t.store.schedules.tick([]), [])
  }),
  test('P16 an accepted tick clears the error, and a refused one does not', async (t) => {
    await createPlanned(t)
    await t.store.schedules.failed(NAME, 'no')
    await tick(t.store, { from: null, nextAt: t.clock.now() })
    assert.equal((await onlySchedule(t.store)).error, 'no')
    await tick(t.store, { from: t.clock.now(), nextAt: t.clock.now() + 1 })
    assert.equal((await onlySchedule(t.store)).error, null)
  }),
  test('P12 a schedule without a next instant is planned and stays as it is', async (t) => {
    const at = await createPlanned(t)
    await tick(t.store, { from: at, nextAt: null, fires: firesAt(at) })
    hasFields(await onlySchedule(t.store), { planned: true, nextAt: null })
    assert.equal((await tick(t.store, { from: null, nextAt: at + 1 })).accepted, false)
    assert.equal((await t.renew(anInstance().id)).scheduleInMs, null)
  }),
  test('served instants are listed newest first, up to the limit', async (t) => {
    const at = await createPlanned(t)
    await tick(t.store, { from: at, nextAt: null, fires: firesAt(at + 3, at, at + 2, at + 1) })
    const instantsUpTo = async (limit: number): Promise<number[]> =>
      (await t.store.schedules.ticks(NAME, limit)).map((one) => one.at - at)
    assert.deepEqual(await instantsUpTo(10), [3, 2, 1, 0])
    assert.deepEqual(await instantsUpTo(2), [3, 2])
    assert.deepEqual(await t.store.schedules.ticks('nope', 10), [])
  }),
  test('P12 concurrent ticks of one instant from several handles make one job', async (t) => {
    const stores = await t.handles(4)
    const at = await createPlanned(t)
    for (let round = 0; round < 10; round += 1) {
      const from = at + round
      const replies = await Promise.all(
        stores.map((each) => tick(each, { from, nextAt: from + 1, fires: firesAt(from) })),
      )
      assert.equal(replies.filter(({ accepted }) => accepted).length, 1)
      assert.equal(replies.flatMap(({ fired }) => fired).length, 1)
      await t.countsAre({ ready: round + 1 })
    }
    assert.equal((await t.store.schedules.ticks(NAME, 100)).length, 10)
  }),
  test('P11 P12 a tick that is resent after a lost reply changes nothing', async (t) => {
    const at = await createPlanned(t)
    const sent = { from: at, nextAt: at + HOUR, fires: firesAt(at), missed: 1 }
    await tick(t.store, sent)
    const before = [await t.store.schedules.list(), await t.store.schedules.ticks(NAME, 10)]
    assert.equal((await tick(t.store, sent)).accepted, false)
    assert.deepEqual([await t.store.schedules.list(), await t.store.schedules.ticks(NAME, 10)], before)
    await t.countsAre({ ready: 1 })
  }),
  test('P12 a served instant is not served again when the schedule is planned again', async (t) => {
    const at = await createPlanned(t)
    const { fired } = await tick(t.store, { from: at, nextAt: at + HOUR, fires: firesAt(at) })
    await t.store.schedules.change(NAME, { when: 'every 1h' })
    await tick(t.store, { revision: 2, nextAt: at })
    const again = await tick(t.store, { revision: 2, from: at, nextAt: at + 5, fires: firesAt(at) })
    assert.deepEqual(again, { schedule: NAME, accepted: true, fired: [] })
    hasFields(await onlySchedule(t.store), { nextAt: at + 5, lastJob: only(fired).job })
    await t.countsAre({ ready: 1 })
  }),
  test('P12 a served instant is not served again after the schedule was deleted and created again', async (t) => {
    const at = await createPlanned(t)
    await tick(t.store, { from: at, nextAt: at + HOUR, fires: firesAt(at) })
    await t.store.schedules.delete(NAME)
    assert.equal((await t.store.schedules.ticks(NAME, 10)).length, 1)
    await createPlanned(t)
    const sent = { from: at, nextAt: at + HOUR, fires: firesAt(at, at + 1) }
    // A tick that was planned for the previous schedule is rejected.
    assert.equal((await tick(t.store, { ...sent, revision: 1 })).accepted, false)
    const { fired } = await tick(t.store, { ...sent, revision: 2 })
    assert.deepEqual(pluck(fired, 'at'), [at + 1])
    await t.countsAre({ ready: 2 })
  }),
  test('P12 the job and the tick record are one transaction: a reader sees both or neither', async (t) => {
    const other = await t.another()
    const start = await createPlanned(t)
    for (let at = start; at < start + 15; at += 1) {
      const job = aJob()
      const isNoted = async (): Promise<boolean> =>
        (await other.schedules.ticks(NAME, 100)).some((one) => one.job === job.id)
      const isThere = async (): Promise<boolean> => (await other.get([job.id]))[0] !== null
      const served = tick(t.store, { from: at, nextAt: at + 1, fires: [{ at, job }] })
      // Checks both orders: a reader that sees one of the two must also see the other.
      if (await isNoted()) assert.ok(await isThere(), 'a note without its job')
      if (await isThere()) assert.ok(await isNoted(), 'a job without its note')
      await served
      assert.deepEqual([await isNoted(), await isThere()], [true, true])
    }
  }),
  test('P12 a tick racing a pause or a delete serves before it, or not at all', async (t) => {
    const other = await t.another()
    const at = t.clock.now()
    for (let round = 0; round < 10; round += 1) {
      const name = `s${round}`
      await t.store.schedules.create(name, aDefinition())
      const job = aJob()
      const [replies] = await Promise.all([
        t.store.schedules.tick([aTick(name, { nextAt: at + 1, fires: [{ at, job }] })]),
        round % 2 === 0 ? other.schedules.change(name, { paused: true }) : other.schedules.delete(name),
      ])
      const { accepted } = only(replies)
      await t.statesAre([job.id], [accepted ? 'ready' : null])
      assert.equal((await t.store.schedules.ticks(name, 10)).length, accepted ? 1 : 0)
      const left = (await t.store.schedules.list()).find((one) => one.name === name)
      if (round % 2 === 0) assert.deepEqual([left?.planned, left?.nextAt], [false, null])
      else assert.equal(left, undefined)
    }
  }),
  test('P9 P12 an instant may be at any time; when it was served is by the clock of the database', async (t) => {
    for (const at of [t.clock.now() - 10_000 * HOUR, t.clock.now() + HOUR]) {
      const { revision } = await t.store.schedules.create(NAME, aDefinition())
      await tick(t.store, { revision, nextAt: null, fires: firesAt(at) })
      const served = (await t.store.schedules.ticks(NAME, 10)).find((one) => one.at === at)
      assert.equal(served?.servedAt, t.clock.now())
      await t.store.schedules.delete(NAME)
      t.clock.advance(5)
    }
  }),
  test('P12 an instant that is listed twice in one tick is served once', async (t) => {
    const at = await createPlanned(t)
    const fires = firesAt(at, at)
    const { fired } = await tick(t.store, { from: at, nextAt: null, fires })
    assert.deepEqual(fired, [{ at, outcome: 'enqueued', job: fires[0]?.job.id }])
    await t.countsAre({ ready: 1 })
  }),
]
