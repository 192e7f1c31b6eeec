/**
 * The reaper enqueues `onDead` jobs for jobs that are dead because of crashes, if the lost instance requested
 * it.
 */
import assert from 'node:assert/strict'
import { ON_DEAD_QUEUE, onDeadJob, onDeadKind } from 'jobmill/store'
import { type Bench, DEAD, DONE, HOUR, only } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { countsAreExact, countsOf, listAll } from '../looks.ts'

const FATAL = { crashesUntilDead: 1, limit: 100 }
const ERROR = 'lost with its instance (crash 1)'

/** A job of this kind that dies with an instance that requests `onDead`. Returns its id. */
async function dying({ worker, running }: Bench, kind: string, queue = 'default'): Promise<string> {
  const instance = await worker({ queues: [queue], kinds: [kind], onDead: [kind] })
  return (await running({ kind, queue }, instance)).id
}

export const onDeadCases: readonly Case[] = [
  test('P3 P5 a permanent failure by crashes enqueues an onDead job at once', async (t) => {
    const id = await dying(t, 'mail', 'post')
    assert.equal(only((await t.crash(1)).jobs).state, 'dead')
    const now = t.clock.now()
    const followUp = onDeadJob({ id, kind: 'mail', queue: 'post', orderKey: null, error: ERROR, at: now })
    const { kind, queue, state, payload, priority, maxAttempts, enqueuedAt } = await t.job(followUp.id)
    assert.deepEqual([kind, queue, state, enqueuedAt], [onDeadKind('mail'), ON_DEAD_QUEUE, 'ready', now])
    assert.deepEqual(JSON.parse(payload), { id, kind: 'mail', queue: 'post', error: ERROR })
    assert.deepEqual([priority, maxAttempts], [followUp.priority, followUp.maxAttempts])
    await t.jobIs(id, { error: ERROR })
    // The onDead job has its own queue, so it does not wait for the limit or the pause of the failed job's.
    assert.deepEqual(await countsOf(t.store, 'post'), { dead: 1 })
    assert.deepEqual(await countsOf(t.store, ON_DEAD_QUEUE), { ready: 1 })
    await countsAreExact(t.store)
    const [queues, kinds] = [[{ queue: ON_DEAD_QUEUE, room: 9 }], [onDeadKind('mail')]]
    assert.equal((await t.claimOne(await t.worker(), { queues, kinds })).id, followUp.id)
  }),
  test('P5 a crash that is not the last enqueues no onDead job, nor does a cancel', async (t) => {
    const again = await dying(t, 'a')
    const cancelled = await dying(t, 'b')
    await t.store.cancel([cancelled], 'stop it')
    await t.crash(2)
    assert.deepEqual([(await t.job(again)).state, (await t.job(cancelled)).state], ['ready', 'cancelled'])
    assert.deepEqual(await countsOf(t.store), { ready: 1, cancelled: 1 })
    await t.claimOne(await t.worker({ kinds: ['a'], onDead: ['a'] }), { kinds: ['a'] })
    await t.crash(2)
    assert.deepEqual(await countsOf(t.store), { cancelled: 1, dead: 1 })
    assert.deepEqual(await countsOf(t.store, ON_DEAD_QUEUE), { ready: 1 })
  }),
  test('onDead jobs are enqueued only for kinds that the instance of the job requested', async (t) => {
    const instance = await t.worker({ kinds: ['a', 'b'], onDead: ['b'] })
    await t.running({ kind: 'a' }, instance)
    await t.running({ kind: 'b' }, await t.worker({ kinds: ['b'] }))
    await t.worker({ kinds: ['a', 'b'], onDead: ['a', 'b'] })
    assert.equal((await t.crash(1)).jobs.length, 2)
    assert.deepEqual(await countsOf(t.store), { dead: 2 })
    // The latest registration counts.
    const changed = await t.worker({ kinds: ['c'], onDead: ['c'] })
    await t.running({ kind: 'c' }, changed)
    await t.worker({ id: changed, kinds: ['c'], onDead: [] })
    await t.crash(1)
    assert.deepEqual(await countsOf(t.store), { dead: 3 })
  }),
  test('P5 a job that is retried and dead again gets another onDead job', async (t) => {
    const id = await dying(t, 'a')
    await t.crash(1)
    await t.store.retry([id])
    await t.claimOne(await t.worker({ kinds: ['a'], onDead: ['a'] }), { kinds: ['a'] })
    await t.crash(1)
    assert.deepEqual(await countsOf(t.store), { dead: 1 })
    assert.deepEqual(await countsOf(t.store, ON_DEAD_QUEUE), { ready: 2 })
  }),
  test('onDead jobs of one pass are in the order of the dead ids, behind what was ready before', async (t) => {
    const before = await t.enqueue({ kind: onDeadKind('a'), queue: ON_DEAD_QUEUE })
    const dead: string[] = []
    for (let n = 0; n < 6; n += 1) dead.push(await dying(t, 'a'))
    await t.crash(1)
    const queues = [{ queue: ON_DEAD_QUEUE, room: 9 }]
    const leases = await t.claim(await t.worker(), { queues, kinds: [onDeadKind('a')] })
    assert.equal(leases[0]?.id, before)
    const deadIds = leases.slice(1).map(({ payload }) => (JSON.parse(payload) as { id: string }).id)
    assert.deepEqual(deadIds, dead.toSorted())
  }),
  test('P3 an onDead job is next in the order queue of the dead job, and the others wait until it has ended', async (t) => {
    const kinds = ['a', onDeadKind('a')]
    for (const orderKey of ['finished', 'reaped']) {
      const worker = await t.worker({ kinds, onDead: ['a'] })
      const [dies, next] = [
        await t.enqueue({ kind: 'a', orderKey }),
        await t.enqueue({ kind: 'a', orderKey }),
      ]
      await t.store.stage(10)
      const lease = await t.claimOne(worker, { kinds })
      assert.equal(lease.id, dies)
      if (orderKey === 'finished') {
        const { id, kind, queue, token: at } = lease
        const followUps = [onDeadJob({ id, kind, queue, orderKey, error: ERROR, at })]
        assert.equal((await t.finish(lease, DEAD, { followUps })).state, 'dead')
      } else {
        assert.equal(only((await t.crash(1)).jobs).id, dies)
      }
      const other = await t.worker({ kinds })
      await t.store.stage(10)
      const followUp = await t.claimOne(other, { kinds })
      assert.deepEqual([followUp.kind, followUp.orderKey], [onDeadKind('a'), orderKey])
      assert.equal((JSON.parse(followUp.payload) as { id: string }).id, dies)
      await t.store.stage(10)
      assert.deepEqual(await t.claim(other, { kinds }), [])
      await t.finish(followUp, DONE)
      await t.store.stage(10)
      const after = await t.claimOne(other, { kinds })
      assert.equal(after.id, next)
      await t.finish(after, DONE)
    }
    await countsAreExact(t.store)
  }),
  test('P3 P5 concurrent reaps from several handles enqueue one onDead job for each dead job', async (t) => {
    const stores = [t.store, await t.another(), await t.another()]
    for (let round = 0; round < 4; round += 1) {
      const kind = `k${round}`
      for (let n = 0; n < 5; n += 1) await dying(t, kind, kind)
      t.clock.advance(HOUR)
      await Promise.all(stores.map((each) => each.instances.reap(FATAL)))
      // A pass that lost a race may leave an instance to a later pass.
      await t.reap(1)
      assert.deepEqual(await countsOf(t.store, kind), { dead: 5 })
      assert.deepEqual(await countsOf(t.store, ON_DEAD_QUEUE), { ready: 5 * (round + 1) })
    }
    const jobs = await listAll(t.store, { state: 'ready' })
    assert.equal(jobs.length, 20)
    await countsAreExact(t.store)
  }),
]
