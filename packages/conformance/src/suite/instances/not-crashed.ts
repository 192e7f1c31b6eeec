/**
 * register after reap: an instance whose process is alive reverts its crash counts, whatever state its jobs
 * are in by then.
 */
import assert from 'node:assert/strict'
import { KEY_TAKEN, NO_CRASH, STOOD_STILL } from 'jobmill/store'
import { aClaim, aFinish, anInstance, DONE, HOUR, later, only, RELEASED, someJobs } from '../../factories.ts'
import type { Bench, HeldLease } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { hasFields, pluck, repeat } from '../looks.ts'

const MINUTE = 60_000

/**
 * Claims one job with a new instance, which then expires and is reaped. Returns a function that registers it
 * again.
 */
async function lose(
  t: Bench,
  kind: string,
  crashesUntilDead = 99,
): Promise<(how?: { readonly stoodStill: boolean }) => Promise<void>> {
  const instance = anInstance({ kinds: [kind] })
  await t.store.instances.register(instance)
  const skipped = await t.claim(instance.id, { kinds: [kind] })
  if (skipped.length === 0) await t.claimOne(instance.id, { kinds: [kind], quarantined: 'only' })
  t.clock.advance(MINUTE)
  assert.equal((await t.reap(crashesUntilDead)).jobs.length, 1)
  return (how) => t.store.instances.register({ ...instance, ...how })
}

const crashesOf = async (t: Bench, id: string): Promise<number> => (await t.job(id)).crashes

