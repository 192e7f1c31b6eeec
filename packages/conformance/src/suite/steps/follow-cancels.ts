/** P3: a cancelled job of a kind with `onCancelled` gets one follow-up, for every way to cancel it. */
import assert from 'node:assert/strict'
import { ON_CANCELLED_QUEUE, onCancelledKind, PARENT_CANCELLED } from 'jobmill/store'
import { aJob, DONE, HOUR, only } from '../../factories.ts'
import type { Bench } from '../bench.ts'
import { type Case, test } from '../case.ts'

const KIND = 'order'

/** The payloads of the follow-ups, after `stage`. */
async function followUps(t: Bench): Promise<unknown[]> {
  await t.store.stage(100)
  const { jobs } = await t.store.list({ kind: onCancelledKind(KIND) }, { limit: 100 })
  assert.ok(jobs.every(({ queue, state }) => queue === ON_CANCELLED_QUEUE && state === 'ready'))
  const records = await t.store.get(jobs.map(({ id }) => id))
  return records.map((record) => JSON.parse(record?.payload ?? 'null') as unknown)
}

const follower = (t: Bench, leaseMs?: number): Promise<string> =>
  t.worker({ kinds: [KIND], onCancelled: [KIND], ...(leaseMs !== undefined && { leaseMs }) })

const payloadOf = (id: string, queue: string, reason: string): unknown => ({ id, kind: KIND, queue, reason })

export const followCancelCases: readonly Case[] = [
  test('P3 a waiting job that is cancelled gets one follow-up', async (t) => {
    await follower(t)
    for (const request of [{}, { delay: HOUR }, { orderKey: 'a' }]) {
      const id = await t.enqueue({ kind: KIND, ...request })
      const before = await followUps(t)
      await t.store.cancel([id, id], 'not needed')
      const [job] = await t.store.get([id])
      const after = await followUps(t)
      assert.equal(after.length, before.length + 1)
      assert.deepEqual(
        after.filter((payload) => (payload as { id: string }).id === id),
        [payloadOf(id, job?.queue ?? '', 'not needed')],
      )
    }
    await t.countsAreExact()
  }),
  test('P3 a running job that is cancelled gets its follow-up when the attempt has ended', async (t) => {
    const lease = await t.running({ kind: KIND }, await follower(t))
    await t.store.cancel([lease.id], 'stop')
    assert.deepEqual(await followUps(t), [])
    await t.finish(lease, { to: 'cancelled' }, { error: 'stop' })
    assert.deepEqual(await followUps(t), [payloadOf(lease.id, lease.queue, 'stop')])
  }),
  test('P3 a cancel that a stop or the reaper carries out gets a follow-up', async (t) => {
    const instances = [await follower(t), await follower(t, 1)] as const
    const [stopped, lost] = [
      await t.running({ kind: KIND }, instances[0]),
      await t.running({ kind: KIND }, instances[1]),
    ]
    await t.store.cancel([stopped.id, lost.id], 'stop')
    await t.store.instances.deregister(instances[0])
    assert.deepEqual(await followUps(t), [payloadOf(stopped.id, stopped.queue, 'stop')])
    t.clock.advance(1)
    await t.reap()
    assert.equal((await followUps(t)).length, 2)
    await t.jobIs(lost.id, { state: 'cancelled' })
  }),
  test('P3 children that are cancelled with their parent get follow-ups', async (t) => {
    await follower(t)
    const parent = await t.running()
    const child = aJob({ kind: KIND })
    await t.store.steps.start([{ ...parent, name: 'fan', place: 0, jobs: [child] }])
    await t.finish(parent, { to: 'cancelled' }, { error: 'stop' })
    await t.store.stage(100)
    await t.jobIs(child.id, { state: 'cancelled' })
    assert.deepEqual(await followUps(t), [payloadOf(child.id, child.queue, PARENT_CANCELLED)])
  }),
  test('P3 a job that is retried and cancelled again gets another follow-up', async (t) => {
    await follower(t)
    const id = await t.enqueue({ kind: KIND })
    for (const count of [1, 2]) {
      await t.store.cancel([id], 'stop')
      assert.equal((await followUps(t)).length, count)
      await t.store.retry([id])
    }
  }),
  test('P3 a job that is retried and cancelled again before the next stage gets a follow-up', async (t) => {
    await follower(t)
    const id = await t.enqueue({ kind: KIND })
    await t.store.cancel([id], 'first')
    await t.store.retry([id])
    await t.store.cancel([id], 'second')
    const all = await followUps(t)
    assert.deepEqual(
      all.filter((payload) => (payload as { reason: string }).reason === 'second'),
      [payloadOf(id, only(await t.store.get([id]))?.queue ?? '', 'second')],
    )
    await t.countsAre({ ready: all.length }, ON_CANCELLED_QUEUE)
  }),
  test('only jobs of kinds with onCancelled get follow-ups, and the last registration counts', async (t) => {
    await follower(t)
    await t.store.cancel([await t.enqueue({ kind: 'other' })], 'stop')
    assert.deepEqual(await followUps(t), [])
    await t.worker({ kinds: [KIND] })
    await t.store.cancel([await t.enqueue({ kind: KIND })], 'stop')
    assert.deepEqual(await followUps(t), [])
    await t.store.instances.deregister(await follower(t))
    const id = await t.enqueue({ kind: KIND })
    await t.store.cancel([id], 'no process runs')
    assert.equal((await followUps(t)).length, 1)
  }),
  test('P3 an instance of an earlier release that registers again ends no follow-ups', async (t) => {
    const [old, lost] = [await t.worker({ kinds: [KIND] }), await t.worker({ kinds: [KIND], leaseMs: 1 })]
    await follower(t)
    await t.worker({ id: old, kinds: [KIND], queues: ['added'] })
    t.clock.advance(1)
    await t.reap()
    await t.worker({ id: lost, kinds: [KIND] })
    await t.store.cancel([await t.enqueue({ kind: KIND })], 'stop')
    assert.equal((await followUps(t)).length, 1)
  }),
  test('a done or dead job gets no follow-up', async (t) => {
    const instance = await follower(t)
    const done = await t.running({ kind: KIND }, instance)
    await t.finish(done, DONE)
    const dead = await t.running({ kind: KIND }, instance)
    await t.finish(dead, { to: 'dead' }, { error: 'no' })
    assert.deepEqual(await followUps(t), [])
  }),
  test('P3 stages enqueue the follow-ups of many cancelled jobs, until there are no more', async (t) => {
    await follower(t)
    const jobs = Array.from({ length: 1_100 }, () => aJob({ kind: KIND }))
    await t.store.enqueue(jobs)
    await t.store.cancel(
      jobs.map(({ id }) => id),
      'stop',
    )
    while ((await t.store.stage(100)).more);
    await t.countsAre({ ready: jobs.length }, ON_CANCELLED_QUEUE)
  }),
  test('P3 concurrent stages enqueue one follow-up for each cancelled job', async (t) => {
    await follower(t)
    const ids: string[] = []
    while (ids.length < 20) ids.push(await t.enqueue({ kind: KIND }))
    await t.store.cancel(ids, 'stop')
    await Promise.all([1, 2, 3].map(() => t.store.stage(100)))
    const all = await followUps(t)
    assert.equal(all.length, 20)
    assert.deepEqual(new Set(all.map((payload) => (payload as { id: string }).id)), new Set(ids))
    await t.countsAre({ ready: 20 }, ON_CANCELLED_QUEUE)
    assert.equal(only([...new Set(all.map((payload) => (payload as { reason: string }).reason))]), 'stop')
  }),
]
