/** Directly dispatched jobs behave like claimed jobs afterwards. */
import assert from 'node:assert/strict'
import { aHandOff, aHeartbeat, anAcquire, QUEUE, someJobs } from '../../factories.ts'
import { type Bench, DEAD, DONE, HOUR, RELEASED, aFinish, later, only } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { handOff } from './hand-off-helpers.ts'
import {
  hasFields,
  pluck,
  changesNothing,
  countsAreExact,
  countsOf,
  historyOf,
  idsOf,
  isVerdict,
} from '../looks.ts'
import { isSilent, notifications } from '../notifier/notification-texts.ts'

/** One directly dispatched job. */
async function oneOf(t: Bench, instance: string): ReturnType<typeof handOff> {
  const handed = await handOff(t, instance, [{ tags: ['red'] }])
  assert.equal(handed.leases.length, 1)
  return handed
}

export const handedOffCases: readonly Case[] = [
  test('a directly dispatched job is counted, listed and held as running', async (t) => {
    const instance = await t.worker()
    const requests = [{ tags: ['red'] }, { delay: HOUR }, {}]
    const { ids, leases } = await handOff(t, instance, requests)
    const [first = '', , third = ''] = ids
    t.clock.advance(40)
    assert.deepEqual(await countsOf(t.store), { running: 2, scheduled: 1 })
    assert.equal((await t.store.counts())[0]?.oldestReadyMs, null)
    assert.deepEqual((await idsOf(t.store, { state: 'running' })).toSorted(), [first, third].toSorted())
    assert.deepEqual(await idsOf(t.store, { state: 'ready' }), [])
    assert.deepEqual(await idsOf(t.store, { tags: ['red'] }), [first])
    const held = await t.store.instances.held(instance)
    assert.deepEqual(
      held.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
      leases.map(({ id, token }) => ({ id, token, ageMs: 40 })).toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    )
    assert.equal((await t.store.instances.renew(aHeartbeat(instance))).ready, false)
  }),
  test('P2 P3 a directly dispatched job ends like any other attempt, once, and only under its token', async (t) => {
    const instance = await t.worker()
    for (const transition of [{ to: 'done', result: '1' }, DEAD, later(HOUR)] as const) {
      const { ids, leases } = await oneOf(t, instance)
      const lease = only(leases)
      t.clock.advance(10)
      const stale = { id: lease.id, token: lease.token - 1 }
      await changesNothing(t.store, () => t.store.finish([aFinish(stale, transition)]))
      const item = aFinish(lease, transition)
      assert.equal(only(await t.store.finish([item])).state, transition.to)
      assert.equal(only(await t.store.finish([item])).accepted, true)
      const { token, attempt, startedAt, endedAt, ...rest } = only(await t.store.history(ids[0] ?? ''))
      assert.deepEqual([token, attempt, rest.instance], [lease.token, 1, instance])
      assert.deepEqual([startedAt, endedAt], [t.clock.now() - 10, t.clock.now()])
    }
    assert.deepEqual(await countsOf(t.store), { done: 1, dead: 1, scheduled: 1 })
    await countsAreExact(t.store)
  }),
  test('a directly dispatched job that is released is ready at its position in the call', async (t) => {
    const instance = await t.worker()
    const enqueuedAt = t.clock.now()
    const requests = [{ dedupe: { key: 'k' } }, {}, { dedupe: { key: 'l' } }, {}]
    const { ids, leases } = await handOff(t, instance, requests)
    assert.equal(leases.length, 2)
    t.clock.advance(10)
    const next = await t.enqueue()
    assert.deepEqual(pluck(await t.store.finish(leases.map((lease) => aFinish(lease, RELEASED))), 'state'), [
      'ready',
      'ready',
    ])
    const claimed = await t.claim(instance)
    assert.deepEqual(
      pluck(claimed, 'id', 'attempt'),
      [...ids, next].map((id) => [id, 1]),
    )
    assert.deepEqual([claimed[1]?.readyAt, claimed[1]?.waitedMs], [enqueuedAt, 10])
  }),
  test('P8 a directly dispatched job can be cancelled, and its instance is notified', async (t) => {
    const instance = await t.worker()
    const { ids, leases } = await oneOf(t, instance)
    const lease = only(leases)
    isVerdict(only(await t.store.cancel(ids, 'stop it')), 'changed', 'running')
    hasFields(await t.store.instances.renew(aHeartbeat(instance)), {
      cancels: [{ id: lease.id, token: lease.token, reason: 'stop it' }],
    })
    assert.equal((await t.finish(lease, later(0))).state, 'cancelled')
    assert.deepEqual(await historyOf(t.store, lease.id), [['cancelled', 'stop it']])
  }),
  test('a directly dispatched job is running, so it cannot be deleted, run now or retried', async (t) => {
    const { ids } = await oneOf(t, await t.worker())
    await changesNothing(t.store, async () => {
      for (const verb of ['delete', 'runNow', 'retry'] as const)
        isVerdict(only(await t.store[verb](ids)), 'refused', 'running')
    })
  }),
  test('P4 a directly dispatched job of a crashed instance returns to its old place, as a crash', async (t) => {
    const instance = await t.worker()
    const { ids, leases } = await handOff(t, instance, [{}, {}])
    const next = await t.enqueue()
    const { instances, jobs } = await t.crash()
    assert.deepEqual(instances, [instance])
    assert.deepEqual(pluck(jobs, 'crashes', 'state'), [
      [1, 'ready'],
      [1, 'ready'],
    ])
    const stale = await t.store.finish(leases.map((lease) => aFinish(lease, DONE)))
    assert.deepEqual(pluck(stale, 'accepted'), [false, false])
    const again = await t.claim(await t.worker())
    assert.deepEqual(pluck(again, 'id', 'attempt', 'crashes'), [...ids.map((id) => [id, 1, 1]), [next, 1, 0]])
  }),
  test('P6 a directly dispatched job of a stopping instance is released as if never claimed', async (t) => {
    const instance = await t.worker()
    const { ids } = await handOff(t, instance, [{}, {}])
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
      const { store } = t
      await store.limits.declare([{ name: 'db', settings: { type: 'concurrency', most: 2 } }])
      const instance = await t.worker()
      const { id, token } = only((await oneOf(t, instance)).leases)
      assert.deepEqual(await store.progress([{ id, token, value: '5', log: 'so far' }]), [true])
      await t.jobIs(id, { progress: '5', log: 'so far' })
      assert.equal(
        only(await store.limits.acquire([anAcquire('db', { holder: id, token, instance })])).outcome,
        'granted',
      )
      assert.equal(only(await store.limits.list()).held, 1)
      await store.finish([aFinish({ id, token }, DONE)])
      assert.equal(only(await store.limits.list()).held, 0)
    },
  },
  {
    name: 'an enqueue does not notify for dispatched jobs, and notifies for the rest with their number',
    needs: ['notifier'],
    async run(t) {
      const { store } = t
      const instance = await t.worker({ leaseMs: HOUR })
      const enqueue = (requests: Parameters<typeof someJobs>[0]): Promise<unknown> =>
        store.enqueue(someJobs(requests), { handOff: aHandOff(instance) })
      await isSilent(store, () => enqueue([{}, {}]))
      const clear = async (): Promise<void> => void (await t.claim(instance, { kinds: ['work', 'foreign'] }))
      const mixed = [{}, { kind: 'foreign' }, {}, { kind: 'foreign' }, { delay: HOUR }, {}]
      await notifications(store, { prepare: clear, act: () => enqueue(mixed) }, 2)
    },
  },
  test('P2 P3 direct dispatch racing claims from several handles: no job twice, none missing', async (t) => {
    const stores = [t.store, await t.another(), await t.another()]
    const instances = await Promise.all(stores.map(() => t.worker({ leaseMs: HOUR })))
    const all: string[] = []
    const leased: string[] = []
    const tokens = new Map<number, Set<string>>()
    const took = (instance: string, leases: readonly { id: string; token: number }[]): void => {
      for (const { id, token } of leases) {
        leased.push(id)
        tokens.set(token, (tokens.get(token) ?? new Set()).add(instance))
      }
    }
    const work = async (store: (typeof stores)[number], instance: string): Promise<void> => {
      for (let round = 0; round < 15; round += 1) {
        const jobs = someJobs([{}, {}, { dedupe: { key: `${instance} ${round}` } }])
        all.push(...jobs.map(({ id }) => id))
        const queues = [{ queue: QUEUE, room: 1 }]
        const replies = await store.enqueue(jobs, { handOff: aHandOff(instance, { queues }) })
        took(
          instance,
          replies.flatMap(({ lease }) => lease ?? []),
        )
        took(instance, await t.claim(instance, { limit: 2 }))
      }
    }
    await Promise.all(stores.map((store, n) => work(store, instances[n] ?? '')))
    took('last', await t.claim(instances[0] ?? ''))
    assert.deepEqual(leased.toSorted(), all.toSorted())
    for (const [token, holders] of tokens) assert.equal(holders.size, 1, `token ${token} was used twice`)
    assert.deepEqual(await countsOf(t.store), { running: all.length })
  }),
]
