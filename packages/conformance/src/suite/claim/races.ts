/**
 * Concurrent handles: whatever the order of events, each job takes one path, and all handles see the same.
 */
import assert from 'node:assert/strict'
import type { FullStore, Lease } from 'jobmill/store'
import { aClaim, aFinish, aHeartbeat, aJob, DONE, HOUR, later, rooms, someJobs } from '../../factories.ts'
import { type Case, test } from '../case.ts'
import { pluck, repeat } from '../looks.ts'

const options = { crashesUntilDead: 3, limit: 10 }

export const raceCases: readonly Case[] = [
  test('P2 P3 many concurrent claims from several handles: no job twice, none missing', async (t) => {
    const stores = await t.handles(4)
    const jobs = someJobs(Array.from({ length: 400 }, (_, n) => ({ queue: `q${n % 2}`, priority: n % 3 })))
    await t.store.enqueue(jobs)
    const queues = rooms({ q0: 20, q1: 20 })
    const instances = await Promise.all(stores.map(() => t.worker()))
    const leased: Lease[] = []
    // A claim may skip rows that another one has locked, so one empty reply does not mean that nothing is
    // left.
    for (let round = 0; round < 50 && leased.length < jobs.length; round += 1) {
      const claims = stores.flatMap((each, n) => {
        const request = aClaim(instances[n] ?? '', { queues, limit: 25 })
        return [each.claim(request), each.claim(request)]
      })
      leased.push(...(await Promise.all(claims)).flat())
    }
    assert.deepEqual(pluck(leased, 'id').toSorted(), pluck(jobs, 'id').toSorted())
    for (const queue of ['q0', 'q1']) await t.countsAre({ running: 200 }, queue)
  }),
  test('P2 P3 claims racing enqueues and finishes run each job once', async (t) => {
    const [store, one, other] = await t.handles(3)
    const [first, second] = [await t.worker(), await t.worker()]
    const jobs = someJobs(repeat({}, 120))
    const ran: string[] = []
    const work = async (from: FullStore, instance: string): Promise<void> => {
      for (let idle = 0; idle < 20 && ran.length < jobs.length;) {
        const leases = await from.claim(aClaim(instance, { limit: 7 }))
        idle = leases.length === 0 ? idle + 1 : 0
        const replies = await from.finish(leases.map((lease) => aFinish(lease, DONE)))
        ran.push(...replies.filter(({ accepted }) => accepted).map(({ id }) => id))
      }
    }
    const fill = async (): Promise<void> => {
      for (let from = 0; from < jobs.length; from += 10) await store.enqueue(jobs.slice(from, from + 10))
    }
    await Promise.all([fill(), work(one, first), work(other, second)])
    await work(one, first)
    assert.deepEqual(ran.toSorted(), pluck(jobs, 'id').toSorted())
    await t.countsAre({ done: 120 })
  }),
  test('P2 P8 claims racing cancel, delete and replace: each job takes one path', async (t) => {
    const other = await t.another()
    const instance = await t.worker()
    for (let round = 0; round < 12; round += 1) {
      const dedupe = { key: `${round}`, onConflict: 'replace' } as const
      const ids = await Promise.all([t.enqueue(), t.enqueue(), t.enqueue({ dedupe, payload: 'old' })])
      const [leases, [cancelled], [deleted], [replaced]] = await Promise.all([
        t.store.claim(aClaim(instance)),
        other.cancel(ids.slice(0, 1), 'no'),
        other.delete(ids.slice(1, 2)),
        other.enqueue([aJob({ dedupe, payload: 'new', delay: HOUR })]),
      ])
      const ran = ids.map((id) => leases.some((lease) => lease.id === id))
      assert.equal(cancelled?.state, ran[0] === true ? 'running' : 'cancelled')
      assert.equal(deleted?.verdict, ran[1] === true ? 'refused' : 'changed')
      assert.equal(replaced?.outcome, ran[2] === true ? 'duplicate' : 'replaced')
      const states = (['cancelled', null, 'scheduled'] as const).map((state, at) =>
        ran[at] === true ? 'running' : state,
      )
      await t.statesAre(ids, states)
    }
  }),
  test('P2 P8 a cancel racing a finish: done stays done, a retry is cancelled, and both agree', async (t) => {
    const other = await t.another()
    for (let round = 0; round < 16; round += 1) {
      const lease = await t.running()
      const item = aFinish(lease, round % 2 === 0 ? DONE : later(HOUR))
      const [[finished], [verdict]] = await Promise.all([
        t.store.finish([item]),
        other.cancel([lease.id], 'no'),
      ])
      assert.equal(finished?.accepted, true)
      const ends = round % 2 === 0 ? 'done' : 'cancelled'
      await t.statesAre([lease.id], [ends])
      // Whichever came first, the verdict names a state that the job had.
      assert.ok(['running', ends].includes(verdict?.state ?? ''))
    }
    await t.countsAreExact()
  }),
  test('P2 P8 a cancel racing a stage or a claim is never lost', async (t) => {
    const other = await t.another()
    const instance = await t.worker({ leaseMs: HOUR })
    for (let round = 0; round < 16; round += 1) {
      const id = await t.enqueue({ delay: 1 })
      t.clock.advance(1)
      const [, [verdict], leases] = await Promise.all([
        t.store.stage(10),
        other.cancel([id], 'no'),
        t.store.claim(aClaim(instance)),
      ])
      assert.equal(verdict?.verdict, 'changed')
      if (leases.length === 0) await t.jobIs(id, { state: 'cancelled' })
      else await t.jobIs(id, { state: 'running', cancelReason: 'no' })
    }
  }),
  test('P3 P4 concurrent reaps from several handles reclaim each job once', async (t) => {
    const stores = await t.handles(3)
    await t.store.enqueue(someJobs(repeat({}, 60)))
    for (let n = 0; n < 6; n += 1) await t.claim(await t.worker(), { limit: 10 })
    t.clock.advance(HOUR)
    const reaped = await Promise.all(stores.map((each) => each.instances.reap(options)))
    // A pass that lost a race for an instance may leave it to a later one, but no crash is counted twice.
    const all = [...reaped, await t.reap()]
    assert.equal(all.flatMap(({ instances }) => instances).length, 6)
    assert.equal(all.flatMap(({ jobs }) => jobs).length, 60)
    await t.countsAre({ ready: 60 })
    assert.deepEqual(pluck(await t.claim(await t.worker()), 'crashes'), repeat(1, 60))
  }),
  test('P2 P3 a reap racing finishes: a job is finished or reclaimed, never both', async (t) => {
    const other = await t.another()
    for (let round = 0; round < 12; round += 1) {
      const lease = await t.running()
      t.clock.advance(HOUR)
      const [finished, reaped] = await Promise.all([t.finish(lease, DONE), other.instances.reap(options)])
      const isReaped = reaped.jobs.some(({ id }) => id === lease.id)
      assert.equal(finished.accepted, !isReaped)
      await t.statesAre([lease.id], [isReaped ? 'ready' : 'done'])
      assert.equal((await t.store.history(lease.id)).length, 1)
      await t.reap()
      await t.store.delete([lease.id])
    }
    await t.countsAreExact()
  }),
  test('P4 a reap racing a renewal: the instance is alive with its jobs, or lost without them', async (t) => {
    const other = await t.another()
    for (let round = 0; round < 12; round += 1) {
      const lease = await t.running()
      t.clock.advance(HOUR)
      const [{ alive }, reaped] = await Promise.all([t.renew(lease.instance), other.instances.reap(options)])
      assert.equal(alive, !reaped.instances.includes(lease.instance))
      await t.statesAre([lease.id], [alive ? 'running' : 'ready'])
      await t.store.instances.deregister(lease.instance)
      await t.store.delete([lease.id])
    }
  }),
  test('P2 P5 P6 claims racing the end of their instance leave no crash behind, and no job that cannot be reclaimed', async (t) => {
    const other = await t.another()
    for (let round = 0; round < 25; round += 1) {
      const ids = [await t.enqueue(), await t.enqueue()]
      const instance = await t.worker()
      await Promise.all([t.claim(instance), other.instances.deregister(instance)])
      t.clock.advance(1)
      await t.reap()
      for (const id of ids) {
        await t.jobIs(id, { state: 'ready', crashes: 0, attempt: 0 })
        assert.deepEqual(await t.store.history(id), [])
      }
      await t.store.delete(ids)
    }
  }),
  test('P4 concurrent renewals of one instance all find it alive', async (t) => {
    const other = await t.another()
    const instance = await t.worker()
    for (let round = 0; round < 40; round += 1) {
      t.clock.advance(5_000)
      const calls = [t.store, other, t.store].map((each) => each.instances.renew(aHeartbeat(instance)))
      assert.deepEqual(pluck(await Promise.all(calls), 'alive'), repeat(true, 3))
    }
  }),
]
