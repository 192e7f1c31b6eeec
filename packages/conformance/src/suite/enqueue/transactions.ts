/** Enqueue and finish inside a user transaction: after a rollback nothing happened. */
import assert from 'node:assert/strict'
import type { Enqueued, Finish, Finished } from 'jobmill/store'
import { aFinish, aJob, DEAD, DONE, FORGET, HOUR, later, only, RELEASED } from '../../factories.ts'
import { type Case, test } from '../case.ts'
import { enqueued, hasFields, pluck, rejectsWith } from '../looks.ts'

export const transactionCases: readonly Case[] = [
  test('P10 jobs enqueued in a transaction exist when it commits, and not before', async (t) => {
    const jobs = [aJob({ payload: 1, tags: ['t'] }), aJob({ delay: HOUR }), aJob({ orderKey: 'o' })]
    const ids = pluck(jobs, 'id')
    const replies = await t.transaction(async (tx) => {
      const written = await t.store.enqueue(jobs, { tx })
      assert.deepEqual(await t.store.get(ids), [null, null, null])
      return written
    }, 'commit')
    assert.deepEqual(replies, enqueued(ids))
    const [ready, delayed, inLine] = await t.store.get(ids)
    const enqueuedAt = t.clock.now()
    hasFields(ready, { state: 'ready', enqueuedAt, tags: ['t'] })
    hasFields(delayed, { state: 'scheduled', enqueuedAt })
    hasFields(inLine, { state: 'scheduled', enqueuedAt, waitsForOrder: true })
    await t.countsAreExact()
    assert.deepEqual(await t.claimIds(await t.worker()), ids.slice(0, 1))
  }),
  test('P10 jobs enqueued in a rolled-back transaction do not exist', async (t) => {
    await t.enqueue()
    const jobs = [aJob(), aJob({ dedupe: { key: 'k' } }), aJob({ orderKey: 'o' })]
    await t.changesNothing(() => t.transaction((tx) => t.store.enqueue(jobs, { tx }), 'rollback'))
    assert.deepEqual(await t.store.get(pluck(jobs, 'id')), [null, null, null])
    await t.countsAre({ ready: 1 })
    // The key and the order lock are as free as before.
    const again = [aJob({ dedupe: { key: 'k' } }), aJob({ orderKey: 'o' })]
    assert.deepEqual(await t.store.enqueue(again), enqueued(pluck(again, 'id')))
    assert.equal((await t.store.stage(10)).ready, 1)
  }),
  test('P10 several calls in one transaction are committed or rolled back together', async (t) => {
    for (const end of ['rollback', 'commit'] as const) {
      const [one, two] = [aJob(), aJob()]
      await t.transaction(async (tx) => {
        await t.store.enqueue([one], { tx })
        await t.store.enqueue([two], { tx })
      }, end)
      const state = end === 'commit' ? 'ready' : null
      await t.statesAre([one.id, two.id], [state, state])
    }
  }),
  test('P10 dedupe in a transaction sees committed jobs and its own writes', async (t) => {
    const holder = await t.enqueue({ dedupe: { key: 'k' }, delay: HOUR })
    const own = aJob({ dedupe: { key: 'own' } })
    const replies = await t.transaction(async (tx) => {
      const first = await t.store.enqueue([aJob({ dedupe: { key: 'k' } }), own], { tx })
      const replace = aJob({ dedupe: { key: 'k', onConflict: 'replace' }, payload: 'new', delay: HOUR })
      return [...first, ...(await t.store.enqueue([replace, aJob({ dedupe: { key: 'own' } })], { tx }))]
    }, 'commit')
    assert.deepEqual(replies, [
      { id: holder, outcome: 'duplicate' },
      { id: own.id, outcome: 'enqueued' },
      { id: holder, outcome: 'replaced' },
      { id: own.id, outcome: 'duplicate' },
    ])
    await t.jobIs(holder, { payload: '"new"' })
  }),
  test('P10 a debounced enqueue in a transaction changes the waiting job when it commits', async (t) => {
    const debounce = { key: 'k', wait: HOUR }
    const before = aJob({ debounce, payload: 'before' })
    await t.store.enqueue([before])
    t.clock.advance(10)
    const change = (tx: unknown): Promise<Enqueued[]> =>
      t.store.enqueue([aJob({ debounce, payload: 'after' }), aJob({ debounce, kind: 'new' })], { tx })
    await t.changesNothing(() => t.transaction(change, 'rollback'))
    await t.jobIs(before.id, { payload: '"before"' })
    const [replaced, made] = await t.transaction(change, 'commit')
    assert.deepEqual(replaced, { id: before.id, outcome: 'replaced' })
    assert.equal(made?.outcome, 'enqueued')
    await t.jobIs(before.id, { payload: '"after"', dueAt: t.clock.now() + HOUR })
  }),
  test('P10 P11 an id that exists is the same job in a transaction too', async (t) => {
    const id = await t.enqueue({ payload: 'first' })
    const again = aJob({ id, payload: 'again' })
    const enqueueAgain = (tx: unknown): Promise<unknown> => t.store.enqueue([again], { tx, mayRepeat: true })
    const reply = await t.changesNothing(() => t.transaction(enqueueAgain, 'commit'))
    assert.deepEqual(reply, enqueued([id]))
  }),
  test('P10 a finish in a transaction counts when it commits', async (t) => {
    for (const forget of [false, true]) {
      const lease = await t.running({ dedupe: { key: 'k' }, tags: ['red'] })
      const followUp = aJob({ dedupe: { key: 'k' } })
      const item = aFinish(lease, { to: 'done', result: '1', forget }, { followUps: [followUp] })
      const reply = await t.transaction(async (tx) => {
        const written = only(await t.store.finish([item], { tx }))
        await t.jobIs(lease.id, { state: 'running' })
        return written
      }, 'commit')
      const followUps = enqueued([followUp.id])
      assert.deepEqual(reply, { id: lease.id, accepted: true, state: 'done', followUps })
      if (forget) assert.deepEqual(await t.store.get([lease.id]), [null])
      else await t.jobIs(lease.id, { state: 'done', result: '1' })
      await t.jobIs(followUp.id, { state: 'ready' })
      const again = (tx?: unknown): Promise<Finished[]> => t.store.finish([item], { tx })
      hasFields(only(await again()), { accepted: true, state: 'done', followUps: [] })
      hasFields(only(await t.transaction(again, 'commit')), { accepted: true, state: 'done', followUps: [] })
      await t.countsAreExact()
      await t.store.delete([followUp.id])
    }
    const held = await t.running({ dedupe: { key: 'h', holdFor: HOUR } })
    await t.transaction((tx) => t.store.finish([aFinish(held, FORGET)], { tx }), 'commit')
    const asked = await t.store.enqueue([aJob({ dedupe: { key: 'h' } })])
    assert.deepEqual(asked, [{ id: held.id, outcome: 'duplicate' }])
  }),
  test('P2 P10 a finish in a rolled-back transaction has no effect: the lease is still valid', async (t) => {
    const lease = await t.running({ orderKey: 'o', dedupe: { key: 'k', holdFor: HOUR }, tags: ['red'] })
    for (const transition of [DONE, FORGET, DEAD, later(HOUR), RELEASED]) {
      const item = aFinish(lease, transition, { followUps: [aJob()], cool: { forMs: HOUR } })
      await t.changesNothing(() => t.transaction((tx) => t.store.finish([item], { tx }), 'rollback'))
      assert.deepEqual(await t.store.progress([{ ...lease, value: '1' }]), [true])
    }
    assert.equal(only(await t.store.queues.list()).coolingMs, 0)
    assert.equal((await t.finish(lease, DONE)).accepted, true)
    assert.equal((await t.store.history(lease.id)).length, 1)
  }),
  test('D1 a rehearsed finish replies like a real one and changes nothing', async (t) => {
    const lease = await t.running({ orderKey: 'o', dedupe: { key: 'k', holdFor: HOUR }, tags: ['t'] })
    const plain = await t.running()
    const followUps = [aJob({ dedupe: { key: 'f' }, tags: ['t'] })]
    const more = { followUps, cool: { forMs: HOUR }, error: 'why', log: 'a line' }
    const rehearse = async (item: Finish): Promise<unknown> =>
      t.changesNothing(async () => only(await t.store.finish([item], { rehearse: true })))
    const accepted = { id: lease.id, accepted: true, followUps: enqueued(pluck(followUps, 'id')) }
    for (const transition of [DONE, FORGET, DEAD, later(HOUR), later(0)]) {
      const state = transition.to === 'scheduled' && transition.delayMs === 0 ? 'ready' : transition.to
      assert.deepEqual(await rehearse(aFinish(lease, transition, more)), { ...accepted, state })
    }
    const done = { id: plain.id, accepted: true, state: 'done', followUps: [] }
    for (const transition of [DONE, FORGET])
      assert.deepEqual(await rehearse(aFinish(plain, transition)), done)
    assert.deepEqual(await t.store.get(pluck(followUps, 'id')), [null])
    assert.equal(only(await t.store.queues.list()).coolingMs, 0)
    assert.deepEqual(await t.finish(plain, DONE), done)
    assert.equal((await t.finish(lease, DONE, { followUps })).accepted, true)
    assert.deepEqual(await rehearse(aFinish(lease, DONE)), { ...done, id: lease.id, again: true })
    await t.countsAreExact()
  }),
  test('P2 P10 a stale finish in a transaction is refused, and the transaction can continue', async (t) => {
    const lease = await t.running()
    await t.finish(lease, RELEASED)
    const job = aJob()
    const reply = await t.transaction(async (tx) => {
      const stale = only(await t.store.finish([aFinish(lease, DONE)], { tx }))
      await t.store.enqueue([job], { tx })
      return stale
    }, 'commit')
    assert.deepEqual(reply, { id: lease.id, accepted: false, state: null, followUps: [] })
    await t.jobIs(job.id, { state: 'ready' })
  }),
  test('P10 finish and enqueue in one transaction are committed or rolled back together', async (t) => {
    const lease = await t.running()
    const next = aJob()
    const work = async (tx: unknown): Promise<void> => {
      await t.store.finish([aFinish(lease, DONE)], { tx })
      await t.store.enqueue([next], { tx })
    }
    await t.changesNothing(() => t.transaction(work, 'rollback'))
    await t.transaction(work, 'commit')
    await t.statesAre([lease.id, next.id], ['done', 'ready'])
  }),
  test('P10 an object that cannot run statements is rejected as a transaction', async (t) => {
    const lease = await t.running()
    for (const tx of [{}, 42, 'begin'] as unknown[]) {
      await t.changesNothing(async () => {
        await rejectsWith('TX_INVALID', () => t.store.enqueue([aJob()], { tx }))
        await rejectsWith('TX_INVALID', () => t.store.finish([aFinish(lease, DONE)], { tx }))
      })
    }
  }),
]
