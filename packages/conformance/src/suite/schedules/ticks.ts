/** Ticks: each is served once, with its job and its record in one transaction. */
import assert from 'node:assert/strict'
import type { Tick } from 'jobmill/store'
import { aDefinition, aJob, anInstance, aHeartbeat, aTick } from '../../factories.ts'
import { DONE, HOUR } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { pluck, hasFields, countsAreExact, countsOf } from '../looks.ts'
import { NAME, createPlanned, tick, onlySchedule, nonOverlappingJob } from './schedule-helpers.ts'

export const tickCases: readonly Case[] = [
  test('P12 a tick plans a schedule that is not planned, and serves nothing', async ({ store, clock }) => {
    await store.schedules.create(NAME, aDefinition())
    const at = clock.now() + HOUR
    assert.deepEqual(await tick(store, { nextAt: at, missed: 2 }), {
      schedule: NAME,
      accepted: true,
      fired: [],
    })
    hasFields(await onlySchedule(store), {
      planned: true,
      nextAt: at,
      missed: 2,
      lastAt: null,
      revision: 1,
    })
    assert.deepEqual(await store.schedules.ticks(NAME, 10), [])
  }),
  test('P12 a tick serves its instant: the job, the record, the next instant, and the fields of the schedule', async (t) => {
    const { store, clock, jobIs } = t
    const at = await createPlanned(store, clock.now())
    clock.advance(20)
    const fire = { at, job: aJob({ payload: { n: 1 }, queue: 'new', priority: 3 }) }
    const fired = [{ at, outcome: 'enqueued', job: fire.job.id }]
    assert.deepEqual(await tick(store, { from: at, nextAt: at + HOUR, fires: [fire] }), {
      schedule: NAME,
      accepted: true,
      fired,
    })
    await jobIs(fire.job.id, {
      state: 'ready',
      queue: 'new',
      priority: 3,
      payload: '{"n":1}',
      enqueuedAt: clock.now(),
    })
    hasFields(await onlySchedule(store), {
      nextAt: at + HOUR,
      lastAt: at,
      lastOutcome: 'enqueued',
      lastJob: fire.job.id,
      revision: 1,
    })
    assert.deepEqual(await store.schedules.ticks(NAME, 10), [{ ...fired[0], servedAt: clock.now() }])
    await countsAreExact(store)
  }),
  test('a job that a tick enqueues may be due later', async ({ store, clock, jobIs }) => {
    const at = await createPlanned(store, clock.now())
    const late = { ...aJob(), delayMs: 500 }
    await tick(store, { from: at, nextAt: at + HOUR, fires: [{ at, job: late }] })
    await jobIs(late.id, { state: 'scheduled', dueAt: at + 500 })
  }),
  test('P12 a tick of another revision, from another instant, or of a missing schedule is refused as a whole', async (t) => {
    const { store, clock } = t
    const at = await createPlanned(store, clock.now())
    const before = await store.schedules.list()
    const fires = [{ at, job: aJob() }]
    const wrong: readonly Partial<Tick>[] = [
      { from: at, revision: 2 },
      { from: at, revision: 0 },
      { from: at + 1 },
      { from: at - HOUR },
      { from: null },
      { from: at, schedule: 'nope' },
    ]
    for (const one of wrong) {
      const [reply] = await store.schedules.tick([
        aTick(NAME, { nextAt: at + HOUR, fires, missed: 1, ...one }),
      ])
      assert.deepEqual(reply, { schedule: one.schedule ?? NAME, accepted: false, fired: [] })
    }
    assert.deepEqual(await store.schedules.list(), before)
    assert.deepEqual(await store.schedules.ticks(NAME, 10), [])
    assert.deepEqual(await store.counts(), [])
  }),
  test('P12 a schedule that is paused or deleted is not served', async ({ store, clock }) => {
    const at = clock.now()
    await store.schedules.declare([{ name: NAME, version: 1, definition: aDefinition() }])
    await store.schedules.change(NAME, { paused: true })
    const fires = [{ at, job: aJob() }]
    assert.equal((await tick(store, { revision: 2, nextAt: at, fires })).accepted, false)
    await store.schedules.change(NAME, { paused: false })
    await store.schedules.delete(NAME)
    for (const revision of [1, 2, 3, 4])
      assert.equal((await tick(store, { revision, nextAt: at, fires })).accepted, false)
    assert.deepEqual(await store.schedules.ticks(NAME, 10), [])
    assert.deepEqual(await store.counts(), [])
  }),
  test('P12 one tick serves several instants, in order, and the last is reported', async (t) => {
    const { store, clock, worker, claim } = t
    const at = await createPlanned(store, clock.now())
    clock.advance(HOUR)
    const fires = [0, 1, 2].map((n) => ({ at: at + n, job: aJob() }))
    const { fired } = await tick(store, { from: at, nextAt: at + 2 * HOUR, fires, missed: 4 })
    const ids = fires.map(({ job }) => job.id)
    assert.deepEqual(pluck(fired, 'job'), ids)
    assert.deepEqual(pluck(await claim(await worker()), 'id'), ids)
    hasFields(await onlySchedule(store), { lastAt: at + 2, lastJob: ids[2], missed: 4 })
  }),
  test('P12 an instant whose job would overlap is recorded as skipped, with the job that is still waiting or running', async (t) => {
    const { store, clock, worker, claimOne, finish } = t
    const at = await createPlanned(store, clock.now())
    const [first, second, third] = [nonOverlappingJob(), nonOverlappingJob(), nonOverlappingJob()]
    const fires = [first, second].map((job, n) => ({ at: at + n, job }))
    const both = await tick(store, { from: at, nextAt: at + 2, fires })
    assert.deepEqual(both.fired, [
      { at, outcome: 'enqueued', job: first.id },
      { at: at + 1, outcome: 'skipped', job: first.id },
    ])
    const lease = await claimOne(await worker())
    const running = await tick(store, {
      from: at + 2,
      nextAt: at + 3,
      fires: [{ at: at + 2, job: second }],
    })
    assert.deepEqual(running.fired, [{ at: at + 2, outcome: 'skipped', job: first.id }])
    hasFields(await onlySchedule(store), { lastAt: at + 2, lastOutcome: 'skipped', lastJob: first.id })
    await finish(lease, DONE)
    const free = await tick(store, { from: at + 3, nextAt: null, fires: [{ at: at + 3, job: third }] })
    assert.deepEqual(free.fired, [{ at: at + 3, outcome: 'enqueued', job: third.id }])
    assert.deepEqual(await countsOf(store), { done: 1, ready: 1 })
  }),
  test('items of one call are processed in order, and a refused one does not affect the others', async (t) => {
    const { store, clock } = t
    const at = await createPlanned(store, clock.now())
    await store.schedules.create('other', aDefinition())
    const fire = (n: number): Tick['fires'] => [{ at: at + n, job: aJob() }]
    const replies = await store.schedules.tick([
      aTick(NAME, { from: at, nextAt: at + 1, fires: fire(0) }),
      aTick('nope', { nextAt: at + 1, fires: fire(0) }),
      aTick(NAME, { from: at, nextAt: at + 9, fires: fire(9) }),
      aTick('other', { nextAt: at + 5, fires: fire(0) }),
      aTick(NAME, { from: at + 1, nextAt: at + 2, fires: fire(1) }),
    ])
    assert.deepEqual(
      replies.map(({ schedule, accepted, fired }) => [schedule, accepted, fired.length]),
      [
        [NAME, true, 1],
        ['nope', false, 0],
        [NAME, false, 0],
        ['other', true, 1],
        [NAME, true, 1],
      ],
    )
    assert.equal((await store.schedules.list())[0]?.nextAt, at + 2)
    assert.deepEqual(await countsOf(store), { ready: 3 })
    assert.deepEqual(await store.schedules.tick([]), [])
  }),
  test('P16 an accepted tick clears the error, and a refused one does not', async ({ store, clock }) => {
    await createPlanned(store, clock.now())
    await store.schedules.failed(NAME, 'no')
    await tick(store, { from: null, nextAt: clock.now() })
    assert.equal((await onlySchedule(store)).error, 'no')
    await tick(store, { from: clock.now(), nextAt: clock.now() + 1 })
    assert.equal((await onlySchedule(store)).error, null)
  }),
  test('P12 a schedule without a next instant is planned and stays as it is', async ({ store, clock }) => {
    const at = await createPlanned(store, clock.now())
    await tick(store, { from: at, nextAt: null, fires: [{ at, job: aJob() }] })
    hasFields(await onlySchedule(store), { planned: true, nextAt: null })
    assert.equal((await tick(store, { from: null, nextAt: at + 1 })).accepted, false)
    assert.equal((await store.instances.renew(aHeartbeat(anInstance().id))).scheduleInMs, null)
  }),
  test('served instants are listed newest first, up to the limit', async ({ store, clock }) => {
    const at = await createPlanned(store, clock.now())
    const instants = [3, 0, 2, 1].map((n) => at + n)
    await tick(store, {
      from: at,
      nextAt: null,
      fires: instants.map((each) => ({ at: each, job: aJob() })),
    })
    const instantsUpTo = async (limit: number): Promise<number[]> =>
      (await store.schedules.ticks(NAME, limit)).map((one) => one.at - at)
    assert.deepEqual(await instantsUpTo(10), [3, 2, 1, 0])
    assert.deepEqual(await instantsUpTo(2), [3, 2])
    assert.deepEqual(await store.schedules.ticks('nope', 10), [])
  }),
]
