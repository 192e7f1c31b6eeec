/** The heartbeat: renewal, and everything an idle instance needs to know. */
import assert from 'node:assert/strict'
import type { Heartbeat } from 'jobmill/store'
import { aHeartbeat } from '../../factories.ts'
import { DONE, HOUR, later } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { setQueue, hasFields, changesNothing, instanceOf } from '../looks.ts'

const IDLE = {
  cancels: [],
  leads: [],
  slots: [],
  ready: false,
  quarantined: false,
  budgetInMs: null,
  scheduleInMs: null,
  expired: false,
}

/** Without versions and the housekeeping fields of a store. */
function withoutVersions({
  settingsVersion: _,
  membersVersion: __,
  unrolled: ___,
  ...heartbeat
}: Heartbeat): object {
  return heartbeat
}

export const heartbeatCases: readonly Case[] = [
  test('P4 a renewal extends the lease when the last one is old enough, and P15 writes nothing before', async (t) => {
    const id = await t.worker()
    const before = await instanceOf(t.store, id)
    t.clock.advance(2_999)
    assert.equal((await t.store.instances.renew(aHeartbeat(id, { renewEveryMs: 3_000 }))).alive, true)
    assert.deepEqual(await instanceOf(t.store, id), before)
    t.clock.advance(1)
    await t.store.instances.renew(aHeartbeat(id, { renewEveryMs: 3_000, leaseMs: 20_000 }))
    const after = await instanceOf(t.store, id)
    const now = t.clock.now()
    hasFields(after, { renewedAt: now, expiresAt: now + 20_000, startedAt: now - 3_000 })
  }),
  test('P15 an idle heartbeat changes nothing', async ({ store, enqueue, worker }) => {
    await enqueue({ delay: HOUR })
    const id = await worker()
    const before = [await store.instances.list(), await store.queues.list()]
    const heartbeat = await changesNothing(store, () => store.instances.renew(aHeartbeat(id)))
    const { settingsVersion } = heartbeat
    assert.deepEqual(withoutVersions(heartbeat), { ...IDLE, alive: true, stageInMs: HOUR })
    assert.deepEqual([await store.instances.list(), await store.queues.list()], before)
    assert.equal((await store.instances.renew(aHeartbeat(id))).settingsVersion, settingsVersion)
  }),
  test('P4 a job may run for days while its instance renews', async (t) => {
    const { store, clock, running, finish, reap } = t
    const lease = await running()
    for (let n = 0; n < 50; n += 1) {
      clock.advance(9_000)
      assert.equal((await store.instances.renew(aHeartbeat(lease.instance))).alive, true)
      assert.deepEqual((await reap()).instances, [])
    }
    clock.advance(9_000)
    assert.equal((await finish(lease, DONE)).accepted, true)
  }),
  test('P4 an expired instance that was not reaped is revived by a renewal and keeps its jobs', async (t) => {
    const { store, clock, running, finish, reap } = t
    const lease = await running()
    clock.advance(HOUR)
    hasFields(await store.instances.renew(aHeartbeat(lease.instance)), { alive: true, expired: false })
    assert.deepEqual(await reap(), { instances: [], jobs: [] })
    assert.equal((await finish(lease, DONE)).accepted, true)
  }),
  test('P4 an expired instance is revived even if its last renewal is recent', async (t) => {
    const id = await t.worker({ leaseMs: 500 })
    t.clock.advance(600)
    assert.equal((await t.store.instances.renew(aHeartbeat(id, { renewEveryMs: 3_000 }))).alive, true)
    assert.equal((await instanceOf(t.store, id))?.state, 'alive')
  }),
  test('P4 a renewal of an instance that is lost, stopped or unknown reports it, and writes nothing', async (t) => {
    const ended = await t.endedInstances()
    await t.enqueue()
    await t.enqueue({ delay: 500 })
    const before = await t.store.instances.list()
    for (const id of ended) {
      const heartbeat = await t.store.instances.renew(aHeartbeat(id))
      assert.deepEqual(withoutVersions(heartbeat), { ...IDLE, alive: false, ready: true, stageInMs: 500 })
    }
    assert.deepEqual(await t.store.instances.list(), before)
  }),
  test('P15 a heartbeat reports whether a claim would find something', async (t) => {
    const { store, clock, enqueue, worker, claimOne } = t
    const id = await worker({ leaseMs: 10 * HOUR })
    const tells = async (overrides = {}): Promise<boolean> =>
      (await store.instances.renew(aHeartbeat(id, overrides))).ready
    assert.equal(await tells(), false)
    await enqueue()
    assert.equal(await tells(), true)
    assert.equal(await tells({ kinds: ['other'] }), false)
    assert.equal(await tells({ kinds: [] }), false)
    assert.equal(await tells({ queues: ['other'] }), false)
    assert.equal(await tells({ queues: ['other', 'default'], kinds: ['other', 'work'] }), true)
    await setQueue(store, 'default', { paused: true })
    assert.equal(await tells(), false)
    await store.queues.change('default', { settings: { paused: false }, coolMs: 1_000 })
    assert.equal(await tells(), false)
    clock.advance(1_000)
    assert.equal(await tells(), true)
    await claimOne(id)
    assert.equal(await tells(), false)
  }),
  test('P15 a heartbeat reports when stage has something to do', async (t) => {
    const { store, clock, enqueue, worker, running, finish } = t
    const id = await worker({ leaseMs: 10 * HOUR })
    const tells = async (): Promise<number | null> => (await store.instances.renew(aHeartbeat(id))).stageInMs
    assert.equal(await tells(), null)
    await enqueue()
    assert.equal(await tells(), null)
    await enqueue({ delay: 5_000 })
    await enqueue({ delay: 3_000, queue: 'foreign' })
    assert.equal(await tells(), 3_000)
    clock.advance(4_000)
    assert.equal(await tells(), 0)
    await store.stage(10)
    assert.equal(await tells(), 1_000)
    const lease = await running({ orderKey: 'o' }, id)
    await enqueue({ orderKey: 'o' })
    // A store may request one pass over an order queue that a job joined.
    await store.stage(10)
    assert.equal(await tells(), 1_000)
    await finish(lease, later(200))
    assert.equal(await tells(), 200)
    await store.cancel([lease.id], 'no')
    assert.equal(await tells(), 0)
  }),
  test('a heartbeat reports when the settings of any queue changed', async ({ store, enqueue, worker }) => {
    await enqueue({ queue: 'a' })
    const id = await worker()
    const version = async (): Promise<number> => (await store.instances.renew(aHeartbeat(id))).settingsVersion
    const versions = [await version()]
    const changes = [
      { paused: true },
      { workers: 3 },
      { backoffBaseMs: 1 },
      { retainDeadMs: 5 },
      { paused: false },
    ]
    for (const settings of changes) {
      await setQueue(store, 'a', settings)
      versions.push(await version())
      assert.notEqual(versions.at(-1), versions.at(-2))
    }
    assert.equal(new Set(versions).size, versions.length)
  }),
]
