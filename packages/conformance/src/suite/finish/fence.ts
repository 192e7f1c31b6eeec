/** The fence: writes with a stale token change nothing, and a repeated finish is recognized as written. */
import assert from 'node:assert/strict'
import { aJob } from '../../factories.ts'
import { DEAD, DONE, HOUR, RELEASED, aFinish, later, only } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { changesNothing, countsOf, historyOf } from '../looks.ts'

const refused = (id: string): object => ({ id, accepted: false, state: null, followUps: [] })

export const fenceCases: readonly Case[] = [
  test('P2 a result from a reaped lease is refused and changes nothing', async (t) => {
    const { store, running, finish, crash, claimAgain } = t
    const stale = await running()
    await crash()
    const more = { cool: { forMs: HOUR }, followUps: [aJob()] }
    assert.deepEqual(await changesNothing(store, () => finish(stale, DONE, more)), refused(stale.id))
    const current = await claimAgain(stale)
    assert.deepEqual(await changesNothing(store, () => finish(stale, DONE, more)), refused(stale.id))
    assert.equal((await store.queues.list())[0]?.coolingMs, 0)
    assert.equal((await finish(current, DONE)).accepted, true)
  }),
  test('P2 a result from a released lease is refused and changes nothing', async (t) => {
    const { store, running, finish } = t
    const [released, left] = [await running(), await running()]
    await finish(released, RELEASED)
    await store.instances.deregister(left.instance)
    for (const stale of [released, left]) {
      for (const transition of [DONE, DEAD, RELEASED, later(5)]) {
        const reply = await changesNothing(store, () => finish(stale, transition, { followUps: [aJob()] }))
        assert.deepEqual(reply, refused(stale.id))
      }
    }
  }),
  test('P2 only a write of finish can be repeated: an attempt recorded otherwise leaves its lease stale', async (t) => {
    const { store, running, finish, crash } = t
    const [stopped, reaped] = [await running(), await running()]
    await store.cancel([stopped.id], 'stop it')
    await store.instances.deregister(stopped.instance)
    await crash()
    for (const stale of [stopped, reaped]) {
      assert.equal((await store.history(stale.id)).length, 1)
      const reply = await changesNothing(store, () => finish(stale, RELEASED, { outcome: 'interrupted' }))
      assert.deepEqual(reply, refused(stale.id))
    }
    const lease = await running()
    assert.equal((await finish(lease, RELEASED, { outcome: 'interrupted' })).accepted, true)
    const again = await changesNothing(store, () => finish(lease, RELEASED, { outcome: 'interrupted' }))
    assert.deepEqual([again.accepted, again.state], [true, 'ready'])
  }),
  test('P2 the attempt number is not the fence: a refunded attempt makes it repeat', async (t) => {
    const { running, finish, claimAgain } = t
    const stale = await running()
    await finish(stale, RELEASED)
    const current = await claimAgain(stale)
    assert.equal(current.attempt, stale.attempt)
    assert.equal((await finish(stale, DONE)).accepted, false)
    assert.equal((await finish(current, DONE)).accepted, true)
  }),
  test('P2 a waiting job, an unknown job, and a token of another job are refused', async (t) => {
    const { store, running, enqueue, finish } = t
    const [lease, other] = [await running(), await running()]
    const waiting = await enqueue()
    for (const id of [waiting, other.id, aJob().id]) {
      assert.deepEqual(await changesNothing(store, () => finish({ ...lease, id }, DONE)), refused(id))
    }
  }),
  test('P8 a forced cancel is recorded even when the handler never started, so that its repeat is accepted', async (t) => {
    const { store, running, finish } = t
    const lease = await running()
    await store.cancel([lease.id], 'stop it')
    assert.equal((await finish(lease, RELEASED)).state, 'cancelled')
    assert.deepEqual(await historyOf(store, lease.id), [['cancelled', 'stop it']])
    const again = await changesNothing(store, () => finish(lease, RELEASED))
    assert.deepEqual([again.accepted, again.state], [true, 'cancelled'])
  }),
  test('P3 P11 a repeated finish is accepted and writes nothing', async ({ store, running, finish }) => {
    const transitions = [DONE, DEAD, { to: 'cancelled' }, later(0), later(HOUR)] as const
    for (const transition of transitions) {
      const lease = await running()
      const more = {
        followUps: [aJob()],
        cool: { baseMs: 1_000, maxMs: HOUR, quietMs: HOUR },
        error: 'why',
      }
      const first = await finish(lease, transition, more)
      const queues = await store.queues.list()
      const again = await changesNothing(store, () => finish(lease, transition, more))
      assert.deepEqual([again.accepted, again.state], [true, first.state])
      assert.deepEqual(await store.queues.list(), queues)
      await store.queues.change('default', { settings: {}, coolMs: 0 })
    }
  }),
  test('P3 a deleted follow-up is not enqueued again by a repeated finish', async (t) => {
    const { store, running, finish } = t
    const lease = await running()
    const followUp = aJob()
    await finish(lease, DONE, { followUps: [followUp] })
    await store.delete([followUp.id])
    assert.equal((await finish(lease, DONE, { followUps: [followUp] })).accepted, true)
    assert.deepEqual(await store.get([followUp.id]), [null])
  }),
  test('P3 a repeat reports where the attempt went even if the job has moved on; a deleted job refuses it', async (t) => {
    const { store, running, finish, claimAgain } = t
    const lease = await running()
    await finish(lease, later(0))
    const next = await claimAgain(lease)
    const repeat = { id: lease.id, accepted: true, state: 'ready', followUps: [], again: true }
    assert.deepEqual(await changesNothing(store, () => finish(lease, later(0))), repeat)
    assert.equal((await finish(next, DONE)).accepted, true)
    assert.deepEqual(await changesNothing(store, () => finish(lease, later(0))), repeat)
    await store.delete([lease.id])
    assert.deepEqual(await finish(lease, later(0)), refused(lease.id))
  }),
  test('P3 P8 a repeat reports that the attempt was cancelled instead, even if the job was retried since', async (t) => {
    const { store, running, finish } = t
    for (const outcome of [null, 'failed', 'cancelled'] as const) {
      const lease = await running()
      await store.cancel([lease.id], 'stop it')
      const ending = { outcome, error: 'why' }
      assert.equal((await finish(lease, later(HOUR), ending)).state, 'cancelled')
      await store.retry([lease.id])
      const again = await changesNothing(store, () => finish(lease, later(HOUR), ending))
      assert.deepEqual([again.accepted, again.state], [true, 'cancelled'])
    }
  }),
  test('P2 a repeat of a finish without an outcome is refused', async ({ store, running, finish }) => {
    const lease = await running()
    assert.equal((await finish(lease, RELEASED)).accepted, true)
    assert.deepEqual(await changesNothing(store, () => finish(lease, RELEASED)), refused(lease.id))
  }),
  test('P3 the same finish sent concurrently by several handles is accepted by all and recorded once', async (t) => {
    const { store, another, running } = t
    const stores = [store, await another(), await another()]
    for (let round = 0; round < 8; round += 1) {
      const lease = await running()
      const item = aFinish(lease, round % 2 === 0 ? DONE : later(HOUR), {
        followUps: [aJob()],
        error: 'why',
      })
      const replies = await Promise.all(
        [...stores, ...stores].map(async (each) => only(await each.finish([item]))),
      )
      assert.ok(replies.every(({ accepted }) => accepted))
      assert.equal((await store.history(lease.id)).length, 1)
    }
    assert.deepEqual(await countsOf(store), { done: 4, scheduled: 4, ready: 8 })
  }),
]
