/** P18: a parked job holds nothing, and runs again when one of its waits is over. */
import assert from 'node:assert/strict'
import type { Finished } from 'jobmill/store'
import { aFinish, DONE, HOUR, later, only } from '../../factories.ts'
import type { Bench, HeldLease } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { anEvent, aStep, aWait, PARKED, received, send, waitForEvent, waiting } from './step-helpers.ts'

const park = (t: Bench, lease: HeldLease): Promise<Finished> => t.finish(lease, PARKED)

async function sleeping(t: Bench, waitMs: number, request = {}): Promise<HeldLease> {
  const lease = await t.running(request)
  await t.store.steps.wait([aWait(lease, 'nap', { waitMs })])
  assert.equal((await park(t, lease)).state, 'scheduled')
  return lease
}

/** Parked until this event. */
async function waitingFor(t: Bench, event: string, waitMs: number | null = null): Promise<HeldLease> {
  const lease = await t.running()
  await waitForEvent(t, lease, event, waitMs)
  assert.equal((await park(t, lease)).state, 'scheduled')
  return lease
}

export const parkedCases: readonly Case[] = [
  test('P18 a parked job is scheduled until its sleep is over, with its attempt refunded', async (t) => {
    const lease = await sleeping(t, HOUR)
    const dueAt = t.clock.now() + HOUR
    await t.jobIs(lease.id, { state: 'scheduled', dueAt, attempt: 0, instance: null, waitsForOrder: false })
    assert.deepEqual(await t.store.instances.held(lease.instance), [])
    await t.countsAreExact()
    t.clock.advance(HOUR - 1)
    assert.equal((await t.store.stage(10)).ready, 0)
    t.clock.advance(1)
    assert.equal((await t.store.stage(10)).ready, 1)
    const next = await t.claimAgain(lease)
    assert.equal(next.attempt, 1)
    await t.finish(next, DONE)
    await t.historyIs(lease.id, [
      ['parked', null],
      ['returned', null],
    ])
    await t.countsAreExact()
  }),
  test('P18 a job that waits for an event without a timeout has no due time', async (t) => {
    const lease = await waitingFor(t, 'e')
    await t.jobIs(lease.id, { state: 'scheduled', dueAt: null })
    t.clock.advance(100 * HOUR)
    assert.equal((await t.store.stage(10)).ready, 0)
    const heartbeat = await t.renew(await t.worker())
    assert.equal(heartbeat.stageInMs, null)
    const { jobs } = await t.store.list({ state: 'scheduled' }, { limit: 10 })
    assert.deepEqual(
      jobs.map(({ id, dueAt }) => [id, dueAt]),
      [[lease.id, null]],
    )
  }),
  test('P18 an event makes a parked job ready, and another event does not', async (t) => {
    const lease = await waitingFor(t, 'e', HOUR)
    await send(t, lease.id, 'other')
    await t.store.stage(10)
    await t.jobIs(lease.id, { state: 'scheduled' })
    await send(t, lease.id, 'e')
    await t.store.stage(10)
    await t.jobIs(lease.id, { state: 'ready' })
    assert.deepEqual(await waitForEvent(t, await t.claimAgain(lease), 'e'), received('e'))
    await t.countsAreExact()
  }),
  test('P18 an event does not start a job that waits for something else: its delay, its backoff, its snooze', async (t) => {
    const delayed = await t.enqueue({ delay: HOUR })
    const [failed, snoozed] = await t.runningJobs(2)
    for (const lease of [failed, snoozed]) await waitForEvent(t, lease, 'e')
    await t.finish(failed, later(HOUR))
    await t.finish(snoozed, later(HOUR, { refund: true }), { outcome: 'snoozed' })
    for (const id of [delayed, failed.id, snoozed.id]) {
      await send(t, id, 'e')
      await t.store.stage(10)
      await t.jobIs(id, { state: 'scheduled' })
    }
    t.clock.advance(HOUR)
    assert.equal((await t.store.stage(10)).ready, 3)
    assert.deepEqual(await waitForEvent(t, await t.claimAgain(failed), 'e'), received('e'))
  }),
  test('P18 a wait that the last attempt did not ask for neither wakes the job nor keeps it parked', async (t) => {
    // The code of the first attempt waited for an event. That of the second one sleeps.
    const lease = await waitingFor(t, 'survey', HOUR)
    await t.store.runNow([lease.id])
    const next = await t.claimAgain(lease)
    await t.store.steps.wait([aWait(next, 'nap', { waitMs: 5 * HOUR, place: 1 })])
    assert.equal((await park(t, next)).state, 'scheduled')
    await t.jobIs(lease.id, { dueAt: t.clock.now() + 5 * HOUR })
    await send(t, lease.id, 'survey')
    t.clock.advance(2 * HOUR)
    assert.equal((await t.store.stage(10)).ready, 0)
    await t.jobIs(lease.id, { state: 'scheduled' })
    t.clock.advance(3 * HOUR)
    assert.equal((await t.store.stage(10)).ready, 1)
    // A later attempt that asks again still receives the event.
    assert.deepEqual(await waitForEvent(t, await t.claimAgain(lease), 'survey', HOUR), received('survey'))
  }),
  test('a park resets the number of the attempt: a wait counts as a recorded step', async (t) => {
    const lease = await t.running({ maxAttempts: 9 })
    await t.finish(lease, later(0))
    const second = await t.claimAgain(lease)
    await t.finish(second, later(0))
    const third = await t.claimAgain(lease)
    assert.equal(third.attempt, 3)
    await t.store.steps.wait([aWait(third, 'nap', { waitMs: 1 })])
    await park(t, third)
    t.clock.advance(1)
    await t.store.stage(10)
    assert.equal((await t.claimAgain(lease)).attempt, 1)
  }),
  test('P18 an event between the wait and the park makes the job ready at once', async (t) => {
    const lease = await t.running()
    assert.deepEqual(await waitForEvent(t, lease, 'e'), waiting(null))
    await send(t, lease.id, 'e')
    await park(t, lease)
    await t.store.stage(10)
    await t.jobIs(lease.id, { state: 'ready' })
  }),
  test('P18 events and parks at the same time: each job runs again, and receives its event', async (t) => {
    const [first, second] = await t.handles(2)
    const leases = await t.runningJobs(12)
    await Promise.all(leases.map((lease) => waitForEvent(t, lease, 'e')))
    await Promise.all(
      leases.flatMap((lease, n) => {
        const parked = () => first.finish([aFinish(lease, PARKED)])
        const sent = () => second.steps.send([anEvent(lease.id, 'e', String(n))])
        return n % 2 === 0 ? [parked(), sent()] : [sent(), parked()]
      }),
    )
    await t.store.stage(100)
    await t.store.stage(100)
    await t.statesAre(
      leases.map(({ id }) => id),
      leases.map(() => 'ready'),
    )
    for (const [n, lease] of leases.entries())
      assert.deepEqual(await waitForEvent(t, await t.claimAgain(lease), 'e'), received('e', String(n)))
  }),
  {
    name: 'P10 P18 an event that commits after the park makes the job ready',
    needs: ['transactions'],
    async run(t) {
      const lease = await t.running()
      await waitForEvent(t, lease, 'e')
      await t.transaction((tx) => t.store.steps.send([anEvent(lease.id, 'e')], { tx }), 'commit')
      await park(t, lease)
      await t.store.stage(10)
      await t.jobIs(lease.id, { state: 'ready' })
      const undone = await waitingFor(t, 'e')
      await t.transaction((tx) => t.store.steps.send([anEvent(undone.id, 'e')], { tx }), 'rollback')
      await t.store.stage(10)
      await t.jobIs(undone.id, { state: 'scheduled' })
    },
  },
  test('P18 the first of several waits makes the job ready', async (t) => {
    const lease = await t.running()
    await t.store.steps.wait([
      aWait(lease, 'long', { waitMs: 5 * HOUR }),
      aWait(lease, 'short', { waitMs: HOUR, place: 1 }),
      aWait(lease, 'e', { events: ['e'], place: 2 }),
    ])
    await park(t, lease)
    await t.jobIs(lease.id, { dueAt: t.clock.now() + HOUR })
    t.clock.advance(HOUR)
    assert.equal((await t.store.stage(10)).ready, 1)
    const next = await t.claimAgain(lease)
    await t.store.steps.wait([
      aWait(next, 'long', { waitMs: 9 * HOUR }),
      aWait(next, 'e', { events: ['e'], place: 2 }),
    ])
    await park(t, next)
    await t.jobIs(lease.id, { state: 'scheduled', dueAt: t.clock.now() + 4 * HOUR })
  }),
  test('P18 a wait that ends before its attempt is parked makes the job ready, once', async (t) => {
    for (const ends of [{ waitMs: 5 }, { waitMs: 5, events: ['other'] }]) {
      const lease = await t.running()
      const other = { events: ['e'], place: 1 }
      await t.store.steps.wait([aWait(lease, 'ends', ends), aWait(lease, 'e', other)])
      t.clock.advance(6)
      assert.equal((await park(t, lease)).state, 'ready')
      const next = await t.claimAgain(lease)
      assert.equal((await waitForEvent(t, next, 'e')).isDone, false)
      assert.equal((await park(t, next)).state, 'scheduled')
      await t.jobIs(lease.id, { state: 'scheduled', dueAt: null })
    }
  }),
  test('a park without an open wait makes the job ready', async (t) => {
    const lease = await t.running()
    await t.store.steps.record([aStep(lease, 'a'), aStep(lease, 'b', { place: 1, isDone: false })])
    assert.equal((await park(t, lease)).state, 'ready')
    await t.jobIs(lease.id, { state: 'ready', attempt: 0 })
    await t.countsAreExact()
  }),
  test('P2 P18 a stale park is refused, and a repeated one changes nothing', async (t) => {
    const [stale, current] = await t.takenOver()
    assert.equal((await park(t, stale)).accepted, false)
    await t.store.steps.wait([aWait(current, 'nap', { waitMs: HOUR })])
    await park(t, current)
    const again = await t.changesNothing(() => park(t, current))
    assert.deepEqual([again.accepted, again.again], [true, true])
  }),
  test('P8 a cancel that was requested ends a job instead of parking it', async (t) => {
    const lease = await t.running()
    await t.store.steps.wait([aWait(lease, 'nap', { waitMs: HOUR })])
    await t.store.cancel([lease.id], 'stop it')
    assert.equal((await park(t, lease)).state, 'cancelled')
    await t.historyIs(lease.id, [['cancelled', 'stop it']])
  }),
  test('P8 a parked job can be cancelled, run now, and deleted', async (t) => {
    const [cancelled, early, deleted] = [
      await sleeping(t, HOUR),
      await sleeping(t, HOUR),
      await sleeping(t, HOUR),
    ]
    assert.equal(only(await t.store.cancel([cancelled.id], 'no')).state, 'cancelled')
    assert.equal(only(await t.store.runNow([early.id])).state, 'ready')
    // Its wait is not over.
    const next = await t.claimAgain(early)
    assert.deepEqual(await t.store.steps.wait([aWait(next, 'nap', { waitMs: 9 * HOUR })]), [waiting(HOUR)])
    assert.equal(only(await t.store.delete([deleted.id])).verdict, 'changed')
    await t.countsAreExact()
  }),
  test('a parked job keeps its order lock', async (t) => {
    const lease = await sleeping(t, HOUR, { orderKey: 'o' })
    const behind = await t.enqueue({ orderKey: 'o' })
    await t.store.stage(10)
    await t.jobIs(behind, { state: 'scheduled', waitsForOrder: true })
    t.clock.advance(HOUR)
    assert.equal((await t.store.stage(10)).ready, 1)
    await t.finish(await t.claimAgain(lease), DONE)
    assert.equal((await t.store.stage(10)).ready, 1)
    await t.jobIs(behind, { state: 'ready' })
  }),
  {
    name: 'P13 a parked job holds no permit',
    needs: ['limits'],
    async run(t) {
      await t.store.limits.declare([{ name: 'one', settings: { type: 'concurrency', most: 1 } }])
      await t.enqueue({ kind: 'warm' })
      await t.setQueue('default', { limit: 'one' })
      await t
        .claimOne(await t.worker({ leaseMs: HOUR }), { kinds: ['warm'] })
        .then((lease) => t.finish(lease, DONE))
      const lease = await sleeping(t, HOUR)
      assert.equal(only(await t.store.limits.list()).held, 0)
      await t.enqueue({ kind: 'next' })
      assert.equal((await t.claim(await t.worker(), { kinds: ['next'] })).length, 1)
      await t.jobIs(lease.id, { state: 'scheduled' })
    },
  },
]
