/** What a caller can find out about waiting and failed jobs. */
import assert from 'node:assert/strict'
import { aJob, DEAD, DONE, HOUR, later, only, RELEASED } from '../../factories.ts'
import type { Bench, HeldLease } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { pluck } from '../looks.ts'

/** Checks which kinds have no worker, as `queue kind jobs`. */
async function areUnserved({ store }: Bench, ...expected: string[]): Promise<void> {
  const kinds = await store.inspect.unservedKinds()
  assert.deepEqual(
    kinds.map(({ queue, kind, jobs }) => `${queue} ${kind} ${jobs}`),
    expected,
  )
}

export const inspectCases: readonly Case[] = [
  test('a kind has no worker where no running instance has both it and its queue, by queue and then kind', async (t) => {
    assert.deepEqual(await t.store.inspect.unservedKinds(), [])
    for (const text of ['b y', 'b x', 'a y', 'a x', 'a y', 'Z z']) {
      const [queue = '', kind = ''] = text.split(' ')
      await t.enqueue({ queue, kind })
    }
    await areUnserved(t, 'Z z 1', 'a x 1', 'a y 2', 'b x 1', 'b y 1')
    assert.deepEqual((await t.store.inspect.unservedKinds())[0], {
      queue: 'Z',
      kind: 'z',
      minVersion: null,
      jobs: 1,
    })
    await t.worker({ queues: ['a'], kinds: ['x'] })
    await t.worker({ queues: ['b', 'c'], kinds: ['y', 'z'] })
    await areUnserved(t, 'Z z 1', 'a y 2', 'b x 1')
    await t.worker({ queues: ['Z', 'a', 'b'], kinds: ['x', 'y', 'z'] })
    assert.deepEqual(await t.store.inspect.unservedKinds(), [])
  }),
  test('only ready jobs count as without a worker, including crashed ones', async (t) => {
    for (const state of ['scheduled', 'running', 'done', 'dead', 'cancelled'] as const)
      await t.jobIn(state, { kind: 'a' })
    await t.enqueue({ kind: 'a', orderKey: 'o' })
    await areUnserved(t)
    await t.enqueue({ kind: 'b' })
    await t.crashTimes('b', 1)
    await areUnserved(t, 'default a 1', 'default b 1')
    await t.crashTimes('b', 1)
    await areUnserved(t, 'default a 1', 'default b 1')
    await t.enqueue({ kind: 'b' })
    await areUnserved(t, 'default a 1', 'default b 2')
  }),
  test('P9 an instance that is expired, lost or stopped serves nothing, and a revived one does again', async (t) => {
    await t.enqueue()
    const id = await t.worker({ leaseMs: 100 })
    await areUnserved(t)
    t.clock.advance(100)
    await areUnserved(t, 'default work 1')
    await t.reap()
    await areUnserved(t, 'default work 1')
    await t.worker({ id })
    await areUnserved(t)
    await t.store.instances.deregister(id)
    await areUnserved(t, 'default work 1')
  }),
  test('paused or cooling queues are reported too', async (t) => {
    await t.enqueue()
    await t.store.queues.change('default', { settings: { paused: true }, coolMs: HOUR })
    await areUnserved(t, 'default work 1')
  }),
  test('P9 now is the clock of the database', async (t) => {
    assert.equal(await t.store.now(), t.clock.now())
    t.clock.advance(HOUR)
    assert.equal(await t.store.now(), t.clock.now())
  }),
  test('ahead of a job are those of its queue that are claimed first, of any kind, or only of some', async (t) => {
    const low = await t.enqueue({ priority: 5, kind: 'a' })
    const first = await t.enqueue({ kind: 'b' })
    const second = await t.enqueue({ kind: 'a' })
    await t.enqueue({ queue: 'other', priority: -9 })
    const urgent = await t.enqueue({ priority: -1, kind: 'c' })
    const all = await Promise.all([urgent, first, second, low].map((id) => t.store.inspect.position(id)))
    assert.deepEqual(all, [0, 1, 2, 3])
    const kinds = [['a'], ['a', 'b', 'never'], []]
    assert.deepEqual(await Promise.all(kinds.map((these) => t.store.inspect.position(low, these))), [1, 2, 0])
  }),
  test('a job that crashed keeps its place', async (t) => {
    const id = await t.enqueue({ kind: 'b' })
    const next = await t.enqueue({ kind: 'a' })
    await t.crashTimes('b', 2)
    assert.deepEqual([await t.store.inspect.position(id), await t.store.inspect.position(next)], [0, 1])
  }),
  test('nothing is ahead of a job that is not ready or does not exist', async (t) => {
    for (const state of ['scheduled', 'running', 'done', 'dead', 'cancelled'] as const) {
      const id = await t.jobIn(state)
      assert.equal(await t.store.inspect.position(id), null, state)
    }
    assert.equal(await t.store.inspect.position('00000000-0000-7000-8000-000000000000'), null)
  }),
  test('failures returns how and when the last attempt of each job failed, in the order requested', async (t) => {
    const leases = await t.runningJobs(8)
    const [dead, waits, due, back, snoozed, healed, cancelled, retried] = leases
    const never = await t.enqueue()
    const began = t.clock.now()
    await t.finish(dead, DEAD, { error: 'e1' })
    await t.finish(waits, later(HOUR), { error: 'e2', outcome: 'timed-out' })
    await t.finish(due, later(0), { error: 'e3' })
    await t.finish(back, later(0), { error: 'e4' })
    await t.finish(snoozed, later(HOUR), { error: 'e5', outcome: 'snoozed' })
    await t.finish(healed, later(0), { error: 'e6' })
    await t.finish(cancelled, later(HOUR), { error: 'e7' })
    await t.finish(retried, DEAD, { error: 'e8' })
    t.clock.advance(10)
    await t.store.stage(100)
    // Released without an attempt: the previous one is still the last.
    await t.finish(await t.claimAgain(back), RELEASED)
    await t.finish(await t.claimAgain(healed), DONE)
    await t.store.cancel([cancelled.id], 'why')
    await t.store.retry([retried.id])
    const ids = [never, ...pluck(leases, 'id'), aJob().id, dead.id]
    const none = { logEnd: null, first: null, version: null }
    const failure = (error: string, outcome: string): object => ({ error, at: began, outcome, ...none })
    assert.deepEqual(await t.store.inspect.failures(ids), [
      null,
      failure('e1', 'failed-permanently'),
      failure('e2', 'timed-out'),
      failure('e3', 'failed'),
      failure('e4', 'failed'),
      null,
      null,
      null,
      failure('e8', 'failed-permanently'),
      null,
      failure('e1', 'failed-permanently'),
    ])
    assert.deepEqual(await t.store.inspect.failures([]), [])
    const at = t.clock.now()
    await t.finish(await t.claimAgain(due), DEAD, { error: 'e9' })
    assert.deepEqual(await t.store.inspect.failures([due.id]), [
      { ...failure('e9', 'failed-permanently'), at, first: { at: began, error: 'e3' } },
    ])
  }),
  test('failures returns the end of the log, and the first failed attempt in the history', async (t) => {
    const leases = await t.runningJobs(4)
    const [short, long, longest, twice] = leases
    const began = t.clock.now()
    const end = `${'é'.repeat(399)}\u{1F600}`
    await t.finish(short, DEAD, { error: 'e', log: 'all' })
    await t.finish(long, DEAD, { error: 'e', log: `more${end}` })
    await t.finish(longest, DEAD, { error: 'e', log: 'x'.repeat(16_385) })
    await t.finish(twice, later(0), { error: 'snoozed', outcome: 'snoozed' })
    for (const error of ['e1', 'e2', 'e3']) {
      t.clock.advance(10)
      await t.store.stage(100)
      await t.finish(await t.claimAgain(twice), later(0), { error })
    }
    const failures = await t.store.inspect.failures(pluck(leases, 'id'))
    assert.deepEqual(pluck(failures as { logEnd: unknown }[], 'logEnd'), ['all', end, null, null])
    assert.deepEqual(pluck(failures as { first: unknown }[], 'first'), [
      null,
      null,
      null,
      { at: began + 10, error: 'e1' },
    ])
    // A retry by hand keeps the history.
    await t.store.cancel([twice.id], 'why')
    await t.store.retry([twice.id])
    t.clock.advance(10)
    await t.finish(await t.claimAgain(twice), DEAD, { error: 'e4' })
    const [again] = await t.store.inspect.failures([twice.id])
    assert.deepEqual(again?.first, { at: began + 10, error: 'e1' })
  }),
  test('runs returns where and when attempts ran, by their end, and leaves out those that ended earlier', async (t) => {
    const began = t.clock.now()
    const [done, fails, running, waits] = await t.runningJobs(4)
    const run = ({ id, attempt, instance }: HeldLease, startedAt: number, outcome: string): object => ({
      id,
      attempt,
      instance,
      startedAt,
      endedAt: t.clock.now(),
      outcome,
    })
    t.clock.advance(10)
    await t.finish(fails, later(0), { error: 'e1' })
    const first = run(fails, began, 'failed')
    t.clock.advance(10)
    await t.store.stage(100)
    const again = await t.claimAgain(fails)
    const claimedAt = t.clock.now()
    t.clock.advance(10)
    await t.finish(done, DONE)
    const second = run(done, began, 'returned')
    t.clock.advance(10)
    await t.finish(again, DEAD, { error: 'e2' })
    const third = run(again, claimedAt, 'failed-permanently')
    const cancelled = await t.enqueue()
    await t.store.cancel([cancelled], 'why')
    await t.finish(waits, RELEASED)
    const ids = [running.id, fails.id, aJob().id, done.id, cancelled, waits.id, fails.id]
    assert.deepEqual(await t.store.inspect.runs(ids, began), [first, second, third])
    assert.deepEqual(await t.store.inspect.runs(ids, began + 11), [second, third])
    assert.deepEqual(await t.store.inspect.runs(ids, t.clock.now() + 1), [])
    assert.deepEqual(await t.store.inspect.runs([], 0), [])
  }),
  test('a crash counts as a failure when the job is dead because of it', async (t) => {
    const { id, kind } = await t.running()
    await t.crash(2)
    assert.deepEqual(await t.store.inspect.failures([id]), [null])
    await t.claimOne(await t.worker(), { kinds: [kind] })
    await t.crash(2)
    const { error } = await t.job(id)
    assert.deepEqual(await t.store.inspect.failures([id]), [
      { error, at: t.clock.now(), outcome: 'interrupted', logEnd: null, first: null, version: null },
    ])
    await t.store.retry([id])
    assert.deepEqual(await t.store.inspect.failures([id]), [null])
  }),
  test('holders returns the holder of a key as an enqueue would report it, in the order requested', async (t) => {
    const waiting = await t.enqueue({ dedupe: { key: 'a' } })
    const held = await t.running({ dedupe: { key: 'b', holdFor: HOUR } })
    const free = await t.running({ dedupe: { key: 'c' } })
    const ended = await t.running({ dedupe: { key: 'd', holdFor: HOUR, holdAfter: 'ended' } })
    await t.finish(held, DONE)
    await t.finish(free, DONE)
    await t.finish(ended, DEAD)
    await t.store.delete([held.id])
    const keys = ['global d', 'global c', 'queue a', 'global b', 'global a', 'global d']
    const holders = [ended.id, null, null, held.id, waiting, ended.id]
    assert.deepEqual(await t.changesNothing(() => t.store.inspect.holders(keys)), holders)
    t.clock.advance(HOUR)
    assert.deepEqual(await t.store.inspect.holders(keys), [null, null, null, null, waiting, null])
    assert.deepEqual(await t.store.inspect.holders([]), [])
  }),
  test('the blocker of a job in an order queue holds the order lock, also between attempts, or gets it next', async (t) => {
    const lease = await t.running({ orderKey: 'o' })
    const [second, third] = [await t.enqueue({ orderKey: 'o' }), await t.enqueue({ orderKey: 'o' })]
    const delayed = await t.enqueue({ orderKey: 'o', delay: HOUR })
    const ids = [lease.id, second, third, delayed, await t.enqueue({ orderKey: 'p' }), await t.enqueue({})]
    const areBlockedBy = async (...blockers: (string | null)[]): Promise<void> => {
      const found = await Promise.all(ids.map((id) => t.store.inspect.blocker(id)))
      assert.deepEqual(found, [...blockers, null, null, null])
    }
    await areBlockedBy(null, lease.id, lease.id)
    await t.finish(lease, later(1))
    await areBlockedBy(null, lease.id, lease.id)
    await t.store.delete([lease.id])
    await areBlockedBy(null, null, second)
    await t.store.stage(10)
    await areBlockedBy(null, null, second)
    assert.equal(await t.store.inspect.blocker('00000000-0000-7000-8000-000000000000'), null)
  }),
  test('P14 a quiet instance does not count as a worker of its kinds', async (t) => {
    const id = await t.worker()
    await t.enqueue()
    assert.deepEqual(await t.store.inspect.unservedKinds(), [])
    await t.store.instances.request(id, 'quiet', 'ada')
    assert.equal(only([...(await t.store.inspect.unservedKinds())]).jobs, 1)
  }),
]
