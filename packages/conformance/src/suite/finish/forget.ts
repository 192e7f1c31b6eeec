/** Finishes with `forget`: the job is done, and the store deletes all of its rows. */
import assert from 'node:assert/strict'
import type { NewJob } from 'jobmill/store'
import {
  aFinish,
  aJob,
  DEAD,
  DONE,
  FORGET,
  HOUR,
  later,
  only,
  RELEASED,
  rooms,
  someJobs,
} from '../../factories.ts'
import type { Bench } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { directDispatch } from '../enqueue/direct-dispatch-helpers.ts'
import { enqueued, hasFields, pluck, repeat } from '../looks.ts'

/** No read returns anything about the job. */
async function isForgotten(t: Bench, id: string): Promise<void> {
  assert.deepEqual(await t.store.get([id]), [null])
  assert.deepEqual(await t.store.results([id]), [null])
  assert.deepEqual(await t.store.history(id), [])
  for (const filter of [{}, { state: 'running' }, { state: 'done' }] as const)
    assert.equal((await t.idsOf(filter)).includes(id), false)
  await t.countsAreExact()
}

function isAccepted(reply: unknown, id: string, ...followUps: NewJob[]): void {
  const written = enqueued(pluck(followUps, 'id'))
  assert.deepEqual(reply, { id, accepted: true, state: 'done', followUps: written })
}

