/** Finishes with `forget`: the job is done, and the store deletes all of its rows. */
import assert from 'node:assert/strict'
import { aJob, aRetain } from '../../factories.ts'
import { type Bench, DEAD, DONE, FORGET, HOUR, RELEASED, aFinish, later, only } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { handOff } from '../enqueue/hand-off-helpers.ts'
import { hasFields, pluck, changesNothing, countsAreExact, countsOf, historyOf, idsOf } from '../looks.ts'

/** No read returns anything about the job. */
async function isForgotten({ store }: Bench, id: string): Promise<void> {
  assert.deepEqual(await store.get([id]), [null])
  assert.deepEqual(await store.results([id]), [null])
  assert.deepEqual(await store.history(id), [])
  assert.equal((await idsOf(store)).includes(id), false)
  for (const state of ['running', 'done'] as const)
    assert.equal((await idsOf(store, { state })).includes(id), false)
  await countsAreExact(store)
}

function isAccepted(reply: unknown, id: string): void {
  assert.deepEqual(reply, { id, accepted: true, state: 'done', followUps: [] })
}

export const forgetCases: readonly Case[] = [
  test('a finish that forgets is done, and leaves no row of the job', async (t) => {
    const { store } = t
    const lease = await t.running({ tags: ['red', 'big'], metadata: { m: 1 }, payload: 'find me' })
    await store.progress([{ ...lease, value: '1', log: 'so far' }])
    const kept = await t.running({ tags: ['red'] })
    isAccepted(await t.finish(lease, { ...FORGET, result: '{"r":1}' }, { log: 'all of it' }), lease.id)
    await isForgotten(t, lease.id)
    assert.deepEqual(await idsOf(store, { tags: ['red'] }), [kept.id])
    assert.deepEqual(await idsOf(store, { payloadText: 'find me' }), [])
    assert.deepEqual(await store.instances.held(lease.instance), [])
    assert.deepEqual(await countsOf(store), { running: 1 })
    await store.fold(100)
    assert.deepEqual(await countsOf(store), { running: 1 })
    t.clock.advance(1_000 * HOUR)
    assert.equal((await store.retain(aRetain())).jobs, 0)
  }),
  test('a finish that does not forget keeps the job, even if it says so explicitly', async (t) => {
    const lease = await t.running()
    await t.finish(lease, { to: 'done', result: '1', forget: false })
    await t.jobIs(lease.id, { state: 'done', result: '1' })
    assert.deepEqual(await historyOf(t.store, lease.id), [['returned', null]])
  }),
  test('earlier attempts are forgotten with the job, so that its id is unused again', async (t) => {
    const { store } = t
    const first = await t.running({ tags: ['red'], maxAttempts: 9 })
    await t.finish(first, later(0), { error: 'one', log: 'log of one' })
    const again = async (): Promise<typeof first> => t.claimAgain(first)
    await t.finish(await again(), later(0), { error: 'two' })
    assert.equal((await store.history(first.id)).length, 2)
    const last = await again()
    isAccepted(await t.finish(last, { ...FORGET, result: '1' }), first.id)
    await isForgotten(t, first.id)
    await store.enqueue([aJob({ id: first.id, kind: first.kind, payload: 'new' })], { mayRepeat: true })
    await t.jobIs(first.id, { payload: '"new"', attempt: 0, tags: [], result: null, error: null })
    assert.deepEqual(await store.history(first.id), [])
  }),
  test('P2 P3 a repeated finish that forgets is accepted, and nothing happens again', async (t) => {
    const { store } = t
    const lease = await t.running()
    const followUp = aJob({ queue: 'next' })
    const item = aFinish(lease, FORGET, { followUps: [followUp] })
    const [first, second] = await store.finish([item, item])
    assert.deepEqual(first, {
      id: lease.id,
      accepted: true,
      state: 'done',
      followUps: [{ id: followUp.id, outcome: 'enqueued' }],
    })
    isAccepted(second, lease.id)
    await store.delete([followUp.id])
    isAccepted(only(await store.finish([item])), lease.id)
    assert.deepEqual(await countsOf(store, 'next'), {})
    assert.deepEqual(await countsOf(store), {})
  }),
  test('P2 P3 a finish that forgets, sent concurrently by several handles, is accepted for all and done once', async (t) => {
    const stores = [t.store, await t.another(), await t.another()]
    for (let round = 0; round < 5; round += 1) {
      const lease = await t.running()
      const followUp = aJob({ queue: 'next' })
      const item = aFinish(lease, FORGET, { followUps: [followUp] })
      const replies = (await Promise.all(stores.map((store) => store.finish([item])))).flat()
      assert.deepEqual(
        pluck(replies, 'accepted', 'state'),
        stores.map(() => [true, 'done']),
      )
      assert.equal(replies.filter(({ followUps }) => followUps.length > 0).length, 1)
      await isForgotten(t, lease.id)
    }
    assert.deepEqual(await countsOf(t.store, 'next'), { ready: 5 })
  }),
  test('P3 a finish that forgets a missing job is accepted: it was written before', async (t) => {
    const { store } = t
    await t.enqueue()
    const never = { id: aJob().id, token: 1 }
    const item = aFinish(never, FORGET, { followUps: [aJob()], cool: { forMs: HOUR } })
    isAccepted(await changesNothing(store, async () => only(await store.finish([item]))), never.id)
    const id = await t.jobIn('done')
    await store.delete([id])
    isAccepted(only(await store.finish([aFinish({ id, token: 1 }, FORGET)])), id)
    assert.ok((await store.queues.list()).every(({ coolingMs }) => coolingMs === 0))
  }),
  test('P2 a finish that does not forget is refused for a forgotten job', async (t) => {
    const lease = await t.running()
    await t.finish(lease, FORGET)
    for (const transition of [DONE, later(0), RELEASED]) {
      hasFields(await t.finish(lease, transition), { accepted: false, state: null })
    }
    assert.deepEqual(await t.store.progress([{ ...lease, value: '1' }]), [false])
    await isForgotten(t, lease.id)
  }),
  test('P2 a stale finish that forgets is refused while the job exists, and changes nothing', async (t) => {
    const { store, clock } = t
    const [released, reaped] = [await t.running(), await t.running()]
    await t.finish(released, RELEASED)
    clock.advance(10_001)
    await t.reap()
    const forgets = (lease: typeof reaped): Promise<unknown> =>
      changesNothing(store, () => t.finish(lease, FORGET, { followUps: [aJob()] }))
    const refused = ({ id }: typeof reaped): object => ({
      id,
      accepted: false,
      state: null,
      followUps: [],
    })
    for (const lease of [released, reaped]) assert.deepEqual(await forgets(lease), refused(lease))
    // The finish is also refused while the job is running under another lease, which stays valid.
    const kinds = [released.kind, reaped.kind]
    const again = await t.claim(await t.worker(), { kinds })
    for (const lease of [released, reaped]) assert.deepEqual(await forgets(lease), refused(lease))
    for (const lease of again) isAccepted(await t.finish(lease, FORGET), lease.id)
  }),
  test('P2 P3 a job that was finished and kept stays, even if a finish under its token forgets', async (t) => {
    const leases = await t.runningJobs(3)
    const transitions = [DONE, DEAD, later(HOUR)]
    await t.store.finish(leases.map((lease, n) => aFinish(lease, transitions[n] ?? DONE)))
    const replies = await changesNothing(t.store, () =>
      t.store.finish(leases.map((lease) => aFinish(lease, FORGET, { followUps: [aJob()] }))),
    )
    assert.deepEqual(
      pluck(replies, 'accepted', 'followUps'),
      leases.map(() => [true, []]),
    )
    assert.deepEqual([replies[0]?.state, replies[1]?.state], ['done', 'dead'])
  }),
  test('P3 items of one call are independent: some forget, some keep, some are stale', async (t) => {
    const { store } = t
    const leases = await t.runningJobs(4)
    const [one, two, stale, four] = leases
    assert.ok(one && two && stale && four)
    await t.finish(stale, RELEASED)
    const replies = await store.finish([
      aFinish(one, FORGET),
      aFinish(two, DONE),
      aFinish(stale, FORGET),
      aFinish({ id: aJob().id, token: 7 }, FORGET),
      aFinish(four, FORGET),
    ])
    assert.deepEqual(pluck(replies, 'accepted', 'state'), [
      [true, 'done'],
      [true, 'done'],
      [false, null],
      [true, 'done'],
      [true, 'done'],
    ])
    assert.deepEqual(await countsOf(store), { ready: 1, done: 1 })
    for (const { id } of [one, four]) await isForgotten(t, id)
  }),
  test('P8 finished work is forgotten as done even if a cancel was requested', async (t) => {
    const lease = await t.running()
    await t.store.cancel([lease.id], 'stop it')
    const followUp = aJob()
    const reply = await t.finish(lease, FORGET, { followUps: [followUp] })
    const followUps = [{ id: followUp.id, outcome: 'enqueued' }]
    assert.deepEqual(reply, { id: lease.id, accepted: true, state: 'done', followUps })
    await isForgotten(t, lease.id)
    assert.deepEqual(await countsOf(t.store), { ready: 1 })
  }),
  {
    name: 'a full batch of directly dispatched jobs is forgotten as one',
    needs: ['directDispatch'],
    async run(t) {
      const instance = await t.worker()
      const requests = Array.from({ length: 200 }, (_, n) => ({ queue: `q${n % 2}`, tags: ['red'] }))
      const queues = ['q0', 'q1'].map((queue) => ({ queue, room: 100 }))
      const { leases } = await handOff(t, instance, requests, { queues })
      assert.equal(leases.length, 200)
      const replies = await t.store.finish(leases.map((lease) => aFinish(lease, FORGET)))
      for (const [n, { id }] of leases.entries()) isAccepted(replies[n], id)
      assert.deepEqual(await idsOf(t.store), [])
      assert.deepEqual([await countsOf(t.store, 'q0'), await countsOf(t.store, 'q1')], [{}, {}])
    },
  },
]
