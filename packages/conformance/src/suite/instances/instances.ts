/** register, renew and deregister: liveness by the database clock, and the heartbeat. */
import assert from 'node:assert/strict'
import { aHeartbeat, anInstance } from '../../factories.ts'
import { DONE, HOUR, only } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { hasFields, pluck, countsAreExact, countsOf, instanceOf } from '../looks.ts'

export const instanceCases: readonly Case[] = [
  test('P9 a registered instance is alive for its lease, by the given clock', async (t) => {
    const { leaseMs, ...instance } = anInstance({
      label: 'a-1',
      version: '1.2.3',
      queues: ['a', 'b'],
      kinds: ['x', 'y'],
      onDead: ['y'],
      capacity: 7,
      leaseMs: 5_000,
    })
    await t.store.instances.register({ ...instance, leaseMs })
    const now = t.clock.now()
    const times = { startedAt: now, renewedAt: now, expiresAt: now + 5_000, endedAt: null }
    assert.deepEqual(await instanceOf(t.store, instance.id), { ...instance, ...times, state: 'alive' })
    t.clock.advance(5_001)
    assert.equal((await instanceOf(t.store, instance.id))?.state, 'expired')
  }),
  test('P4 registering again replaces the stored data, even after the instance was lost', async (t) => {
    const instance = anInstance()
    await t.store.instances.register(instance)
    await t.crash()
    assert.equal((await instanceOf(t.store, instance.id))?.state, 'lost')
    await t.store.instances.register({
      ...instance,
      label: 'again',
      kinds: ['b'],
      onDead: ['b'],
      capacity: 3,
    })
    const record = await instanceOf(t.store, instance.id)
    assert.deepEqual(
      [record?.state, record?.label, record?.kinds, record?.onDead, record?.capacity],
      ['alive', 'again', ['b'], ['b'], 3],
    )
    assert.deepEqual([record?.endedAt, record?.expiresAt], [null, t.clock.now() + instance.leaseMs])
    assert.equal((await t.store.instances.renew(aHeartbeat(instance.id))).alive, true)
    await t.enqueue()
    assert.equal((await t.claim(instance.id)).length, 1)
  }),
  test('P6 deregister releases jobs at once, as if never claimed', async (t) => {
    const { store, clock, enqueue, worker, claim, jobIs } = t
    const ids = [await enqueue(), await enqueue(), await enqueue({ delay: HOUR })]
    const readyAt = clock.now()
    const id = await worker()
    const leases = await claim(id)
    clock.advance(5)
    assert.equal(await store.instances.deregister(id), 2)
    assert.deepEqual(await countsOf(store), { scheduled: 1, ready: 2 })
    for (const lease of leases) {
      await jobIs(lease.id, { state: 'ready', attempt: 0, crashes: 0, error: null, instance: null })
      assert.deepEqual(await store.history(lease.id), [])
    }
    const behind = await enqueue()
    const again = await claim(await worker())
    assert.deepEqual(pluck(again, 'id'), [ids[0], ids[1], behind])
    assert.deepEqual(again.map((lease) => [lease.attempt, lease.readyAt])[0], [1, readyAt])
  }),
  test('P6 deregister releases only the jobs of the instance itself, and ends it', async (t) => {
    const [mine, other] = [await t.running(), await t.running()]
    assert.equal(await t.store.instances.deregister(mine.instance), 1)
    await t.jobIs(other.id, { state: 'running' })
    hasFields(await instanceOf(t.store, mine.instance), { state: 'stopped', endedAt: t.clock.now() })
    t.clock.advance(5)
    assert.equal(await t.store.instances.deregister(mine.instance), 0)
    assert.equal((await instanceOf(t.store, mine.instance))?.endedAt, t.clock.now() - 5)
    assert.equal(await t.store.instances.deregister(anInstance().id), 0)
    assert.deepEqual((await t.crash()).instances, [other.instance])
  }),
  test('P6 concurrent deregistrations from several handles release each job once', async (t) => {
    const { store, another, worker, enqueue, claim } = t
    const other = await another()
    for (let n = 0; n < 20; n += 1) await enqueue()
    const id = await worker()
    await claim(id)
    const counts = await Promise.all([
      store.instances.deregister(id),
      other.instances.deregister(id),
      store.instances.deregister(id),
    ])
    assert.equal(
      counts.reduce((sum, one) => sum + one, 0),
      20,
    )
    assert.deepEqual(await countsOf(store), { ready: 20 })
    await countsAreExact(store)
  }),
  test('P16 held returns what the database considers running on an instance', async (t) => {
    const { store, clock, running, worker, finish } = t
    const instance = await worker({ leaseMs: HOUR })
    const first = await running({}, instance)
    clock.advance(300)
    const second = await running({}, instance)
    await running()
    clock.advance(50)
    const held = (await store.instances.held(instance)).toSorted((a, b) => b.ageMs - a.ageMs)
    assert.deepEqual(held, [
      { id: first.id, token: first.token, ageMs: 350 },
      { id: second.id, token: second.token, ageMs: 50 },
    ])
    await finish(first, DONE)
    assert.equal(only(await store.instances.held(instance)).id, second.id)
    assert.deepEqual(await store.instances.held(anInstance().id), [])
  }),
]
