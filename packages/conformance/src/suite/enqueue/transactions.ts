/** Enqueue and finish inside a user transaction: after a rollback nothing happened. */
import assert from 'node:assert/strict'
import type { Finish } from 'jobmill/store'
import { aJob } from '../../factories.ts'
import { DEAD, DONE, FORGET, HOUR, RELEASED, aFinish, later, only } from '../bench.ts'
import { type Case, test } from '../case.ts'
import {
  enqueued,
  pluck,
  changesNothing,
  countsAreExact,
  countsOf,
  rejectsWith,
  remaining,
  hasFields,
} from '../looks.ts'

export const transactionCases: readonly Case[] = [
  test('P10 jobs enqueued in a transaction exist when it commits, and not before', async (t) => {
    const { store, clock, transaction, worker, claim } = t
    const jobs = [aJob({ payload: 1, tags: ['t'] }), aJob({ delay: HOUR }), aJob({ orderKey: 'o' })]
    const ids = jobs.map(({ id }) => id)
    const replies = await transaction(async (tx) => {
      const written = await store.enqueue(jobs, { tx })
      assert.deepEqual(await store.get(ids), [null, null, null])
      return written
    }, 'commit')
    assert.deepEqual(replies, enqueued(ids))
    const [ready, delayed, inLine] = await store.get(ids)
    const enqueuedAt = clock.now()
    hasFields(ready, { state: 'ready', enqueuedAt, tags: ['t'] })
    hasFields(delayed, { state: 'scheduled', enqueuedAt })
    hasFields(inLine, { state: 'scheduled', enqueuedAt, waitsForOrder: true })
    await countsAreExact(store)
    assert.deepEqual(pluck(await claim(await worker()), 'id'), ids.slice(0, 1))
  }),
  test('P10 jobs enqueued in a rolled-back transaction do not exist', async (t) => {
    const { store, transaction, enqueue } = t
    await enqueue()
    const jobs = [aJob(), aJob({ dedupe: { key: 'k' } }), aJob({ orderKey: 'o' })]
    await changesNothing(store, () => transaction((tx) => store.enqueue(jobs, { tx }), 'rollback'))
    assert.deepEqual(await store.get(jobs.map(({ id }) => id)), [null, null, null])
    assert.deepEqual(await countsOf(store), { ready: 1 })
    // The key and the order lock are as free as before.
    const again = [aJob({ dedupe: { key: 'k' } }), aJob({ orderKey: 'o' })]
    assert.deepEqual(await store.enqueue(again), enqueued(pluck(again, 'id')))
    assert.equal((await store.stage(10)).ready, 1)
  }),
  test('P10 several calls in one transaction are committed or rolled back together', async (t) => {
    const { store, transaction } = t
    for (const end of ['rollback', 'commit'] as const) {
      const [one, two] = [aJob(), aJob()]
      await transaction(async (tx) => {
        await store.enqueue([one], { tx })
        await store.enqueue([two], { tx })
      }, end)
      const ids = [one.id, two.id]
      assert.deepEqual(await remaining(store, ids), end === 'commit' ? ids : [])
    }
  }),
  test('P10 dedupe in a transaction sees committed jobs and its own writes', async (t) => {
    const { store, transaction, enqueue, jobIs } = t
    const holder = await enqueue({ dedupe: { key: 'k' }, delay: HOUR })
    const own = aJob({ dedupe: { key: 'own' } })
    const replies = await transaction(async (tx) => {
      const first = await store.enqueue([aJob({ dedupe: { key: 'k' } }), own], { tx })
      const replace = aJob({ dedupe: { key: 'k', onConflict: 'replace' }, payload: 'new', delay: HOUR })
      return [...first, ...(await store.enqueue([replace, aJob({ dedupe: { key: 'own' } })], { tx }))]
    }, 'commit')
    assert.deepEqual(replies, [
      { id: holder, outcome: 'duplicate' },
      { id: own.id, outcome: 'enqueued' },
      { id: holder, outcome: 'replaced' },
      { id: own.id, outcome: 'duplicate' },
    ])
    await jobIs(holder, { payload: '"new"' })
  }),
  test('P10 P11 an id that exists is the same job in a transaction too', async (t) => {
    const { store, transaction, enqueue } = t
    const id = await enqueue({ payload: 'first' })
    const again = aJob({ id, payload: 'again' })
    const enqueueAgain = (tx: unknown): Promise<unknown> => store.enqueue([again], { tx, mayRepeat: true })
    const reply = await changesNothing(store, () => transaction(enqueueAgain, 'commit'))
    assert.deepEqual(reply, [{ id, outcome: 'enqueued' }])
  }),
  test('P10 a finish in a transaction counts when it commits', async (t) => {
    const { store, transaction, running, jobIs } = t
    const lease = await running({ dedupe: { key: 'k' } })
    const followUp = aJob({ dedupe: { key: 'k' } })
    const item = aFinish(lease, { to: 'done', result: '1' }, { followUps: [followUp] })
    const reply = await transaction(async (tx) => {
      const written = only(await store.finish([item], { tx }))
      await jobIs(lease.id, { state: 'running' })
      return written
    }, 'commit')
    const followUps = [{ id: followUp.id, outcome: 'enqueued' }]
    assert.deepEqual(reply, { id: lease.id, accepted: true, state: 'done', followUps })
    await jobIs(lease.id, { state: 'done', result: '1' })
    await jobIs(followUp.id, { state: 'ready' })
    assert.equal(only(await store.finish([item])).accepted, true)
    await countsAreExact(store)
  }),
  test('P2 P10 a finish in a rolled-back transaction has no effect: the lease is still valid', async (t) => {
    const { store, transaction, running, finish } = t
    const lease = await running({ orderKey: 'o', dedupe: { key: 'k', holdFor: HOUR } })
    const followUp = aJob()
    for (const transition of [DONE, { to: 'dead' }, later(HOUR), RELEASED] as const) {
      const item = aFinish(lease, transition, { followUps: [followUp], cool: { forMs: HOUR } })
      await changesNothing(store, () => transaction((tx) => store.finish([item], { tx }), 'rollback'))
    }
    assert.equal((await store.queues.list())[0]?.coolingMs, 0)
    assert.equal((await finish(lease, DONE)).accepted, true)
    assert.equal((await store.history(lease.id)).length, 1)
  }),
  test('D1 a rehearsed finish replies like a real one and changes nothing', async (t) => {
    const { store, running, finish } = t
    const lease = await running({ orderKey: 'o', dedupe: { key: 'k', holdFor: HOUR }, tags: ['t'] })
    const plain = await running()
    const followUps = [aJob({ dedupe: { key: 'f' }, tags: ['t'] })]
    const more = { followUps, cool: { forMs: HOUR }, error: 'why', log: 'a line' }
    const rehearse = async (item: Finish): Promise<unknown> =>
      changesNothing(store, async () => only(await store.finish([item], { rehearse: true })))
    for (const transition of [DONE, FORGET, DEAD, later(HOUR), later(0)])
      assert.deepEqual(await rehearse(aFinish(lease, transition, more)), {
        id: lease.id,
        accepted: true,
        state: transition.to === 'scheduled' && transition.delayMs === 0 ? 'ready' : transition.to,
        followUps: followUps.map(({ id }) => ({ id, outcome: 'enqueued' })),
      })
    const done = { id: plain.id, accepted: true, state: 'done', followUps: [] }
    for (const transition of [DONE, FORGET])
      assert.deepEqual(await rehearse(aFinish(plain, transition)), done)
    assert.deepEqual(await store.get(followUps.map(({ id }) => id)), [null])
    assert.equal((await store.queues.list())[0]?.coolingMs, 0)
    assert.deepEqual(await finish(plain, DONE), done)
    assert.equal((await finish(lease, DONE, { followUps })).accepted, true)
    assert.deepEqual(await rehearse(aFinish(lease, DONE)), {
      id: lease.id,
      accepted: true,
      state: 'done',
      followUps: [],
      again: true,
    })
    await countsAreExact(store)
  }),
  test('P2 P10 a stale finish in a transaction is refused, and the transaction can continue', async (t) => {
    const { store, transaction, running, finish } = t
    const lease = await running()
    await finish(lease, RELEASED)
    const job = aJob()
    const reply = await transaction(async (tx) => {
      const stale = only(await store.finish([aFinish(lease, DONE)], { tx }))
      await store.enqueue([job], { tx })
      return stale
    }, 'commit')
    assert.deepEqual(reply, { id: lease.id, accepted: false, state: null, followUps: [] })
    assert.notEqual((await store.get([job.id]))[0], null)
  }),
  test('P10 finish and enqueue in one transaction are committed or rolled back together', async (t) => {
    const { store, transaction, running, job } = t
    const lease = await running()
    const next = aJob()
    const work = async (tx: unknown): Promise<void> => {
      await store.finish([aFinish(lease, DONE)], { tx })
      await store.enqueue([next], { tx })
    }
    await changesNothing(store, () => transaction(work, 'rollback'))
    await transaction(work, 'commit')
    assert.deepEqual([(await job(lease.id)).state, (await job(next.id)).state], ['done', 'ready'])
  }),
  test('P10 an object that cannot run statements is rejected as a transaction', async (t) => {
    const { store, running } = t
    const lease = await running()
    for (const tx of [{}, 42, 'begin'] as unknown[]) {
      await changesNothing(store, async () => {
        await rejectsWith('TX_INVALID', () => store.enqueue([aJob()], { tx }))
        await rejectsWith('TX_INVALID', () => store.finish([aFinish(lease, DONE)], { tx }))
      })
    }
  }),
]
