/**
 * Concurrent handles: whatever the order of events, each job takes one path, and all handles see the same.
 */
import assert from 'node:assert/strict'
import { aClaim, aJob, aHeartbeat, someJobs, rooms } from '../../factories.ts'
import { DONE, HOUR, aFinish, later } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { hasFields, pluck, countsAreExact, countsOf } from '../looks.ts'

const options = { crashesUntilDead: 3, limit: 10 }

export const raceCases: readonly Case[] = [
  test('P2 P3 many concurrent claims from several handles: no job twice, none missing', async (t) => {
    const { store, another, worker } = t
    const stores = [store, await another(), await another(), await another()]
    const jobs = someJobs(Array.from({ length: 400 }, (_, n) => ({ queue: `q${n % 2}`, priority: n % 3 })))
    await store.enqueue(jobs)
    const queues = rooms({ q0: 20, q1: 20 })
    const instances = await Promise.all(stores.map(() => worker()))
    const counts = new Map<string, number>()
    // A claim may skip rows that another one has locked, so one empty reply does not mean that nothing is
    // left.
    for (let round = 0; round < 50 && counts.size < jobs.length; round += 1) {
      const leases = await Promise.all(
        stores.flatMap((each, n) =>
          [0, 1].map(() => each.claim(aClaim(instances[n] ?? '', { queues, limit: 25 }))),
        ),
      )
      for (const { id } of leases.flat()) counts.set(id, (counts.get(id) ?? 0) + 1)
    }
    assert.equal(counts.size, jobs.length)
    assert.ok([...counts.values()].every((times) => times === 1))
    assert.deepEqual(
      [await countsOf(store, 'q0'), await countsOf(store, 'q1')],
      [{ running: 200 }, { running: 200 }],
    )
  }),
  test('P2 P3 claims racing enqueues and finishes run each job once', async ({ store, another, worker }) => {
    const [one, other] = [await another(), await another()]
    const instances = [await worker(), await worker()]
    const jobs = someJobs(Array.from({ length: 120 }, () => ({})))
    const ran: string[] = []
    const work = async (from: typeof one, instance: string): Promise<void> => {
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
    await Promise.all([fill(), work(one, instances[0] ?? ''), work(other, instances[1] ?? '')])
    await work(one, instances[0] ?? '')
    assert.deepEqual(ran.toSorted(), jobs.map(({ id }) => id).toSorted())
    assert.deepEqual(await countsOf(store), { done: 120 })
  }),
  test('P2 P8 claims racing cancel, delete and replace: each job takes one path', async (t) => {
    const { store, another, worker, enqueue } = t
    const other = await another()
    const instance = await worker()
    for (let round = 0; round < 12; round += 1) {
      const keys = [0, 1, 2].map((n) => ({ key: `${round} ${n}`, onConflict: 'replace' as const }))
      const ids = await Promise.all(keys.map((dedupe) => enqueue({ dedupe, payload: 'old' })))
      const [leases, [cancelled], [deleted], [replaced]] = await Promise.all([
        store.claim(aClaim(instance)),
        other.cancel(ids.slice(0, 1), 'no'),
        other.delete(ids.slice(1, 2)),
        other.enqueue([aJob({ dedupe: keys[2] ?? { key: '' }, payload: 'new', delay: HOUR })]),
      ])
      const ran = ids.map((id) => leases.some((lease) => lease.id === id))
      assert.equal(cancelled?.state, ran[0] === true ? 'running' : 'cancelled')
      assert.equal(deleted?.verdict, ran[1] === true ? 'refused' : 'changed')
      assert.equal(replaced?.outcome, ran[2] === true ? 'duplicate' : 'replaced')
      const finalStates = (await store.get(ids)).map((job) => job?.state ?? 'gone')
      const states = ['cancelled', 'gone', 'scheduled'].map((state, at) =>
        ran[at] === true ? 'running' : state,
      )
      assert.deepEqual(finalStates, states)
    }
  }),
  test('P2 P8 a cancel racing a finish: done stays done, a retry is cancelled, and both agree', async (t) => {
    const { store, another, running } = t
    const other = await another()
    for (let round = 0; round < 16; round += 1) {
      const lease = await running()
      const item = aFinish(lease, round % 2 === 0 ? DONE : later(HOUR))
      const [[finished], [verdict]] = await Promise.all([
        store.finish([item]),
        other.cancel([lease.id], 'no'),
      ])
      const [job] = await store.get([lease.id])
      assert.equal(finished?.accepted, true)
      const ends = round % 2 === 0 ? 'done' : 'cancelled'
      assert.equal(job?.state, ends)
      // Whichever came first, the verdict names a state that the job had.
      assert.ok(['running', ends].includes(verdict?.state ?? ''))
    }
    await countsAreExact(store)
  }),
  test('P2 P8 a cancel racing a stage or a claim is never lost', async (t) => {
    const { store, another, clock, enqueue, worker } = t
    const other = await another()
    const instance = await worker({ leaseMs: HOUR })
    for (let round = 0; round < 16; round += 1) {
      const id = await enqueue({ delay: 1 })
      clock.advance(1)
      const [, [verdict], leases] = await Promise.all([
        store.stage(10),
        other.cancel([id], 'no'),
        store.claim(aClaim(instance)),
      ])
      assert.equal(verdict?.verdict, 'changed')
      const [job] = await store.get([id])
      if (leases.length === 0) assert.equal(job?.state, 'cancelled')
      else assert.deepEqual([job?.state, job?.cancelReason], ['running', 'no'])
    }
  }),
  test('P3 P4 concurrent reaps from several handles reclaim each job once', async (t) => {
    const { store, another, clock, worker, claim, reap } = t
    const stores = [store, await another(), await another()]
    await store.enqueue(someJobs(Array.from({ length: 60 }, () => ({}))))
    for (let n = 0; n < 6; n += 1) await claim(await worker(), { limit: 10 })
    clock.advance(HOUR)
    const reaped = await Promise.all(stores.map((each) => each.instances.reap(options)))
    // A pass that lost a race for an instance may leave it to a later one, but no crash is counted twice.
    const rest = await reap()
    const all = [...reaped, rest]
    assert.equal(all.flatMap(({ instances }) => instances).length, 6)
    assert.equal(all.flatMap(({ jobs }) => jobs).length, 60)
    assert.deepEqual(await countsOf(store), { ready: 60 })
    const leases = await claim(await worker())
    assert.ok(leases.length === 60 && leases.every(({ crashes }) => crashes === 1))
  }),
  test('P2 P3 a reap racing finishes: a job is finished or reclaimed, never both', async (t) => {
    const { store, another, clock, running, reap } = t
    const other = await another()
    for (let round = 0; round < 12; round += 1) {
      const lease = await running()
      clock.advance(HOUR)
      const item = { id: lease.id, token: lease.token, transition: DONE, outcome: 'returned' } as const
      const [[finished], reaped] = await Promise.all([store.finish([item]), other.instances.reap(options)])
      const [job] = await store.get([lease.id])
      const isReaped = reaped.jobs.some(({ id }) => id === lease.id)
      assert.equal(finished?.accepted, !isReaped)
      assert.equal(job?.state, isReaped ? 'ready' : 'done')
      assert.equal((await store.history(lease.id)).length, 1)
      await reap()
      await store.delete([lease.id])
    }
    await countsAreExact(store)
  }),
  test('P4 a reap racing a renewal: the instance is alive with its jobs, or lost without them', async (t) => {
    const { store, another, clock, running } = t
    const other = await another()
    for (let round = 0; round < 12; round += 1) {
      const lease = await running()
      clock.advance(HOUR)
      const [heartbeat, reaped] = await Promise.all([
        store.instances.renew(aHeartbeat(lease.instance)),
        other.instances.reap(options),
      ])
      assert.equal(heartbeat.alive, !reaped.instances.includes(lease.instance))
      hasFields((await store.get([lease.id]))[0], { state: heartbeat.alive ? 'running' : 'ready' })
      await store.instances.deregister(lease.instance)
      await store.delete([lease.id])
    }
  }),
  test('P2 P6 claims racing the end of their instance leave no job that cannot be reclaimed', async (t) => {
    const { store, another, worker, enqueue, claim, clock, reap } = t
    const other = await another()
    for (let round = 0; round < 10; round += 1) {
      const ids = [await enqueue(), await enqueue()]
      const id = await worker()
      await Promise.all([claim(id), other.instances.deregister(id)])
      clock.advance(1)
      await reap(9)
      const states = (await store.get(ids)).map((job) => job?.state)
      assert.deepEqual(states, ['ready', 'ready'])
      await store.delete(ids)
    }
  }),
  test('P4 concurrent renewals of one instance all find it alive', async (t) => {
    const { store, another, clock, worker } = t
    const other = await another()
    const instance = await worker()
    for (let round = 0; round < 40; round += 1) {
      clock.advance(5_000)
      const heartbeats = await Promise.all(
        [store, other, store].map((each) => each.instances.renew(aHeartbeat(instance))),
      )
      assert.deepEqual(pluck(heartbeats, 'alive'), [true, true, true])
    }
  }),
  test('P5 P6 a stop with a claim in flight leaves no crash behind', async (t) => {
    const { store, another, worker, enqueue, reap } = t
    const other = await another()
    for (let round = 0; round < 25; round += 1) {
      const id = await enqueue()
      const instance = await worker()
      await Promise.all([store.claim(aClaim(instance)), other.instances.deregister(instance)])
      await reap()
      hasFields((await store.get([id]))[0], { state: 'ready', crashes: 0, attempt: 0 })
      assert.deepEqual(await store.history(id), [])
      await store.delete([id])
    }
  }),
]
