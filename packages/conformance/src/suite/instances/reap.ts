/** reap: jobs of expired instances return to their queues, counted as crashes and not as attempts. */
import assert from 'node:assert/strict'
import { aClaim, aHeartbeat } from '../../factories.ts'
import { type Bench, DONE, HOUR, only } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { setQueue, pluck, changesNothing, countsOf } from '../looks.ts'

/** Lets the job crash this often, each time with a new instance. */
async function crashTimes(t: Bench, kind: string, times: number): Promise<void> {
  for (let n = 0; n < times; n += 1) {
    const instance = await t.worker()
    await t.claimOne(instance, { kinds: [kind], quarantined: n < 2 ? 'skip' : 'only' })
    await t.crash(99)
  }
}

export const reapCases: readonly Case[] = [
  test('P4 P9 jobs of an expired instance are ready again in their old place, no attempt spent', async (t) => {
    const first = await t.running({ kind: 'work' })
    const second = await t.enqueue()
    t.clock.advance(10_001)
    const reaped = await t.reap()
    const { id, instance } = first
    assert.deepEqual(reaped, {
      instances: [instance],
      jobs: [{ id, queue: 'default', kind: 'work', crashes: 1, state: 'ready' }],
    })
    await t.jobIs(id, { state: 'ready', attempt: 0, crashes: 1 })
    const lost = (await t.store.instances.list()).find((one) => one.id === instance)
    assert.deepEqual([lost?.state, lost?.endedAt], ['lost', t.clock.now()])
    const leases = await t.claim(await t.worker())
    assert.deepEqual(pluck(leases, 'id', 'attempt'), [
      [id, 1],
      [second, 1],
    ])
    assert.deepEqual([leases[0]?.crashes, leases[0]?.readyAt], [1, first.readyAt])
  }),
  test('P4 a reaped attempt is in the history as interrupted, under its instance and number', async (t) => {
    const { store, clock, running, crash } = t
    const { id, token, instance } = await running()
    await crash()
    const { error: _, ...attempt } = only(await store.history(id))
    assert.deepEqual(attempt, {
      attempt: 1,
      token,
      instance,
      startedAt: clock.now() - HOUR,
      endedAt: clock.now(),
      outcome: 'interrupted',
      log: null,
    })
  }),
  test('P4 a running instance is not reaped, nor is one that stopped gracefully', async (t) => {
    const { store, clock, running, worker, reap } = t
    const lease = await running()
    const stopped = await worker()
    await store.instances.deregister(stopped)
    clock.advance(9_999)
    assert.deepEqual(await changesNothing(store, () => reap()), { instances: [], jobs: [] })
    assert.equal((await store.instances.renew(aHeartbeat(lease.instance))).alive, true)
  }),
  test('P4 an expired instance without jobs is marked too, once', async ({ worker, crash, reap }) => {
    const id = await worker()
    assert.deepEqual(await crash(), { instances: [id], jobs: [] })
    assert.deepEqual(await reap(), { instances: [], jobs: [] })
  }),
  test('P4 a heartbeat reports to any instance when reap has something to do', async (t) => {
    const { store, clock, worker, reap } = t
    await worker({ leaseMs: 100 })
    const watcher = await worker({ leaseMs: HOUR })
    assert.equal((await store.instances.renew(aHeartbeat(watcher))).expired, false)
    clock.advance(101)
    assert.equal((await store.instances.renew(aHeartbeat(watcher))).expired, true)
    await reap()
    assert.equal((await store.instances.renew(aHeartbeat(watcher))).expired, false)
  }),
  test('P4 reap takes at most the limit of instances, each with all its jobs', async (t) => {
    const { store, clock, running, worker } = t
    const instances = [await worker(), await worker(), await worker()]
    for (const instance of instances) for (let n = 0; n < 3; n += 1) await running({}, instance)
    clock.advance(HOUR)
    const ids: string[] = []
    for (const expected of [2, 1, 0]) {
      const reaped = await store.instances.reap({ crashesUntilDead: 3, limit: 2 })
      assert.deepEqual([reaped.instances.length, reaped.jobs.length], [expected, expected * 3])
      ids.push(...reaped.instances)
    }
    assert.deepEqual(ids.toSorted(), instances.toSorted())
    assert.deepEqual(await countsOf(store), { ready: 9 })
  }),
  test('P5 crashes are counted apart from attempts, and the last one makes the job dead', async (t) => {
    const id = await t.enqueue()
    await crashTimes(t, 'work', 2)
    await t.jobIs(id, { crashes: 2, attempt: 0 })
    await t.claimOne(await t.worker(), { quarantined: 'only' })
    const reaped = await t.crash()
    assert.deepEqual(reaped.jobs, [{ id, queue: 'default', kind: 'work', crashes: 3, state: 'dead' }])
    await t.jobIs(id, {
      state: 'dead',
      crashes: 3,
      attempt: 0,
      endedAt: t.clock.now(),
      error: 'lost with its instance (crash 3)',
    })
    assert.equal((await t.store.history(id)).length, 3)
    assert.deepEqual(await countsOf(t.store), { dead: 1 })
  }),
  test('P5 a job with two crashes is skipped by skip, and taken alone by only', async (t) => {
    const [one, two] = [await t.enqueue({ kind: 'a' }), await t.enqueue({ kind: 'b' })]
    await crashTimes(t, 'a', 2)
    await crashTimes(t, 'b', 2)
    const harmless = await t.enqueue({ kind: 'a' })
    const [instance, kinds] = [await t.worker(), ['a', 'b']]
    const heartbeat = await t.store.instances.renew(aHeartbeat(instance, { kinds }))
    assert.deepEqual([heartbeat.ready, heartbeat.quarantined], [true, true])
    assert.deepEqual(pluck(await t.claim(instance, { kinds }), 'id'), [harmless])
    const after = await t.store.instances.renew(aHeartbeat(instance, { kinds }))
    assert.deepEqual([after.ready, after.quarantined], [false, true])
    assert.deepEqual(pluck(await t.claim(instance, { kinds, quarantined: 'only' }), 'id'), [one])
    assert.deepEqual(pluck(await t.claim(instance, { kinds, quarantined: 'only' }), 'id'), [two])
    assert.deepEqual(await t.claim(instance, { kinds, quarantined: 'only' }), [])
  }),
  test('P5 quarantined jobs respect kinds, rooms, pauses and cool-downs like any job', async (t) => {
    await t.enqueue()
    await crashTimes(t, 'work', 2)
    const instance = await t.worker()
    const only = (overrides = {}): Promise<unknown[]> =>
      t.claim(instance, { quarantined: 'only', ...overrides })
    assert.deepEqual(await only({ kinds: ['other'] }), [])
    assert.deepEqual(await only({ queues: [{ queue: 'default', room: 0 }] }), [])
    await setQueue(t.store, 'default', { paused: true })
    assert.deepEqual(await only(), [])
    assert.equal((await t.store.instances.renew(aHeartbeat(instance))).quarantined, false)
    await t.store.queues.change('default', { settings: { paused: false }, coolMs: 100 })
    assert.deepEqual(await only(), [])
    t.clock.advance(100)
    assert.equal((await only()).length, 1)
  }),
  test('P5 one crash is no quarantine, and finishing an attempt does not clear crashes', async (t) => {
    const id = await t.enqueue()
    await crashTimes(t, 'work', 1)
    const lease = await t.claimOne(await t.worker())
    assert.equal(lease.crashes, 1)
    await t.finish(lease, { to: 'scheduled', delayMs: 0, refund: false })
    await t.jobIs(id, { crashes: 1, attempt: 1 })
  }),
  test('P2 P4 a late worker of a lost instance can write nothing', async (t) => {
    const { store, running, finish, crash } = t
    const lease = await running()
    await crash()
    await changesNothing(store, async () => {
      assert.deepEqual(await store.progress([{ id: lease.id, token: lease.token, value: '1' }]), [false])
      assert.equal((await finish(lease, DONE)).accepted, false)
      assert.equal((await store.instances.renew(aHeartbeat(lease.instance))).alive, false)
      assert.deepEqual(await store.claim(aClaim(lease.instance, { kinds: [lease.kind] })), [])
    })
  }),
  test('P2 P4 a job that another instance holds by now is not taken from it', async (t) => {
    const { store, finish, reap, takenOver } = t
    const [lost, lease] = await takenOver()
    assert.equal(lease.id, lost.id)
    assert.deepEqual(await changesNothing(store, () => reap()), { instances: [], jobs: [] })
    assert.equal((await finish(lease, DONE)).accepted, true)
  }),
]
