/** Directly dispatched jobs behave like claimed jobs afterwards. */
import assert from 'node:assert/strict'
import type { FullStore } from 'jobmill/store'
import {
  aDirectDispatch,
  aFinish,
  DEAD,
  DONE,
  HOUR,
  later,
  only,
  QUEUE,
  RELEASED,
  rooms,
  someJobs,
} from '../../factories.ts'
import type { Bench, HeldLease } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { acquireFor, acquireOutcome, declare, heldOf, permits } from '../limits/limit-helpers.ts'
import { hasFields, isVerdict, pluck, repeat } from '../looks.ts'
import { isSilent, notifies } from '../notifier/notification-texts.ts'
import { directDispatch } from './direct-dispatch-helpers.ts'

/** One directly dispatched job. */
async function dispatchedJob(t: Bench): Promise<HeldLease> {
  const { instance, leases } = await directDispatch(t)
  return { ...only(leases), instance }
}

export const dispatchedCases: readonly Case[] = [
  test('a directly dispatched job is counted, listed and held as running', async (t) => {
    const requests = [{ tags: ['red'] }, { delay: HOUR }, {}]
    const { instance, ids, leases } = await directDispatch(t, requests)
    const [first = '', , third = ''] = ids
    t.clock.advance(40)
    await t.countsAre({ running: 2, scheduled: 1 })
    assert.equal((await t.store.counts())[0]?.oldestReadyMs, null)
    assert.deepEqual((await t.idsOf({ state: 'running' })).toSorted(), [first, third].toSorted())
    assert.deepEqual(await t.idsOf({ state: 'ready' }), [])
    assert.deepEqual(await t.idsOf({ tags: ['red'] }), [first])
    const held = leases.map(({ id, token }) => ({ id, token, ageMs: 40 }))
    assert.deepEqual(new Set(await t.store.instances.held(instance)), new Set(held))
    assert.equal((await t.renew(instance)).ready, false)
  }),
  test('P2 P3 a directly dispatched job ends like any other attempt, once, and only under its token', async (t) => {
    for (const transition of [{ to: 'done', result: '1' }, DEAD, later(HOUR)] as const) {
      const lease = await dispatchedJob(t)
      const { id, token, instance } = lease
      t.clock.advance(10)
      await t.changesNothing(() => t.finish({ ...lease, token: token - 1 }, transition))
      assert.equal((await t.finish(lease, transition)).state, transition.to)
      assert.equal((await t.finish(lease, transition)).accepted, true)
      const times = { startedAt: t.clock.now() - 10, endedAt: t.clock.now() }
      hasFields(only(await t.store.history(id)), { token, attempt: 1, instance, ...times })
    }
    await t.countsAre({ done: 1, dead: 1, scheduled: 1 })
    await t.countsAreExact()
  }),
  test('a directly dispatched job that is released is ready at its position in the call', async (t) => {
    const enqueuedAt = t.clock.now()
    const requests = [{ dedupe: { key: 'k' } }, {}, { dedupe: { key: 'l' } }, {}]
    const { instance, ids, leases } = await directDispatch(t, requests)
    assert.equal(leases.length, 2)
    t.clock.advance(10)
    const next = await t.enqueue()
    for (const lease of leases) assert.equal((await t.finish(lease, RELEASED)).state, 'ready')
    const claimed = await t.claim(instance)
    assert.deepEqual(
      pluck(claimed, 'id', 'attempt'),
      [...ids, next].map((id) => [id, 1]),
    )
    hasFields(claimed[1], { readyAt: enqueuedAt, waitedMs: 10 })
  }),
  test('P8 a directly dispatched job can be cancelled, and its instance is notified', async (t) => {
    const lease = await dispatchedJob(t)
    const { id, token, instance } = lease
    isVerdict(only(await t.store.cancel([id], 'stop it')), 'changed', 'running')
    assert.deepEqual((await t.renew(instance)).cancels, [{ id, token, reason: 'stop it' }])
    assert.equal((await t.finish(lease, later(0))).state, 'cancelled')
    await t.historyIs(id, [['cancelled', 'stop it']])
  }),
  test('a directly dispatched job is running, so it cannot be deleted, run now or retried', async (t) => {
    const { id } = await dispatchedJob(t)
    await t.changesNothing(async () => {
      for (const verb of ['delete', 'runNow', 'retry'] as const)
        isVerdict(only(await t.store[verb]([id])), 'refused', 'running')
    })
  }),
  test('P4 a directly dispatched job of a crashed instance returns to its old place, as a crash', async (t) => {
    const { instance, ids, leases } = await directDispatch(t, [{}, {}])
    const next = await t.enqueue()
    const { instances, jobs } = await t.crash()
    assert.deepEqual(instances, [instance])
    assert.deepEqual(pluck(jobs, 'crashes', 'state'), repeat([1, 'ready'], 2))
    const stale = await t.store.finish(leases.map((lease) => aFinish(lease, DONE)))
    assert.deepEqual(pluck(stale, 'accepted'), [false, false])
    const again = await t.claim(await t.worker())
    assert.deepEqual(pluck(again, 'id', 'attempt', 'crashes'), [...ids.map((id) => [id, 1, 1]), [next, 1, 0]])
  }),
  test('P6 a directly dispatched job of a stopping instance is released as if never claimed', async (t) => {
    const { instance, ids } = await directDispatch(t, [{}, {}])
    const next = await t.enqueue()
    assert.equal(await t.store.instances.deregister(instance), 2)
    const again = await t.claim(await t.worker())
    assert.deepEqual(
      pluck(again, 'id', 'attempt', 'crashes'),
      [...ids, next].map((id) => [id, 1, 0]),
    )
    assert.deepEqual(await t.store.history(ids[0] ?? ''), [])
  }),
  {
    name: 'P13 a directly dispatched attempt can report progress and use limits until it ends',
    needs: ['limits'],
    async run(t) {
      await declare(t.store, permits(2))
      const lease = await dispatchedJob(t)
      const report = { id: lease.id, token: lease.token, value: '5', log: 'so far' }
      assert.deepEqual(await t.store.progress([report]), [true])
      await t.jobIs(lease.id, { progress: '5', log: 'so far' })
      assert.equal(await acquireOutcome(t.store, acquireFor(lease)), 'granted')
      assert.equal(await heldOf(t.store), 1)
      await t.finish(lease, DONE)
      assert.equal(await heldOf(t.store), 0)
    },
  },
  {
    name: 'an enqueue does not notify for dispatched jobs, and notifies for the rest with their number',
    needs: ['notifier'],
    async run(t) {
      const instance = await t.worker({ leaseMs: HOUR })
      const enqueue = (requests: Parameters<typeof someJobs>[0]): Promise<unknown> =>
        t.store.enqueue(someJobs(requests), { directDispatch: aDirectDispatch(instance) })
      await isSilent(t.store, () => enqueue([{}, {}]))
      const mixed = [{}, { kind: 'foreign' }, {}, { kind: 'foreign' }, { delay: HOUR }, {}]
      await notifies(t.store, 2, {
        prepare: () => t.claim(instance, { kinds: ['work', 'foreign'] }),
        act: () => enqueue(mixed),
      })
    },
  },
  test('P2 P3 direct dispatch racing claims from several handles: no job twice, none missing', async (t) => {
    const stores = await t.handles(3)
    const instances = await Promise.all(stores.map(() => t.worker({ leaseMs: HOUR })))
    const all: string[] = []
    const leased: HeldLease[] = []
    const work = async (store: FullStore, instance = ''): Promise<void> => {
      const offer = aDirectDispatch(instance, { queues: rooms({ [QUEUE]: 1 }) })
      for (let round = 0; round < 15; round += 1) {
        const jobs = someJobs([{}, {}, { dedupe: { key: `${instance} ${round}` } }])
        all.push(...pluck(jobs, 'id'))
        const replies = await store.enqueue(jobs, { directDispatch: offer })
        leased.push(...replies.flatMap(({ lease }) => (lease === undefined ? [] : [{ ...lease, instance }])))
        leased.push(...(await t.claim(instance, { limit: 2 })))
      }
    }
    await Promise.all(stores.map((store, n) => work(store, instances[n])))
    leased.push(...(await t.claim(await t.worker())))
    assert.deepEqual(pluck(leased, 'id').toSorted(), all.toSorted())
    for (const [token, leases] of Map.groupBy(leased, ({ token }) => token))
      assert.equal(new Set(pluck(leases, 'instance')).size, 1, `token ${token} was used twice`)
    await t.countsAre({ running: all.length })
  }),
]