export const notCrashedCases: readonly Case[] = [
  test('P5 D6 an instance that registers after it was reaped reverts its crashes, once, and no others', async (t) => {
    const id = await t.enqueue()
    const comeBack = await lose(t, 'work')
    await lose(t, 'work')
    assert.equal(await crashesOf(t, id), 2)
    await comeBack()
    assert.equal(await crashesOf(t, id), 1)
    await comeBack()
    assert.equal(await crashesOf(t, id), 1)
    await t.historyIs(id, [
      ['interrupted', NO_CRASH],
      ['interrupted', 'its process crashed or stopped responding (crash 2)'],
    ])
    await t.jobIs(id, { attempt: 0 })
  }),
  test('P5 D6 crashes are reverted whatever state the job is in: ready, running, waiting for a retry, or done', async (t) => {
    const kinds = ['ready', 'running', 'scheduled', 'done', 'deleted']
    const ids = await Promise.all(kinds.map((kind) => t.enqueue({ kind })))
    const instance = anInstance({ kinds })
    await t.store.instances.register(instance)
    assert.equal((await t.claim(instance.id, { kinds })).length, 5)
    t.clock.advance(MINUTE)
    await t.reap()
    const other = await t.worker({ kinds })
    const take = (kind: string): Promise<HeldLease> => t.claimOne(other, { kinds: [kind] })
    assert.equal((await take('running')).crashes, 1)
    await t.finish(await take('scheduled'), later(HOUR))
    await t.finish(await take('done'), DONE)
    await t.store.delete([ids[4] ?? ''])
    await t.store.instances.register(instance)
    for (const id of ids.slice(0, 4)) assert.equal(await crashesOf(t, id), 0, id)
    assert.equal(await t.store.instances.deregister(other), 1)
    assert.equal(await crashesOf(t, ids[1] ?? ''), 0)
    await t.countsAreExact()
  }),
  test('P5 D6 a job leaves quarantine when one of its two crashes is reverted', async (t) => {
    const id = await t.enqueue()
    const comeBack = await lose(t, 'work')
    await lose(t, 'work')
    const watcher = await t.worker()
    hasFields(await t.renew(watcher), { ready: false, quarantined: true })
    await comeBack()
    hasFields(await t.renew(watcher), { ready: true, quarantined: false })
    assert.deepEqual([(await t.claimOne(watcher)).id, await crashesOf(t, id)], [id, 1])
  }),
  test('P5 D6 a job that is dead because of a reverted crash is retried, unless another job holds its key', async (t) => {
    const dedupe = { key: 'one' }
    const [free, keyed] = [await t.enqueue({ kind: 'free' }), await t.enqueue({ kind: 'taken', dedupe })]
    // The first crash is reverted. The job is dead because of the last one, which did happen.
    const comeBack = await lose(t, 'free')
    for (const crashesUntilDead of [3, 3]) await lose(t, 'free', crashesUntilDead)
    const comeBackTaken = await lose(t, 'taken', 1)
    await t.enqueue({ kind: 'later', dedupe })
    await t.countsAre({ dead: 2, ready: 1 })
    await comeBack()
    await comeBackTaken()
    await t.jobIs(free, { state: 'ready', attempt: 0, crashes: 0, endedAt: null })
    await t.jobIs(keyed, { state: 'dead', crashes: 0 })
    await t.countsAre({ dead: 1, ready: 2 })
    await t.countsAreExact()
    assert.equal((await t.claimOne(await t.worker(), { kinds: ['free'] })).id, free)
  }),
  test('P5 D6 a job that is dead because of a reverted crash says that another job holds its key, once', async (t) => {
    const dedupe = { key: 'one' }
    const id = await t.enqueue({ kind: 'taken', dedupe })
    const [first, second, third] = [await lose(t, 'taken'), await lose(t, 'taken'), await lose(t, 'taken', 3)]
    await t.enqueue({ kind: 'later', dedupe })
    const lost = `its process crashed or stopped responding (crash 3)${KEY_TAKEN}`
    await first()
    await t.jobIs(id, { state: 'dead', crashes: 2, error: lost })
    await second()
    await t.jobIs(id, { state: 'dead', crashes: 1, error: lost })
    await third()
    const errors = [NO_CRASH, NO_CRASH, `${NO_CRASH}${KEY_TAKEN}`]
    await t.jobIs(id, { state: 'dead', crashes: 0, error: errors[2] })
    assert.deepEqual(pluck(await t.store.history(id), 'error'), errors)
    await t.finish(await t.claimOne(await t.worker(), { kinds: ['later'] }), DONE)
    assert.equal(only(await t.store.retry([id])).verdict, 'changed')
  }),
  test('P5 D6 a job that is dead because of reverted crashes is retried when another process returns after its key is free', async (t) => {
    const dedupe = { key: 'one' }
    const id = await t.enqueue({ kind: 'taken', dedupe })
    const [first, second] = [await lose(t, 'taken'), await lose(t, 'taken', 2)]
    await t.enqueue({ kind: 'later', dedupe })
    await second()
    await t.jobIs(id, { state: 'dead' })
    await t.finish(await t.claimOne(await t.worker(), { kinds: ['later'] }), DONE)
    await first()
    await t.jobIs(id, { state: 'ready', crashes: 0 })
    await t.countsAreExact()
  }),
  test('P5 D6 a job that failed permanently after a crash stays dead when that crash is reverted', async (t) => {
    const id = await t.enqueue()
    const comeBack = await lose(t, 'work')
    await t.finish(await t.claimOne(await t.worker()), { to: 'dead' }, { error: 'no use' })
    await comeBack()
    await t.jobIs(id, { state: 'dead', crashes: 0, error: 'no use' })
  }),
  test('P5 D6 an instance that was reaped and stops gracefully reverts its crashes as well', async (t) => {
    const lease = await t.running()
    t.clock.advance(MINUTE)
    await t.reap()
    assert.equal(await crashesOf(t, lease.id), 1)
    assert.equal(await t.store.instances.deregister(lease.instance), 0)
    assert.equal(await crashesOf(t, lease.id), 0)
    assert.equal(only(await t.store.history(lease.id)).error, NO_CRASH)
  }),
  test('P5 the crashes of an instance that stalled stay counted, and the error says so, also for a dead job', async (t) => {
    const [id, dead] = [await t.enqueue({ kind: 'work' }), await t.enqueue({ kind: 'dying' })]
    const lost = await lose(t, 'work')
    const lostToo = await lose(t, 'dying', 1)
    await lost({ stoodStill: true })
    await lostToo({ stoodStill: true })
    // Only once: later crashes are not reverted.
    await lost()
    assert.equal(await crashesOf(t, id), 1)
    const error = `its process crashed or stopped responding (crash 1)${STOOD_STILL}`
    assert.equal(only(await t.store.history(id)).error, error)
    await t.jobIs(dead, { state: 'dead', crashes: 1, error })
  }),
  test('P5 D6 crashes are reverted while jobs are concurrently claimed and released', async (t) => {
    const instance = anInstance()
    await t.store.instances.register(instance)
    await t.store.enqueue(someJobs(repeat({}, 20)))
    const ids = await t.claimIds(instance.id)
    assert.equal(ids.length, 20)
    t.clock.advance(MINUTE)
    await t.reap()
    const [other, worker] = [await t.another(), await t.worker()]
    const churn = async (): Promise<void> => {
      for (let n = 0; n < 5; n += 1) {
        const leases = await other.claim(aClaim(worker, { limit: 7 }))
        await other.finish(leases.map((lease) => aFinish(lease, RELEASED)))
      }
    }
    await Promise.all([churn(), t.store.instances.register(instance), churn()])
    for (const id of ids) assert.equal(await crashesOf(t, id), 0)
    await t.countsAreExact()
  }),
]
