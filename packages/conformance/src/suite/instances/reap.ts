/**
 * reap: jobs of expired instances return to their queues, counted as crashes and not as attempts. For jobs
 * that are then dead, it enqueues `onDead` jobs, if the lost instance requested them.
 */
import assert from 'node:assert/strict'
import { ON_DEAD_QUEUE, onDeadJob, onDeadKind } from 'jobmill/store'
import { DEAD, DONE, HOUR, later, only } from '../../factories.ts'
import type { Bench } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { hasFields, pluck } from '../looks.ts'

const FATAL = { crashesUntilDead: 1, limit: 100 }
const ERROR = 'its process crashed or stopped responding (crash 1)'

/** A job of this kind that dies with an instance that requests `onDead`. Returns its id. */
async function dying(t: Bench, kind: string, queue = 'default'): Promise<string> {
  const instance = await t.worker({ queues: [queue], kinds: [kind], onDead: [kind] })
  return (await t.running({ kind, queue }, instance)).id
}

/** Leases the job of this kind again, to an instance that requests `onDead`. */
async function againDying(t: Bench, kind: string): Promise<void> {
  await t.claimOne(await t.worker({ kinds: [kind], onDead: [kind] }), { kinds: [kind] })
}

export const reapCases: readonly Case[] = [
  test('P4 P9 jobs of an expired instance are ready again in their old place, no attempt spent', async (t) => {
    const first = await t.running({ kind: 'work' })
    const second = await t.enqueue()
    t.clock.advance(10_001)
    const { id, instance, readyAt } = first
    const job = { id, queue: 'default', kind: 'work', crashes: 1, state: 'ready' }
    assert.deepEqual(await t.reap(), { instances: [instance], jobs: [job] })
    await t.jobIs(id, { state: 'ready', attempt: 0, crashes: 1 })
    hasFields(await t.instanceOf(instance), { state: 'lost', endedAt: t.clock.now() })
    const leases = await t.claim(await t.worker())
    assert.deepEqual(pluck(leases, 'attempt'), [1, 1])
    hasFields(leases[0], { id, crashes: 1, readyAt })
    hasFields(leases[1], { id: second })
  }),
  test('P4 a reaped attempt is in the history as interrupted, under its instance and number', async (t) => {
    const { id, token, instance } = await t.running()
    await t.crash()
    const { error: _, ...attempt } = only(await t.store.history(id))
    const times = { startedAt: t.clock.now() - HOUR, endedAt: t.clock.now() }
    assert.deepEqual(attempt, {
      ...times,
      attempt: 1,
      token,
      instance,
      version: null,
      outcome: 'interrupted',
      log: null,
    })
  }),
  test('P4 a running instance is not reaped, nor is one that stopped gracefully', async (t) => {
    const lease = await t.running()
    const stopped = await t.worker()
    await t.store.instances.deregister(stopped)
    t.clock.advance(9_999)
    assert.deepEqual(await t.changesNothing(() => t.reap()), { instances: [], jobs: [] })
    assert.equal((await t.renew(lease.instance)).alive, true)
  }),
  test('P4 an expired instance without jobs is marked too, once', async (t) => {
    const id = await t.worker()
    assert.deepEqual(await t.crash(), { instances: [id], jobs: [] })
    assert.deepEqual(await t.reap(), { instances: [], jobs: [] })
  }),
  test('P4 a heartbeat reports to any instance when reap has something to do', async (t) => {
    await t.worker({ leaseMs: 100 })
    const watcher = await t.worker({ leaseMs: HOUR })
    const expired = async (): Promise<boolean> => (await t.renew(watcher)).expired
    assert.equal(await expired(), false)
    t.clock.advance(101)
    assert.equal(await expired(), true)
    await t.reap()
    assert.equal(await expired(), false)
  }),
  test('P4 reap takes at most the limit of instances, each with all its jobs', async (t) => {
    const instances = [await t.worker(), await t.worker(), await t.worker()]
    for (const instance of instances) for (let n = 0; n < 3; n += 1) await t.running({}, instance)
    t.clock.advance(HOUR)
    const ids: string[] = []
    for (const expected of [2, 1, 0]) {
      const reaped = await t.store.instances.reap({ crashesUntilDead: 3, limit: 2 })
      assert.deepEqual([reaped.instances.length, reaped.jobs.length], [expected, expected * 3])
      ids.push(...reaped.instances)
    }
    assert.deepEqual(ids.toSorted(), instances.toSorted())
    await t.countsAre({ ready: 9 })
  }),
  test('P5 crashes are counted apart from attempts, and the last one makes the job dead', async (t) => {
    const id = await t.enqueue()
    await t.crashTimes('work', 2)
    await t.jobIs(id, { crashes: 2, attempt: 0 })
    await t.claimOne(await t.worker(), { quarantined: 'only' })
    const { jobs } = await t.crash()
    assert.deepEqual(jobs, [{ id, queue: 'default', kind: 'work', crashes: 3, state: 'dead' }])
    const error = 'its process crashed or stopped responding (crash 3)'
    await t.jobIs(id, { state: 'dead', crashes: 3, attempt: 0, endedAt: t.clock.now(), error })
    assert.equal((await t.store.history(id)).length, 3)
    await t.countsAre({ dead: 1 })
  }),
  test('P5 a job with two crashes is skipped by skip, and taken alone by only', async (t) => {
    const [one, two] = [await t.enqueue({ kind: 'a' }), await t.enqueue({ kind: 'b' })]
    await t.crashTimes('a', 2)
    await t.crashTimes('b', 2)
    const harmless = await t.enqueue({ kind: 'a' })
    const [instance, kinds] = [await t.worker(), ['a', 'b']]
    hasFields(await t.renew(instance, { kinds }), { ready: true, quarantined: true })
    assert.deepEqual(await t.claimIds(instance, { kinds }), [harmless])
    hasFields(await t.renew(instance, { kinds }), { ready: false, quarantined: true })
    await t.enqueue({ kind: 'a', priority: -1 })
    for (const expected of [[one], [two], []])
      assert.deepEqual(await t.claimIds(instance, { kinds, quarantined: 'only' }), expected)
  }),
  test('P5 quarantined jobs respect kinds, rooms, pauses and cool-downs like any job', async (t) => {
    await t.enqueue()
    await t.crashTimes('work', 2)
    const instance = await t.worker()
    const only = (overrides = {}): Promise<unknown[]> =>
      t.claim(instance, { quarantined: 'only', ...overrides })
    assert.deepEqual(await only({ kinds: ['other'] }), [])
    assert.deepEqual(await only({ queues: [{ queue: 'default', room: 0 }] }), [])
    await t.setQueue('default', { paused: true })
    assert.deepEqual(await only(), [])
    assert.equal((await t.renew(instance)).quarantined, false)
    await t.store.queues.change('default', { settings: { paused: false }, coolMs: 100 })
    assert.deepEqual(await only(), [])
    t.clock.advance(100)
    assert.equal((await only()).length, 1)
  }),
  test('P5 one crash does not quarantine a job, and finishing an attempt does not clear crashes', async (t) => {
    const id = await t.enqueue()
    await t.crashTimes('work', 1)
    const lease = await t.claimOne(await t.worker())
    assert.equal(lease.crashes, 1)
    await t.finish(lease, later(0))
    await t.jobIs(id, { crashes: 1, attempt: 1 })
  }),
  test('P2 P4 a job that another instance holds by now is not taken from it', async (t) => {
    const [lost, lease] = await t.takenOver()
    assert.equal(lease.id, lost.id)
    assert.deepEqual(await t.changesNothing(() => t.reap()), { instances: [], jobs: [] })
    assert.equal((await t.finish(lease, DONE)).accepted, true)
  }),
  test('P3 P5 a permanent failure by crashes enqueues an onDead job at once', async (t) => {
    const id = await dying(t, 'mail', 'post')
    assert.equal(only((await t.crash(1)).jobs).state, 'dead')
    const now = t.clock.now()
    const followUp = onDeadJob({ id, kind: 'mail', queue: 'post', orderKey: null, error: ERROR, at: now })
    const { payload, ...job } = await t.job(followUp.id)
    const { priority, maxAttempts } = followUp
    const names = { kind: onDeadKind('mail'), queue: ON_DEAD_QUEUE }
    hasFields(job, { ...names, state: 'ready', enqueuedAt: now, priority, maxAttempts })
    assert.deepEqual(JSON.parse(payload), { id, kind: 'mail', queue: 'post', error: ERROR })
    await t.jobIs(id, { error: ERROR })
    // The onDead job has its own queue, so it does not wait for the limit or the pause of the failed job's.
    await t.countsAre({ dead: 1 }, 'post')
    await t.countsAre({ ready: 1 }, ON_DEAD_QUEUE)
    await t.countsAreExact()
    const [queues, kinds] = [[{ queue: ON_DEAD_QUEUE, room: 9 }], [onDeadKind('mail')]]
    assert.equal((await t.claimOne(await t.worker(), { queues, kinds })).id, followUp.id)
  }),
  test('P5 a crash that is not the last enqueues no onDead job, nor does a cancel', async (t) => {
    const again = await dying(t, 'a')
    const cancelled = await dying(t, 'b')
    await t.store.cancel([cancelled], 'stop it')
    await t.crash(2)
    await t.statesAre([again, cancelled], ['ready', 'cancelled'])
    await t.countsAre({ ready: 1, cancelled: 1 })
    await againDying(t, 'a')
    await t.crash(2)
    await t.countsAre({ cancelled: 1, dead: 1 })
    await t.countsAre({ ready: 1 }, ON_DEAD_QUEUE)
  }),
  test('onDead jobs are enqueued only for kinds that the instance of the job requested', async (t) => {
    const instance = await t.worker({ kinds: ['a', 'b'], onDead: ['b'] })
    await t.running({ kind: 'a' }, instance)
    await t.running({ kind: 'b' }, await t.worker({ kinds: ['b'] }))
    await t.worker({ kinds: ['a', 'b'], onDead: ['a', 'b'] })
    assert.equal((await t.crash(1)).jobs.length, 2)
    await t.countsAre({ dead: 2 })
    // The latest registration counts.
    const changed = await t.worker({ kinds: ['c'], onDead: ['c'] })
    await t.running({ kind: 'c' }, changed)
    await t.worker({ id: changed, kinds: ['c'], onDead: [] })
    await t.crash(1)
    await t.countsAre({ dead: 3 })
  }),
  test('P5 a job that is retried and dead again gets another onDead job', async (t) => {
    const id = await dying(t, 'a')
    await t.crash(1)
    await t.store.retry([id])
    await againDying(t, 'a')
    await t.crash(1)
    await t.countsAre({ dead: 1 })
    await t.countsAre({ ready: 2 }, ON_DEAD_QUEUE)
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
      const dies = await t.enqueue({ kind: 'a', orderKey })
      const next = await t.enqueue({ kind: 'a', orderKey })
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
    await t.countsAreExact()
  }),
  test('P3 P5 concurrent reaps from several handles enqueue one onDead job for each dead job', async (t) => {
    const stores = await t.handles(3)
    for (let round = 0; round < 4; round += 1) {
      const kind = `k${round}`
      for (let n = 0; n < 5; n += 1) await dying(t, kind, kind)
      t.clock.advance(HOUR)
      await Promise.all(stores.map((each) => each.instances.reap(FATAL)))
      // A pass that lost a race may leave an instance to a later pass.
      await t.reap(1)
      await t.countsAre({ dead: 5 }, kind)
      await t.countsAre({ ready: 5 * (round + 1) }, ON_DEAD_QUEUE)
    }
    assert.equal((await t.idsOf({ state: 'ready' })).length, 20)
    await t.countsAreExact()
  }),
]
