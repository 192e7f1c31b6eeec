/** register, renew and deregister: liveness by the database clock, and what an idle instance must know. */
import assert from 'node:assert/strict'
import type { Heartbeat } from 'jobmill/store'
import { anInstance, DONE, HOUR, later, only, someJobs } from '../../factories.ts'
import { type Case, test } from '../case.ts'
import { hasFields, pluck, repeat, total } from '../looks.ts'

/** Checks a heartbeat of an instance without work, except versions and the housekeeping fields of a store. */
function isIdle(heartbeat: Heartbeat, expected: Partial<Heartbeat>): void {
  const { settingsVersion: _, membersVersion: __, unrolled: ___, ...rest } = heartbeat
  const nothing = { cancels: [], leads: [], slots: [], budgetInMs: null, scheduleInMs: null }
  const request = { requested: null, requestedBy: null }
  const idle = { ...nothing, ...request, ready: false, quarantined: false, expired: false }
  assert.deepEqual(rest, { ...idle, ...expected })
}

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
    const request = { requested: null, requestedBy: null, requestedAt: null }
    assert.deepEqual(await t.instanceOf(instance.id), { ...instance, ...times, ...request, state: 'alive' })
    t.clock.advance(5_001)
    assert.equal((await t.instanceOf(instance.id))?.state, 'expired')
  }),
  test('P4 registering again replaces the stored data, even after the instance was lost', async (t) => {
    const instance = anInstance()
    await t.store.instances.register(instance)
    await t.crash()
    assert.equal((await t.instanceOf(instance.id))?.state, 'lost')
    const changes = { label: 'again', kinds: ['b'], onDead: ['b'], capacity: 3 }
    await t.store.instances.register({ ...instance, ...changes })
    const expiresAt = t.clock.now() + instance.leaseMs
    hasFields(await t.instanceOf(instance.id), { ...changes, state: 'alive', endedAt: null, expiresAt })
    assert.equal((await t.renew(instance.id)).alive, true)
    await t.enqueue()
    assert.equal((await t.claim(instance.id)).length, 1)
  }),
  test('P6 deregister releases jobs at once, as if never claimed', async (t) => {
    const ids = [await t.enqueue(), await t.enqueue(), await t.enqueue({ delay: HOUR })]
    const readyAt = t.clock.now()
    const id = await t.worker()
    const leases = await t.claim(id)
    t.clock.advance(5)
    assert.equal(await t.store.instances.deregister(id), 2)
    await t.countsAre({ scheduled: 1, ready: 2 })
    for (const lease of leases) {
      await t.jobIs(lease.id, { state: 'ready', attempt: 0, crashes: 0, error: null, instance: null })
      assert.deepEqual(await t.store.history(lease.id), [])
    }
    const behind = await t.enqueue()
    const again = await t.claim(await t.worker())
    assert.deepEqual(pluck(again, 'id'), [ids[0], ids[1], behind])
    hasFields(again[0], { attempt: 1, readyAt })
  }),
  test('P6 deregister releases only the jobs of the instance itself, and ends it', async (t) => {
    const [mine, other] = [await t.running(), await t.running()]
    assert.equal(await t.store.instances.deregister(mine.instance), 1)
    await t.jobIs(other.id, { state: 'running' })
    hasFields(await t.instanceOf(mine.instance), { state: 'stopped', endedAt: t.clock.now() })
    t.clock.advance(5)
    assert.equal(await t.store.instances.deregister(mine.instance), 0)
    assert.equal((await t.instanceOf(mine.instance))?.endedAt, t.clock.now() - 5)
    assert.equal(await t.store.instances.deregister(anInstance().id), 0)
    assert.deepEqual((await t.crash()).instances, [other.instance])
  }),
  test('P6 concurrent deregistrations from several handles release each job once', async (t) => {
    const [store, other] = await t.handles(2)
    await store.enqueue(someJobs(repeat({}, 20)))
    const id = await t.worker()
    await t.claim(id)
    const calls = [store, other, store].map((each) => each.instances.deregister(id))
    assert.equal(total(await Promise.all(calls)), 20)
    await t.countsAre({ ready: 20 })
    await t.countsAreExact()
  }),
  test('P16 held returns what the database considers running on an instance', async (t) => {
    const instance = await t.worker({ leaseMs: HOUR })
    const first = await t.running({}, instance)
    t.clock.advance(300)
    const second = await t.running({}, instance)
    await t.running()
    t.clock.advance(50)
    const held = (await t.store.instances.held(instance)).toSorted((a, b) => b.ageMs - a.ageMs)
    assert.deepEqual(held, [
      { id: first.id, token: first.token, ageMs: 350 },
      { id: second.id, token: second.token, ageMs: 50 },
    ])
    await t.finish(first, DONE)
    assert.equal(only(await t.store.instances.held(instance)).id, second.id)
    assert.deepEqual(await t.store.instances.held(anInstance().id), [])
  }),
  test('P4 a renewal extends the lease when the last one is old enough, and P15 writes nothing before', async (t) => {
    const id = await t.worker()
    const before = await t.instanceOf(id)
    t.clock.advance(2_999)
    assert.equal((await t.renew(id, { renewEveryMs: 3_000 })).alive, true)
    assert.deepEqual(await t.instanceOf(id), before)
    t.clock.advance(1)
    await t.renew(id, { renewEveryMs: 3_000, leaseMs: 20_000 })
    const now = t.clock.now()
    const times = { renewedAt: now, expiresAt: now + 20_000, startedAt: now - 3_000 }
    hasFields(await t.instanceOf(id), times)
  }),
  test('P15 an idle heartbeat changes nothing', async (t) => {
    await t.enqueue({ delay: HOUR })
    const id = await t.worker()
    const before = [await t.store.instances.list(), await t.store.queues.list()]
    const heartbeat = await t.changesNothing(() => t.renew(id))
    const { settingsVersion } = heartbeat
    isIdle(heartbeat, { alive: true, stageInMs: HOUR })
    assert.deepEqual([await t.store.instances.list(), await t.store.queues.list()], before)
    assert.equal((await t.renew(id)).settingsVersion, settingsVersion)
  }),
  test('P4 a job may run for days while its instance renews', async (t) => {
    const lease = await t.running()
    for (let n = 0; n < 50; n += 1) {
      t.clock.advance(9_000)
      assert.equal((await t.renew(lease.instance)).alive, true)
      assert.deepEqual((await t.reap()).instances, [])
    }
    t.clock.advance(9_000)
    assert.equal((await t.finish(lease, DONE)).accepted, true)
  }),
  test('P4 an expired instance that was not reaped is revived by a renewal and keeps its jobs', async (t) => {
    const lease = await t.running()
    t.clock.advance(HOUR)
    hasFields(await t.renew(lease.instance), { alive: true, expired: false })
    assert.deepEqual(await t.reap(), { instances: [], jobs: [] })
    assert.equal((await t.finish(lease, DONE)).accepted, true)
  }),
  test('P4 an expired instance is revived even if its last renewal is recent', async (t) => {
    const id = await t.worker({ leaseMs: 500 })
    t.clock.advance(600)
    assert.equal((await t.renew(id, { renewEveryMs: 3_000 })).alive, true)
    assert.equal((await t.instanceOf(id))?.state, 'alive')
  }),
  test('P4 a renewal of an instance that is lost, stopped or unknown reports it, and writes nothing', async (t) => {
    const ended = await t.endedInstances()
    await t.enqueue()
    await t.enqueue({ delay: 500 })
    const before = await t.store.instances.list()
    for (const id of ended) isIdle(await t.renew(id), { alive: false, ready: true, stageInMs: 500 })
    assert.deepEqual(await t.store.instances.list(), before)
  }),
  test('P15 a heartbeat reports whether a claim would find something', async (t) => {
    const id = await t.worker({ leaseMs: 10 * HOUR })
    const tells = async (overrides = {}): Promise<boolean> => (await t.renew(id, overrides)).ready
    assert.equal(await tells(), false)
    await t.enqueue()
    assert.equal(await tells(), true)
    assert.equal(await tells({ kinds: ['other'] }), false)
    assert.equal(await tells({ kinds: [] }), false)
    assert.equal(await tells({ queues: ['other'] }), false)
    assert.equal(await tells({ queues: ['other', 'default'], kinds: ['other', 'work'] }), true)
    await t.setQueue('default', { paused: true })
    assert.equal(await tells(), false)
    await t.store.queues.change('default', { settings: { paused: false }, coolMs: 1_000 })
    assert.equal(await tells(), false)
    t.clock.advance(1_000)
    assert.equal(await tells(), true)
    await t.claimOne(id)
    assert.equal(await tells(), false)
  }),
  test('P15 a heartbeat reports when stage has something to do', async (t) => {
    const id = await t.worker({ leaseMs: 10 * HOUR })
    const tells = async (): Promise<number | null> => (await t.renew(id)).stageInMs
    assert.equal(await tells(), null)
    await t.enqueue()
    assert.equal(await tells(), null)
    await t.enqueue({ delay: 5_000 })
    await t.enqueue({ delay: 3_000, queue: 'foreign' })
    assert.equal(await tells(), 3_000)
    t.clock.advance(4_000)
    assert.equal(await tells(), 0)
    await t.store.stage(10)
    assert.equal(await tells(), 1_000)
    const lease = await t.running({ orderKey: 'o' }, id)
    await t.enqueue({ orderKey: 'o' })
    // A store may request one pass over an order queue that a job joined.
    await t.store.stage(10)
    assert.equal(await tells(), 1_000)
    await t.finish(lease, later(200))
    assert.equal(await tells(), 200)
    await t.store.cancel([lease.id], 'no')
    assert.equal(await tells(), 0)
  }),
  test('a heartbeat reports when the settings of any queue changed', async (t) => {
    await t.enqueue({ queue: 'a' })
    const id = await t.worker()
    const version = async (): Promise<number> => (await t.renew(id)).settingsVersion
    const versions = [await version()]
    const pauses = [{ paused: true }, { paused: false }]
    for (const settings of [...pauses, { workers: 3 }, { backoffBaseMs: 1 }, { retainDeadMs: 5 }]) {
      await t.setQueue('a', settings)
      versions.push(await version())
    }
    assert.equal(new Set(versions).size, versions.length)
  }),
]
