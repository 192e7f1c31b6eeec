/**
 * A finish that forgets has all other effects of a finish: keys, order locks, permits, follow-ups,
 * transactions.
 */
import assert from 'node:assert/strict'
import { aJob, aRetain, anAcquire } from '../../factories.ts'
import { FORGET, HOUR, aFinish, only } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { changesNothing, countsAreExact, countsOf } from '../looks.ts'
import { apiLimit, claimFrom, setUpLimitedQueues, THREE } from '../limits/limit-helpers.ts'
import { notifications } from '../notifier/notification-texts.ts'

export const forgetEffectCases: readonly Case[] = [
  test('P11 the dedupe key of a forgotten job is free at once without a hold', async (t) => {
    const { store, running, finish, enqueue } = t
    const dedupe = { key: 'k' }
    const lease = await running({ dedupe })
    await finish(lease, FORGET)
    const next = await enqueue({ dedupe })
    assert.deepEqual(await store.enqueue([aJob({ dedupe })]), [{ id: next, outcome: 'duplicate' }])
  }),
  test('P9 P11 the dedupe key of a forgotten job is held for its time', async (t) => {
    const { store, clock, running, finish, enqueue } = t
    const dedupe = { key: 'k', holdFor: 500 }
    const lease = await running({ dedupe })
    clock.advance(10)
    await finish(lease, FORGET)
    clock.advance(499)
    for (const onConflict of ['keep', 'replace'] as const) {
      const reply = await store.enqueue([aJob({ dedupe: { ...dedupe, onConflict } })])
      assert.deepEqual(reply, [{ id: lease.id, outcome: 'duplicate' }])
    }
    assert.equal((await store.retain(aRetain())).keys, 0)
    clock.advance(1)
    await finish(await running({ dedupe }), FORGET)
    clock.advance(500)
    assert.equal((await store.retain(aRetain())).keys, 1)
    await enqueue({ dedupe })
  }),
  test('the order lock of a forgotten job goes to the next job in its order queue', async (t) => {
    const { store, running, finish, enqueue, jobIs } = t
    const lease = await running({ orderKey: 'o' })
    const next = await enqueue({ orderKey: 'o' })
    assert.equal((await store.stage(10)).ready, 0)
    await finish(lease, FORGET)
    assert.equal((await store.stage(10)).ready, 1)
    await jobIs(next, { state: 'ready' })
  }),
  {
    name: 'P13 the permits of a forgotten job are released, and waiting queues are notified',
    needs: ['limits', 'notifier'],
    async run(t) {
      const { store } = t
      await setUpLimitedQueues(store, THREE)
      const instance = await t.worker({ leaseMs: HOUR })
      const [first, ...others] = await claimFrom(store, instance)
      assert.ok(first)
      assert.equal((await apiLimit(store)).held, 3)
      await store.finish(others.map((lease) => aFinish(lease, FORGET)))
      assert.equal((await apiLimit(store)).held, 1)
      await store.limits.acquire([anAcquire('api', { holder: first.id, token: first.token, instance })])
      assert.equal((await apiLimit(store)).held, 2)
      await t.finish(first, FORGET)
      assert.equal((await apiLimit(store)).held, 0)
      const prepare = (): ReturnType<typeof claimFrom> => claimFrom(store, instance, ['mail'], { room: 1 })
      const act = (leases: Awaited<ReturnType<typeof prepare>>): Promise<unknown> =>
        store.finish(leases.map((lease) => aFinish(lease, FORGET)))
      await notifications(store, { prepare, act }, null, 'mail')
    },
  },
  {
    name: 'P3 the follow-ups of a forgotten job are enqueued with it, and notified',
    needs: ['notifier'],
    async run(t) {
      const { store } = t
      const [holds, frees] = [
        await t.running({ dedupe: { key: 'h', holdFor: HOUR } }),
        await t.running({ dedupe: { key: 'f' } }),
      ]
      const [held, freed] = [aJob({ dedupe: { key: 'h' } }), aJob({ dedupe: { key: 'f' } })]
      const replies = [
        await t.finish(holds, FORGET, { followUps: [held] }),
        await t.finish(frees, FORGET, { followUps: [freed, aJob({ delay: HOUR })] }),
      ]
      assert.deepEqual(replies[0]?.followUps, [{ id: holds.id, outcome: 'duplicate' }])
      assert.deepEqual(replies[1]?.followUps[0], { id: freed.id, outcome: 'enqueued' })
      assert.deepEqual(await countsOf(store), { ready: 1, scheduled: 1 })
      const instance = await t.worker({ leaseMs: HOUR })
      const prepare = (): ReturnType<typeof t.running> => t.running({ queue: 'quiet' }, instance)
      const act = (lease: Awaited<ReturnType<typeof prepare>>): Promise<unknown> =>
        t.finish(lease, FORGET, { followUps: [aJob(), aJob(), aJob()] })
      await notifications(store, { prepare, act }, 3)
    },
  },
  test('a finish that forgets can cool down its queue', async ({ store, running, finish }) => {
    await finish(await running(), FORGET, { cool: { forMs: 700 } })
    assert.equal(only(await store.queues.list()).coolingMs, 700)
  }),
  {
    name: 'P10 a finish that forgets in a transaction counts when it commits',
    needs: ['transactions'],
    async run({ store, transaction, running, jobIs }) {
      const lease = await running({ dedupe: { key: 'k', holdFor: HOUR }, tags: ['red'] })
      const followUp = aJob()
      const item = aFinish(lease, FORGET, { followUps: [followUp] })
      const reply = await transaction(async (tx) => {
        const written = only(await store.finish([item], { tx }))
        await jobIs(lease.id, { state: 'running' })
        return written
      }, 'commit')
      const followUps = [{ id: followUp.id, outcome: 'enqueued' }]
      assert.deepEqual(reply, { id: lease.id, accepted: true, state: 'done', followUps })
      assert.deepEqual(await store.get([lease.id]), [null])
      assert.deepEqual(await countsOf(store), { ready: 1 })
      await countsAreExact(store)
      const again = only(await transaction((tx) => store.finish([item], { tx }), 'commit'))
      assert.deepEqual(again, { id: lease.id, accepted: true, state: 'done', followUps: [] })
      const duplicate = await store.enqueue([aJob({ dedupe: { key: 'k' } })])
      assert.deepEqual(duplicate, [{ id: lease.id, outcome: 'duplicate' }])
    },
  },
  {
    name: 'P2 P10 a finish that forgets in a rolled-back transaction has no effect: the lease is still valid',
    needs: ['transactions'],
    async run({ store, transaction, running, finish }) {
      const lease = await running({ orderKey: 'o', dedupe: { key: 'k', holdFor: HOUR }, tags: ['red'] })
      const item = aFinish(lease, FORGET, { followUps: [aJob()], cool: { forMs: HOUR } })
      await changesNothing(store, () => transaction((tx) => store.finish([item], { tx }), 'rollback'))
      assert.equal(only(await store.queues.list()).coolingMs, 0)
      assert.deepEqual(await store.progress([{ ...lease, value: '1' }]), [true])
      assert.equal((await finish(lease, FORGET)).accepted, true)
      assert.deepEqual(await store.get([lease.id]), [null])
    },
  },
]
