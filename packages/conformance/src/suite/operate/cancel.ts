/** cancel: works from any process and in every state, and survives the crash of the job's instance. */
import assert from 'node:assert/strict'
import { aHeartbeat } from '../../factories.ts'
import { DONE, HOUR, later, only } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { pluck, changesNothing, countsAreExact, countsOf, historyOf, isVerdict } from '../looks.ts'

export const cancelCases: readonly Case[] = [
  test('P8 a waiting job is cancelled at once, with the reason in its history', async (t) => {
    const { store, clock, jobIn, jobIs } = t
    for (const state of ['scheduled', 'ready'] as const) {
      const id = await jobIn(state)
      clock.advance(5)
      isVerdict(only(await store.cancel([id], 'not needed')), 'changed', 'cancelled')
      await jobIs(id, {
        state: 'cancelled',
        error: 'not needed',
        endedAt: clock.now(),
        dueAt: null,
        cancelReason: null,
      })
      const { token: _, ...attempt } = only(await store.history(id))
      assert.deepEqual(attempt, {
        attempt: 0,
        instance: null,
        startedAt: null,
        endedAt: clock.now(),
        outcome: 'cancelled',
        error: 'not needed',
        log: null,
      })
    }
  }),
  test('P8 a job between attempts is cancelled with its current attempt number', async (t) => {
    const { store, running, finish } = t
    const lease = await running()
    await finish(lease, later(HOUR), { error: 'first' })
    await store.cancel([lease.id], 'enough')
    const history = await store.history(lease.id)
    assert.deepEqual(pluck(history, 'outcome', 'attempt'), [
      ['failed', 1],
      ['cancelled', 1],
    ])
  }),
  test('P8 a cancelled job is never claimed nor staged', async ({ store, clock, jobIn, worker, claim }) => {
    await store.cancel([await jobIn('scheduled'), await jobIn('ready')], 'no')
    clock.advance(HOUR)
    assert.equal((await store.stage(10)).ready, 0)
    assert.deepEqual(await claim(await worker()), [])
    assert.deepEqual(await countsOf(store), { cancelled: 2 })
  }),
  test('P8 a running job keeps running; its instance is notified through any handle, and no other is', async (t) => {
    const { store, another, running, worker, jobIs } = t
    const lease = await running()
    const bystander = await worker()
    const other = await another()
    isVerdict(only(await other.cancel([lease.id], 'stop it')), 'changed', 'running')
    await jobIs(lease.id, { state: 'running', cancelReason: 'stop it', instance: lease.instance })
    const heartbeat = await store.instances.renew(aHeartbeat(lease.instance))
    assert.deepEqual(heartbeat.cancels, [{ id: lease.id, token: lease.token, reason: 'stop it' }])
    assert.deepEqual((await store.instances.renew(aHeartbeat(lease.instance))).cancels, heartbeat.cancels)
    assert.deepEqual((await store.instances.renew(aHeartbeat(bystander))).cancels, [])
  }),
  test('P8 a second request on a running job is unchanged and keeps the first reason', async (t) => {
    const { store, running, jobIs } = t
    const { id } = await running()
    await store.cancel([id], 'first')
    isVerdict(only(await changesNothing(store, () => store.cancel([id], 'second'))), 'unchanged', 'running')
    await jobIs(id, { cancelReason: 'first' })
  }),
  test('P8 the request survives the crash of the instance', async ({ store, running, crash, jobIs }) => {
    const { id } = await running()
    await store.cancel([id], 'stop it')
    const { jobs } = await crash()
    assert.equal(only(jobs).state, 'cancelled')
    await jobIs(id, { state: 'cancelled' })
    // The crash interrupted the attempt. The cancel only decided the next state of the job.
    assert.deepEqual(await historyOf(store, id), [['interrupted', 'stop it']])
    assert.equal((await store.stage(10)).ready, 0)
    await countsAreExact(store)
  }),
  test('P6 P8 the request survives the graceful stop of the instance', async ({ store, running, jobIs }) => {
    const { id, instance } = await running()
    await store.cancel([id], 'stop it')
    assert.equal(await store.instances.deregister(instance), 1)
    await jobIs(id, { state: 'cancelled', error: 'stop it' })
    assert.deepEqual(await historyOf(store, id), [['cancelled', 'stop it']])
  }),
  test('P8 a request ends with the attempt: a retried job starts clean', async (t) => {
    const { store, running, finish, jobIs, claimAgain } = t
    const lease = await running()
    await store.cancel([lease.id], 'stop it')
    await finish(lease, later(0))
    await store.retry([lease.id])
    const again = await claimAgain(lease)
    await jobIs(lease.id, { cancelReason: null })
    assert.deepEqual((await store.instances.renew(aHeartbeat(again.instance))).cancels, [])
    assert.equal((await finish(again, DONE)).state, 'done')
  }),
  test('P8 an id twice in one call is processed in order', async ({ store, jobIn }) => {
    const [ready, running] = [await jobIn('ready'), await jobIn('running')]
    const verdicts = await store.cancel([ready, running, ready, running], 'no')
    assert.deepEqual(pluck(verdicts, 'id'), [ready, running, ready, running])
    assert.deepEqual(pluck(verdicts, 'verdict'), ['changed', 'changed', 'unchanged', 'unchanged'])
    assert.deepEqual(pluck(verdicts, 'state'), ['cancelled', 'running', 'cancelled', 'running'])
    assert.equal((await store.history(ready)).length, 1)
  }),
  test('P8 concurrent cancels from several handles: one changes the job, the others find it cancelled', async (t) => {
    const { store, another, jobIn } = t
    const stores = [store, await another(), await another()]
    for (const state of ['scheduled', 'ready', 'running'] as const) {
      const id = await jobIn(state)
      const verdicts = await Promise.all(stores.map(async (each) => only(await each.cancel([id], 'no'))))
      const words = verdicts.map(({ verdict }) => verdict).toSorted()
      assert.deepEqual(words, ['changed', 'unchanged', 'unchanged'], state)
      assert.equal((await store.history(id)).length, state === 'running' ? 0 : 1)
    }
    await countsAreExact(store)
  }),
  test('a job that is cancelled and retried repeatedly keeps 32 attempts', async ({ store, enqueue }) => {
    const id = await enqueue()
    for (let round = 0; round < 40; round += 1) {
      await store.cancel([id], `round ${round}`)
      await store.retry([id])
    }
    const history = await store.history(id)
    assert.deepEqual([history.length, history.at(-1)?.error], [32, 'round 39'])
  }),
]