export const forgetCases: readonly Case[] = [
  test('a finish that forgets is done, and leaves no row of the job', async (t) => {
    const lease = await t.running({ tags: ['red', 'big'], metadata: { m: 1 }, payload: 'find me' })
    await t.store.progress([{ ...lease, value: '1', log: 'so far' }])
    const kept = await t.running({ tags: ['red'] })
    isAccepted(await t.finish(lease, { ...FORGET, result: '{"r":1}' }, { log: 'all of it' }), lease.id)
    await isForgotten(t, lease.id)
    assert.deepEqual(await t.idsOf({ tags: ['red'] }), [kept.id])
    assert.deepEqual(await t.idsOf({ payloadText: 'find me' }), [])
    assert.deepEqual(await t.store.instances.held(lease.instance), [])
    await t.countsAre({ running: 1 })
    await t.store.fold(100)
    await t.countsAre({ running: 1 })
    t.clock.advance(1_000 * HOUR)
    assert.equal((await t.retain()).jobs, 0)
  }),
  test('a finish that does not forget keeps the job, even if it says so explicitly', async (t) => {
    const lease = await t.running()
    await t.finish(lease, { to: 'done', result: '1', forget: false })
    await t.jobIs(lease.id, { state: 'done', result: '1' })
    await t.historyIs(lease.id, [['returned', null]])
  }),
  test('earlier attempts are forgotten with the job, so that its id is unused again', async (t) => {
    const first = await t.running({ tags: ['red'], maxAttempts: 9 })
    await t.finish(first, later(0), { error: 'one', log: 'log of one' })
    await t.finish(await t.claimAgain(first), later(0), { error: 'two' })
    assert.equal((await t.store.history(first.id)).length, 2)
    isAccepted(await t.finish(await t.claimAgain(first), { ...FORGET, result: '1' }), first.id)
    await isForgotten(t, first.id)
    await t.store.enqueue([aJob({ id: first.id, kind: first.kind, payload: 'new' })], { mayRepeat: true })
    await t.jobIs(first.id, { payload: '"new"', attempt: 0, tags: [], result: null, error: null })
    assert.deepEqual(await t.store.history(first.id), [])
  }),
  test('P2 P3 a repeated finish that forgets is accepted, and nothing happens again', async (t) => {
    const lease = await t.running()
    const followUp = aJob({ queue: 'next' })
    const item = aFinish(lease, FORGET, { followUps: [followUp] })
    const [first, second] = await t.store.finish([item, item])
    isAccepted(first, lease.id, followUp)
    isAccepted(second, lease.id)
    await t.store.delete([followUp.id])
    isAccepted(only(await t.store.finish([item])), lease.id)
    await t.countsAre({}, 'next')
    await t.countsAre({})
  }),
  test('P2 P3 a finish that forgets, sent concurrently by several handles, is accepted for all and done once', async (t) => {
    const stores = await t.handles(3)
    for (let round = 0; round < 5; round += 1) {
      const lease = await t.running()
      const item = aFinish(lease, FORGET, { followUps: [aJob({ queue: 'next' })] })
      const replies = (await Promise.all(stores.map((store) => store.finish([item])))).flat()
      assert.deepEqual(pluck(replies, 'accepted', 'state'), repeat([true, 'done'], 3))
      assert.equal(replies.filter(({ followUps }) => followUps.length > 0).length, 1)
      await isForgotten(t, lease.id)
    }
    await t.countsAre({ ready: 5 }, 'next')
  }),
  test('P3 a finish that forgets a missing job is accepted: it was written before', async (t) => {
    await t.enqueue()
    const never = { id: aJob().id, token: 1 }
    const item = aFinish(never, FORGET, { followUps: [aJob()], cool: { forMs: HOUR } })
    isAccepted(await t.changesNothing(async () => only(await t.store.finish([item]))), never.id)
    const id = await t.jobIn('done')
    await t.store.delete([id])
    isAccepted(only(await t.store.finish([aFinish({ id, token: 1 }, FORGET)])), id)
    assert.ok((await t.store.queues.list()).every(({ coolingMs }) => coolingMs === 0))
  }),
  test('P2 a finish that does not forget is refused for a forgotten job', async (t) => {
    const lease = await t.running()
    await t.finish(lease, FORGET)
    for (const transition of [DONE, later(0), RELEASED])
      hasFields(await t.finish(lease, transition), { accepted: false, state: null })
    assert.deepEqual(await t.store.progress([{ ...lease, value: '1' }]), [false])
    await isForgotten(t, lease.id)
  }),
  test('P2 a stale finish that forgets is refused while the job exists, and changes nothing', async (t) => {
    const [released, reaped] = await t.runningJobs(2)
    await t.finish(released, RELEASED)
    await t.crash()
    const areRefused = async (): Promise<void> => {
      for (const lease of [released, reaped]) {
        const reply = await t.changesNothing(() => t.finish(lease, FORGET, { followUps: [aJob()] }))
        assert.deepEqual(reply, { id: lease.id, accepted: false, state: null, followUps: [] })
      }
    }
    await areRefused()
    // The finish is also refused while the job is running under another lease, which stays valid.
    const again = await t.claim(await t.worker(), { kinds: [released.kind, reaped.kind] })
    await areRefused()
    for (const lease of again) isAccepted(await t.finish(lease, FORGET), lease.id)
  }),
  test('P2 P3 a job that was finished and kept stays, even if a finish under its token forgets', async (t) => {
    const leases = await t.runningJobs(3)
    const [done, dead, retried] = leases
    await t.store.finish([aFinish(done, DONE), aFinish(dead, DEAD), aFinish(retried, later(HOUR))])
    const items = leases.map((lease) => aFinish(lease, FORGET, { followUps: [aJob()] }))
    const replies = await t.changesNothing(() => t.store.finish(items))
    assert.deepEqual(pluck(replies, 'accepted', 'followUps'), repeat([true, []], 3))
    assert.deepEqual(pluck(replies.slice(0, 2), 'state'), ['done', 'dead'])
  }),
  test('P2 P3 a job that was finished and kept stays, although a finish forgets it and others of its claim run', async (t) => {
    await t.store.enqueue(someJobs([{}, {}]))
    const [first = assert.fail()] = await t.claim(await t.worker())
    await t.finish(first, DONE)
    const reply = await t.changesNothing(() => t.finish(first, FORGET))
    hasFields(reply, { accepted: true, state: 'done' })
    await t.jobIs(first.id, { state: 'done' })
    await t.countsAreExact()
  }),
  test('P3 items of one call are independent: some forget, some keep, some are stale', async (t) => {
    const [one, two, stale, four] = await t.runningJobs(4)
    await t.finish(stale, RELEASED)
    const replies = await t.store.finish([
      aFinish(one, FORGET),
      aFinish(two, DONE),
      aFinish(stale, FORGET),
      aFinish({ id: aJob().id, token: 7 }, FORGET),
      aFinish(four, FORGET),
    ])
    assert.deepEqual(pluck(replies, 'accepted'), [true, true, false, true, true])
    assert.deepEqual(pluck(replies, 'state'), ['done', 'done', null, 'done', 'done'])
    await t.countsAre({ ready: 1, done: 1 })
    for (const { id } of [one, four]) await isForgotten(t, id)
  }),
  test('P8 finished work is forgotten as done even if a cancel was requested', async (t) => {
    const lease = await t.running()
    await t.store.cancel([lease.id], 'stop it')
    const followUp = aJob()
    isAccepted(await t.finish(lease, FORGET, { followUps: [followUp] }), lease.id, followUp)
    await isForgotten(t, lease.id)
    await t.countsAre({ ready: 1 })
  }),
  {
    name: 'a full batch of directly dispatched jobs is forgotten as one',
    needs: ['directDispatch'],
    async run(t) {
      const requests = Array.from({ length: 200 }, (_, n) => ({ queue: `q${n % 2}`, tags: ['red'] }))
      const { leases } = await directDispatch(t, requests, { queues: rooms({ q0: 100, q1: 100 }) })
      assert.equal(leases.length, 200)
      const replies = await t.store.finish(leases.map((lease) => aFinish(lease, FORGET)))
      for (const [n, { id }] of leases.entries()) isAccepted(replies[n], id)
      assert.deepEqual(await t.idsOf(), [])
      await t.countsAre({}, 'q0')
      await t.countsAre({}, 'q1')
    },
  },
]
