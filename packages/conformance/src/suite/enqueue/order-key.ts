/** Order keys: jobs of one key run one at a time, in the order of becoming due. */
import assert from 'node:assert/strict'
import type { Transition } from 'jobmill/store'
import { aJob, DEAD, DONE, FORGET, HOUR, later, only, RELEASED, someJobs } from '../../factories.ts'
import type { Bench, HeldLease } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { isVerdict, pluck, repeat } from '../looks.ts'

const orderKey = 'o'

async function standings({ store }: Bench, ids: readonly string[]): Promise<string[]> {
  return (await store.get(ids)).map((job) =>
    job?.waitsForOrder === true ? 'in line' : (job?.state ?? 'gone'),
  )
}

/** Runs all jobs of the queue, one at a time, and returns the order. */
async function runAll(t: Bench): Promise<string[]> {
  const worker = await t.worker()
  const ran: string[] = []
  // Bounded, so that a store that keeps returning the same job fails instead of hanging.
  while (ran.length < 100) {
    await t.store.stage(100)
    const [lease, ...more] = await t.claim(worker)
    if (lease === undefined) break
    assert.deepEqual(more, [])
    ran.push(lease.id)
    await t.finish(lease, DONE)
  }
  return ran
}

export const orderKeyCases: readonly Case[] = [
  test('a job with an order key is never ready on enqueue: it waits until stage gives it the order lock', async (t) => {
    const id = await t.enqueue({ orderKey })
    assert.deepEqual(await standings(t, [id]), ['in line'])
    assert.deepEqual(await t.claim(await t.worker()), [])
    await t.countsAre({ scheduled: 1 })
    assert.deepEqual(await t.store.stage(10), { ready: 1, more: false, queues: ['default'] })
    assert.deepEqual(await standings(t, [id]), ['ready'])
    assert.equal((await t.claimOne(await t.worker())).orderKey, orderKey)
  }),
  test('jobs of one key run one at a time, in the order of enqueuing', async (t) => {
    const jobs = someJobs(Array.from({ length: 5 }, (_, n) => ({ orderKey, priority: -n })))
    await t.store.enqueue(jobs)
    await t.store.stage(100)
    await t.countsAre({ scheduled: 4, ready: 1 })
    await t.store.stage(100)
    await t.countsAre({ scheduled: 4, ready: 1 })
    assert.deepEqual(await runAll(t), pluck(jobs, 'id'))
  }),
  test('a job that goes first comes before all others in its order queue, behind earlier ones that do', async (t) => {
    const waiting = someJobs([{ orderKey }, { orderKey }])
    await t.store.enqueue(waiting)
    const firsts = someJobs(repeat({ orderKey }, 3)).map((job) => ({ ...job, first: true }))
    await t.store.enqueue(firsts.slice(0, 1))
    await t.store.enqueue(firsts.slice(1))
    assert.deepEqual(await runAll(t), pluck([...firsts, ...waiting], 'id'))
  }),
  test('delayed jobs of a key run in the order of becoming due', async (t) => {
    const late = await t.enqueue({ orderKey, delay: 300 })
    const early = await t.enqueue({ orderKey, delay: 100 })
    const middle = await t.enqueue({ orderKey, delay: 200 })
    const first = await t.enqueue({ orderKey })
    t.clock.advance(300)
    const last = await t.enqueue({ orderKey })
    assert.deepEqual(await standings(t, [first, last]), ['in line', 'in line'])
    await t.store.stage(100)
    // A job that joined the order queue before the delayed ones were staged stays ahead of them.
    assert.deepEqual(await runAll(t), [first, last, early, middle, late])
  }),
  test('other keys, other queues and jobs without a key do not wait for the order lock', async (t) => {
    await t.running({ orderKey })
    const jobs = someJobs([{ orderKey: 'p' }, { orderKey, queue: 'q' }, {}, { orderKey }])
    await t.store.enqueue(jobs)
    await t.store.stage(10)
    assert.deepEqual(await standings(t, pluck(jobs, 'id')), ['ready', 'ready', 'ready', 'in line'])
  }),
  test('a job keeps its order lock between attempts and becomes ready without queueing again', async (t) => {
    const first = await t.running({ orderKey })
    const second = await t.enqueue({ orderKey })
    const ids = [first.id, second]
    await t.finish(first, later(1_000))
    await t.store.stage(10)
    assert.deepEqual(await standings(t, ids), ['scheduled', 'in line'])
    t.clock.advance(1_000)
    await t.store.stage(10)
    assert.deepEqual(await standings(t, ids), ['ready', 'in line'])
    const again = await t.claimAgain(first)
    await t.finish(again, later(0))
    await t.store.stage(10)
    assert.deepEqual(await standings(t, ids), ['ready', 'in line'])
  }),
  test('P4 P6 a job keeps its order lock when it is released, returned or reaped', async (t) => {
    const first = await t.running({ orderKey })
    const second = await t.enqueue({ orderKey })
    const isAhead = async (): Promise<void> => {
      await t.store.stage(10)
      assert.deepEqual(await standings(t, [first.id, second]), ['ready', 'in line'])
    }
    await t.finish(first, RELEASED)
    await isAhead()
    const worker = await t.worker()
    await t.claimOne(worker, { kinds: [first.kind] })
    await t.store.instances.deregister(worker)
    await isAhead()
    await t.claimAgain(first)
    await t.crash()
    await isAhead()
  }),
  test('the order lock is free when its job is done, forgotten, dead, cancelled or deleted', async (t) => {
    const end = (transition: Transition) => async () =>
      t.finish(await t.claimOne(await t.worker()), transition)
    const endings: ((id: string) => Promise<unknown>)[] = [
      ...[DONE, FORGET, DEAD, { to: 'cancelled' } as const].map(end),
      (id) => t.store.cancel([id], 'no'),
      (id) => t.store.delete([id]),
    ]
    for (const ending of endings) {
      const [first, second] = [await t.enqueue({ orderKey }), await t.enqueue({ orderKey })]
      await t.store.stage(10)
      assert.deepEqual(await standings(t, [first, second]), ['ready', 'in line'])
      await ending(first)
      assert.equal((await t.store.stage(10)).ready, 1)
      assert.deepEqual(await standings(t, [second]), ['ready'])
      await t.store.delete([second])
    }
  }),
  test('P5 the order lock is free when its job is dead because of crashes, or was cancelled when its instance was lost', async (t) => {
    for (const cancelled of [true, false]) {
      const first = await t.running({ orderKey })
      const second = await t.enqueue({ orderKey })
      if (cancelled) await t.store.cancel([first.id], 'no')
      t.clock.advance(HOUR)
      await t.store.instances.reap({ crashesUntilDead: cancelled ? 3 : 1, limit: 10 })
      await t.store.stage(10)
      assert.deepEqual(await standings(t, [first.id, second]), [cancelled ? 'cancelled' : 'dead', 'ready'])
      await t.store.delete([second])
    }
  }),
  test('a job that is cancelled or deleted leaves its order queue, and the others move up', async (t) => {
    const jobs = someJobs(repeat({ orderKey }, 3))
    const ids = pluck(jobs, 'id')
    await t.store.enqueue(jobs)
    await t.store.cancel(ids.slice(0, 1), 'no')
    await t.store.delete(ids.slice(1, 2))
    await t.store.stage(10)
    assert.deepEqual(await standings(t, ids), ['cancelled', 'gone', 'ready'])
  }),
  test('a job that holds the order lock and is cancelled or deleted between attempts frees it', async (t) => {
    for (const verb of ['cancel', 'delete'] as const) {
      const first = await t.running({ orderKey })
      const second = await t.enqueue({ orderKey })
      await t.finish(first, later(HOUR))
      await (verb === 'cancel' ? t.store.cancel([first.id], 'no') : t.store.delete([first.id]))
      await t.store.stage(10)
      assert.deepEqual(await standings(t, [second]), ['ready'], verb)
      await t.store.delete([second])
    }
  }),
  test('a retried job with an order key joins the end of its order queue', async (t) => {
    const dead = await t.jobIn('dead', { orderKey })
    const waiting = await t.enqueue({ orderKey })
    const [verdict] = await t.store.retry([dead])
    isVerdict(verdict, 'changed', 'scheduled')
    assert.deepEqual(await standings(t, [waiting, dead]), ['in line', 'in line'])
    await t.store.stage(10)
    assert.deepEqual(await standings(t, [waiting, dead]), ['ready', 'in line'])
  }),
  test('run now adds a job with an order key to its order queue, and is unchanged if it is there', async (t) => {
    await t.running({ orderKey })
    const [later, inLine] = [await t.enqueue({ orderKey, delay: HOUR }), await t.enqueue({ orderKey })]
    const [first, second] = await t.store.runNow([later, inLine])
    isVerdict(first, 'changed', 'scheduled')
    isVerdict(second, 'unchanged', 'scheduled')
    assert.deepEqual(await standings(t, [later, inLine]), ['in line', 'in line'])
    isVerdict((await t.store.runNow([later]))[0], 'unchanged', 'scheduled')
  }),
  test('run now makes a job that holds its order lock ready', async (t) => {
    const lease = await t.running({ orderKey })
    const waiting = await t.enqueue({ orderKey })
    await t.finish(lease, later(HOUR))
    isVerdict((await t.store.runNow([lease.id]))[0], 'changed', 'ready')
    assert.deepEqual(await standings(t, [lease.id, waiting]), ['ready', 'in line'])
  }),
  test('concurrent stages and claims never let two jobs of a key run', async (t) => {
    const stores = await t.handles(3)
    const keys = ['a', 'b', 'c']
    const jobs = Array.from({ length: 30 }, (_, n) => aJob({ orderKey: keys[n % 3] ?? 'a', payload: n }))
    await t.store.enqueue(jobs)
    const worker = await t.worker()
    const ran: HeldLease[] = []
    for (let round = 0; round < jobs.length && ran.length < jobs.length; round += 1) {
      await Promise.all(stores.map((each) => each.stage(10)))
      assert.ok(only(await t.store.counts()).ready <= keys.length)
      const leases = await t.claim(worker)
      assert.equal(new Set(pluck(leases, 'orderKey')).size, leases.length)
      await Promise.all(leases.map((lease) => t.finish(lease, DONE)))
      ran.push(...leases)
    }
    for (const key of keys) {
      const own = [ran, jobs].map((all) => all.filter((job) => job.orderKey === key).map(({ id }) => id))
      assert.deepEqual(own[0], own[1])
    }
  }),
]
