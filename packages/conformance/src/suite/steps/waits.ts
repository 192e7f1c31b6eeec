/** P18: waits, and the events that end them. */
import assert from 'node:assert/strict'
import { aJob, DEAD, DONE, HOUR, later, only } from '../../factories.ts'
import { type Case, test } from '../case.ts'
import {
  aStep,
  anEvent,
  aWait,
  doneSteps,
  received,
  REFUSED,
  send,
  TIMED_OUT,
  waitForEvent,
  waiting,
} from './step-helpers.ts'

export const waitCases: readonly Case[] = [
  test('P18 a sleep ends when its time is over, counted from its first call', async (t) => {
    const lease = await t.running()
    const nap = aWait(lease, 'nap', { waitMs: HOUR })
    assert.deepEqual(await t.store.steps.wait([nap]), [waiting(HOUR)])
    t.clock.advance(HOUR - 1)
    assert.deepEqual(await t.store.steps.wait([{ ...nap, waitMs: 5 * HOUR }]), [waiting(1)])
    assert.deepEqual(await doneSteps(t, lease.id), [])
    t.clock.advance(1)
    // The sleep has ended, although nothing was written.
    assert.deepEqual(await doneSteps(t, lease.id), ['nap'])
    assert.deepEqual(await t.store.steps.wait([nap]), [TIMED_OUT])
  }),
  test('P18 a sleep until an instant ends then, and at once if that has passed', async (t) => {
    const lease = await t.running()
    const at = t.clock.now()
    const until = (name: string, instant: number, place: number) =>
      aWait(lease, name, { until: instant, place })
    const reply = await t.store.steps.wait([until('soon', at + 10, 0), until('past', at - 10, 1)])
    assert.deepEqual(reply, [waiting(10), TIMED_OUT])
  }),
  test('P18 an event that was sent before the wait ends it at once', async (t) => {
    const id = await t.enqueue({ kind: 'early' })
    assert.deepEqual(await send(t, id, 'paid', '{"amount":5}'), { id, state: 'ready', isStored: true })
    const lease = await t.claimOne(await t.worker(), { kinds: ['early'] })
    assert.deepEqual(await waitForEvent(t, lease, 'other', HOUR), waiting(HOUR))
    assert.deepEqual(await waitForEvent(t, lease, 'paid'), received('paid', '{"amount":5}'))
  }),
  test('P18 events of one name are received in their order, each by one wait', async (t) => {
    const lease = await t.running()
    for (const payload of ['1', '2', '3']) {
      await send(t, lease.id, 'e', payload)
      t.clock.advance(1)
    }
    const wait = (name: string) => aWait(lease, name, { events: ['e'], place: Number(name) })
    assert.deepEqual(await t.store.steps.wait([wait('1'), wait('2')]), [
      received('e', '1'),
      received('e', '2'),
    ])
    // A repeated call gets the same event, and takes no other.
    assert.deepEqual(await t.store.steps.wait([wait('1')]), [received('e', '1')])
    assert.deepEqual(await Promise.all([t.store.steps.wait([wait('3')]), t.store.steps.wait([wait('3')])]), [
      [received('e', '3')],
      [received('e', '3')],
    ])
    assert.deepEqual(await t.store.steps.wait([wait('4')]), [waiting(null)])
  }),
  test('P18 a wait for several events ends with the oldest of them', async (t) => {
    const lease = await t.running()
    await send(t, lease.id, 'refused')
    t.clock.advance(1)
    await send(t, lease.id, 'paid')
    const wait = aWait(lease, 'either', { events: ['paid', 'refused'] })
    assert.deepEqual(await t.store.steps.wait([wait]), [received('refused')])
    assert.deepEqual(await t.store.steps.list(lease.id), [
      {
        name: 'either',
        place: 0,
        kind: 'event',
        startedAt: t.clock.now(),
        endedAt: t.clock.now(),
        dueAt: null,
        events: ['paid', 'refused'],
        result: '{"event":"refused","payload":1}',
        checkpoint: null,
      },
    ])
  }),
  test('P18 an event that arrives with the timeout is received, and after it is not', async (t) => {
    const [soon, late] = await t.runningJobs(2)
    for (const lease of [soon, late]) assert.deepEqual(await waitForEvent(t, lease, 'e', HOUR), waiting(HOUR))
    t.clock.advance(HOUR)
    assert.deepEqual(await waitForEvent(t, late, 'e', HOUR), TIMED_OUT)
    for (const { id } of [soon, late]) await send(t, id, 'e')
    assert.deepEqual(await waitForEvent(t, soon, 'e', HOUR), received('e'))
    assert.deepEqual(await waitForEvent(t, late, 'e', HOUR), TIMED_OUT)
  }),
  test('P2 P18 a wait under a stale token is refused, and takes no event', async (t) => {
    const [stale, current] = await t.takenOver()
    await send(t, current.id, 'e')
    assert.deepEqual(await waitForEvent(t, stale, 'e'), REFUSED)
    assert.deepEqual(await t.store.steps.read([current.id]), [[]])
    assert.deepEqual(await waitForEvent(t, current, 'e'), received('e'))
  }),
  test('P18 a received event is recorded: the next attempt gets the same one', async (t) => {
    const lease = await t.running()
    await send(t, lease.id, 'e', '1')
    await waitForEvent(t, lease, 'e')
    await send(t, lease.id, 'e', '2')
    await t.crash()
    const next = await t.claimAgain(lease)
    assert.equal(next.hasSteps, true)
    assert.deepEqual(await waitForEvent(t, next, 'e'), received('e', '1'))
  }),
  test('a wait that is over resets the number of the attempt, and an open one does not', async (t) => {
    const lease = await t.running({ maxAttempts: 9 })
    await t.finish(lease, later(0))
    const second = await t.claimAgain(lease)
    await waitForEvent(t, second, 'e')
    await t.jobIs(lease.id, { attempt: 2 })
    await send(t, lease.id, 'e')
    await waitForEvent(t, second, 'e')
    await t.jobIs(lease.id, { attempt: 1 })
  }),
  test('P18 an event that is sent twice is stored once, also after it was received', async (t) => {
    const lease = await t.running()
    const event = anEvent(lease.id, 'e')
    const stored = { id: lease.id, state: 'running', isStored: true }
    const twice = await Promise.all([t.store.steps.send([event]), t.store.steps.send([event])])
    assert.deepEqual(twice.flat(), [stored, stored])
    await waitForEvent(t, lease, 'e')
    assert.deepEqual(await t.store.steps.send([event]), [stored])
    const second = aWait(lease, 'second', { events: ['e'], place: 1, waitMs: HOUR })
    assert.deepEqual(await t.store.steps.wait([second]), [waiting(HOUR)])
    await t.finish(lease, DONE)
    assert.deepEqual(await t.store.steps.send([event]), [{ ...stored, state: 'done' }])
  }),
  test('an event for a job that is unknown or has ended is not stored', async (t) => {
    const lease = await t.running()
    await t.finish(lease, DEAD)
    const unknown = aJob().id
    const replies = await t.store.steps.send([anEvent(unknown, 'e'), anEvent(lease.id, 'e')])
    assert.deepEqual(replies, [
      { id: null, state: null, isStored: false },
      { id: lease.id, state: 'dead', isStored: false },
    ])
    await t.store.retry([lease.id])
    assert.deepEqual(await waitForEvent(t, await t.claimAgain(lease), 'e'), waiting(null))
  }),
  test('P11 an event reaches the job that holds a dedupe key', async (t) => {
    const lease = await t.running({ dedupe: { key: 'order 7' } })
    const to = { dedupeKey: 'global order 7' }
    assert.deepEqual(await send(t, to, 'e'), { id: lease.id, state: 'running', isStored: true })
    assert.deepEqual(await waitForEvent(t, lease, 'e'), received('e'))
    assert.deepEqual(await send(t, { dedupeKey: 'global none' }, 'e'), {
      id: null,
      state: null,
      isStored: false,
    })
    await t.finish(lease, DONE)
    assert.deepEqual(await send(t, to, 'e'), { id: null, state: null, isStored: false })
  }),
  test('an event for one kind is not stored for a job of another', async (t) => {
    const order = await t.running({ kind: 'order', dedupe: { key: 'order 8' } })
    const sent = (kind: string) => ({ ...anEvent(order.id, 'e', `"${kind}"`), kind })
    const byKey = { ...anEvent({ dedupeKey: 'global order 8' }, 'e'), kind: 'mail' }
    const refused = { id: order.id, state: 'running', isStored: false, otherKind: 'order' }
    assert.deepEqual(await t.store.steps.send([sent('mail'), sent('order'), byKey]), [
      refused,
      { id: order.id, state: 'running', isStored: true },
      refused,
    ])
    assert.deepEqual(await waitForEvent(t, order, 'e', HOUR), received('e', '"order"'))
    const second = aWait(order, 'second', { events: ['e'], place: 1, waitMs: HOUR })
    assert.deepEqual(await t.store.steps.wait([second]), [waiting(HOUR)])
    await t.finish(order, DONE)
    assert.deepEqual(await t.store.steps.send([sent('mail'), sent('order')]), [
      { ...refused, state: 'done' },
      { id: order.id, state: 'done', isStored: false },
    ])
  }),
  {
    name: 'P10 P18 an event in a transaction arrives when it commits, and not at all after a rollback',
    needs: ['transactions'],
    async run(t) {
      const lease = await t.running()
      for (const end of ['rollback', 'commit'] as const) {
        const reply = await t.transaction((tx) => t.store.steps.send([anEvent(lease.id, 'e')], { tx }), end)
        assert.equal(only(reply).isStored, true)
        const expected = end === 'commit' ? received('e') : waiting(null)
        assert.deepEqual(await waitForEvent(t, lease, 'e'), expected)
      }
    },
  },
  test('several steps and waits of one attempt do not affect each other', async (t) => {
    const lease = await t.running()
    await send(t, lease.id, 'b')
    const replies = await t.store.steps.wait([
      aWait(lease, 'a', { events: ['a'], place: 0, waitMs: HOUR }),
      aWait(lease, 'b', { events: ['b'], place: 1 }),
      aWait(lease, 'nap', { place: 2, waitMs: 5 }),
    ])
    assert.deepEqual(replies, [waiting(HOUR), received('b'), waiting(5)])
    await t.store.steps.record([aStep(lease, 'run', { place: 3 })])
    assert.deepEqual(await doneSteps(t, lease.id), ['b', 'run'])
  }),
]
