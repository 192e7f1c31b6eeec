/** P17: a recorded step never changes, and every later attempt of the job reads it. */
import assert from 'node:assert/strict'
import { aFinish, aJob, DEAD, DONE, FORGET, HOUR, later, only, RELEASED } from '../../factories.ts'
import { type Case, test } from '../case.ts'
import { pluck } from '../looks.ts'
import { aStep, aWait, doneSteps, PARKED, send } from './step-helpers.ts'

export const stepCases: readonly Case[] = [
  test('P17 a recorded step is read by the next attempt, whatever ended the first one', async (t) => {
    for (const transition of [RELEASED, later(0), later(HOUR), DEAD] as const) {
      const lease = await t.running()
      assert.equal(lease.hasSteps, undefined)
      assert.deepEqual(await t.store.steps.record([aStep(lease, 'a', { result: '{"n":1}' })]), [true])
      await t.finish(lease, transition)
      if (transition === DEAD) await t.store.retry([lease.id])
      else if (transition !== RELEASED) await t.store.runNow([lease.id])
      const next = await t.claimAgain(lease)
      assert.equal(next.hasSteps, true)
      const memo = { name: 'a', place: 0, kind: 'run', isDone: true, result: '{"n":1}', checkpoint: null }
      assert.deepEqual(await t.store.steps.read([lease.id]), [[memo]])
    }
  }),
  test('P4 P17 a recorded step survives the crash of its process', async (t) => {
    const lease = await t.running()
    await t.store.steps.record([aStep(lease, 'a')])
    await t.crash()
    assert.equal((await t.claimAgain(lease)).hasSteps, true)
    assert.deepEqual(await doneSteps(t, lease.id), ['a'])
  }),
  test('P2 P17 a stale token records nothing, and does not affect the other items', async (t) => {
    const [stale, current] = await t.takenOver()
    const other = await t.running()
    const items = [aStep(stale, 'a'), aStep(other, 'a'), aStep({ id: aJob().id, token: 1 }, 'a')]
    assert.deepEqual(await t.store.steps.record(items), [false, true, false])
    assert.deepEqual(await t.store.steps.read([current.id]), [[]])
    assert.deepEqual(await doneSteps(t, other.id), ['a'])
    await t.finish(other, DONE)
    assert.deepEqual(await t.store.steps.record([aStep(other, 'b')]), [false])
    assert.deepEqual(await doneSteps(t, other.id), ['a'])
  }),
  test('P17 a done step keeps its first result when it is recorded again', async (t) => {
    const lease = await t.running()
    const [first, again] = [aStep(lease, 'a', { result: '1' }), aStep(lease, 'a', { result: '2' })]
    assert.deepEqual(await t.store.steps.record([first]), [true])
    assert.deepEqual(await Promise.all([t.store.steps.record([first]), t.store.steps.record([again])]), [
      [true],
      [true],
    ])
    const [memos] = await t.store.steps.read([lease.id])
    assert.equal(memos?.[0]?.result, '1')
  }),
  test('no items do nothing, and jobs without steps have none', async (t) => {
    const lease = await t.running()
    assert.deepEqual(await t.store.steps.record([]), [])
    assert.deepEqual(await t.store.steps.wait([]), [])
    assert.deepEqual(await t.store.steps.send([]), [])
    assert.deepEqual(await t.store.steps.read([]), [])
    assert.deepEqual(await t.store.steps.read([lease.id, aJob().id]), [[], []])
    assert.deepEqual(await t.store.steps.list(lease.id), [])
    assert.equal(await t.store.steps.list(aJob().id), null)
  }),
  test('steps are listed by place, with their times', async (t) => {
    const lease = await t.running()
    const at = t.clock.now()
    await t.store.steps.record([
      aStep(lease, 'late', { place: 2, result: null, ranMs: 500 }),
      aStep(lease, 'first', { place: 0, kind: 'transaction' }),
    ])
    await t.store.steps.wait([aWait(lease, 'nap', { place: 1, waitMs: HOUR })])
    const common = { dueAt: null, events: [], checkpoint: null }
    assert.deepEqual(await t.store.steps.list(lease.id), [
      {
        ...common,
        name: 'first',
        place: 0,
        kind: 'transaction',
        startedAt: at,
        endedAt: at,
        result: '"first"',
      },
      {
        ...common,
        name: 'nap',
        place: 1,
        kind: 'sleep',
        startedAt: at,
        endedAt: null,
        dueAt: at + HOUR,
        result: null,
      },
      { ...common, name: 'late', place: 2, kind: 'run', startedAt: at - 500, endedAt: at, result: null },
    ])
    t.clock.advance(2 * HOUR)
    const ended = pluck((await t.store.steps.list(lease.id)) ?? [], 'endedAt')
    assert.deepEqual(ended, [at, at + HOUR, at])
  }),
  test('P17 a checkpoint is kept until the next one, and while its step is not done', async (t) => {
    const lease = await t.running()
    const save = (checkpoint: string) =>
      t.store.steps.record([aStep(lease, 'rows', { isDone: false, result: null, checkpoint })])
    assert.deepEqual(await save('1'), [true])
    assert.deepEqual(await save('{"row":50}'), [true])
    await t.crash()
    const next = await t.claimAgain(lease)
    assert.equal(next.hasSteps, true)
    const memo = {
      name: 'rows',
      place: 0,
      kind: 'run',
      isDone: false,
      result: null,
      checkpoint: '{"row":50}',
    }
    assert.deepEqual(await t.store.steps.read([lease.id]), [[memo]])
    assert.deepEqual(await t.store.steps.record([aStep(next, 'rows')]), [true])
    assert.deepEqual(await doneSteps(t, lease.id), ['rows'])
  }),
  test('the first recorded step resets the number of the attempt, and a checkpoint does not', async (t) => {
    const lease = await t.running({ maxAttempts: 9 })
    await t.finish(lease, later(0))
    const second = await t.claimAgain(lease)
    await t.store.steps.record([aStep(second, 'a', { isDone: false, checkpoint: '1' })])
    await t.jobIs(lease.id, { attempt: 2 })
    await t.store.steps.record([aStep(second, 'a')])
    await t.jobIs(lease.id, { attempt: 1 })
    await t.finish(second, later(0))
    const third = await t.claimAgain(lease)
    assert.equal(third.attempt, 2)
    // A crash does not undo it.
    await t.store.steps.record([aStep(third, 'b')])
    await t.crash()
    assert.equal((await t.claimAgain(lease)).attempt, 1)
    assert.equal((await t.job(lease.id)).crashes, 1)
  }),
  test('many steps of many jobs share a call, with large results', async (t) => {
    const leases = await t.runningJobs(3)
    const text = JSON.stringify('€'.repeat(300_000))
    const items = leases.flatMap((lease) =>
      Array.from({ length: 20 }, (_, place) =>
        aStep(lease, `step "${place}" \\ '`, { place, result: place === 0 ? text : `${place}` }),
      ),
    )
    assert.deepEqual(
      await t.store.steps.record(items),
      items.map(() => true),
    )
    const read = await t.store.steps.read(pluck(leases, 'id'))
    for (const memos of read) {
      assert.equal(memos.length, 20)
      assert.equal(memos[0]?.result, text)
      assert.equal(memos[19]?.name, `step "19" \\ '`)
    }
  }),
  test('P3 steps and events go with their job: deleted, retained and forgotten', async (t) => {
    const [deleted, forgotten, retained] = await t.runningJobs(3)
    for (const lease of [deleted, forgotten, retained]) {
      await t.store.steps.record([aStep(lease, 'a')])
      await send(t, lease.id, 'unasked')
    }
    await t.finish(deleted, DEAD)
    await t.store.delete([deleted.id])
    await t.finish(forgotten, FORGET)
    await t.finish(retained, DONE)
    await t.setQueue('default', { retainDoneMs: 1 })
    t.clock.advance(HOUR)
    assert.equal((await t.retain()).jobs, 1)
    for (const { id } of [deleted, forgotten, retained]) {
      assert.equal(await t.store.steps.list(id), null)
      // A new job with the same id has no steps or events of the old one.
      await t.store.enqueue([aJob({ id, kind: 'again' })])
      const lease = only(await t.claim(await t.worker(), { kinds: ['again'] }))
      assert.equal(lease.hasSteps, undefined)
      assert.deepEqual(await t.store.steps.wait([aWait(lease, 'w', { events: ['unasked'], waitMs: HOUR })]), [
        { accepted: true, isDone: false, result: null, dueInMs: HOUR },
      ])
      await t.finish(lease, DEAD)
      await t.store.delete([id])
    }
  }),
  test('P11 a job that has steps is not replaced', async (t) => {
    const replacing = { dedupe: { key: 'k', onConflict: 'replace' } } as const
    const lease = await t.running(replacing)
    await t.store.steps.wait([aWait(lease, 'nap', { waitMs: HOUR })])
    await t.finish(lease, PARKED)
    const again = aJob({ ...replacing, kind: lease.kind, payload: 'new' })
    const reply = await t.changesNothing(() => t.store.enqueue([again]))
    assert.deepEqual(reply, [{ id: lease.id, outcome: 'duplicate' }])
  }),
  {
    name: 'P10 P17 a step in a transaction is recorded when it commits, and not at all after a rollback',
    needs: ['transactions'],
    async run(t) {
      const lease = await t.running({ maxAttempts: 9 })
      await t.finish(lease, later(0))
      const second = await t.claimAgain(lease)
      const record = (name: string) => (tx: unknown) => t.store.steps.record([aStep(second, name)], { tx })
      assert.deepEqual(await t.transaction(record('undone'), 'rollback'), [true])
      assert.deepEqual(await doneSteps(t, lease.id), [])
      // A rollback must not reset the count of attempts.
      await t.jobIs(lease.id, { attempt: 2 })
      assert.deepEqual(await t.transaction(record('undone'), 'commit'), [true])
      assert.deepEqual(await doneSteps(t, lease.id), ['undone'])
      await t.crash()
      assert.equal((await t.claimAgain(lease)).hasSteps, true)
      assert.deepEqual(await t.transaction(record('late'), 'commit'), [false])
    },
  },
  {
    name: 'P10 P17 a step and the completion of its job are committed together',
    needs: ['transactions'],
    async run(t) {
      const lease = await t.running()
      await t.transaction(async (tx) => {
        await t.store.steps.record([aStep(lease, 'a')], { tx })
        await t.store.finish([aFinish(lease, DONE)], { tx })
      }, 'commit')
      await t.jobIs(lease.id, { state: 'done' })
      assert.deepEqual(await doneSteps(t, lease.id), ['a'])
    },
  },
]
