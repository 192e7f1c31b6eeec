/**
 * The notifier: when a wait ends, for which queue, how many jobs and which receivers. Notifications are best
 * effort, so each case repeats until one is received.
 */
import assert from 'node:assert/strict'
import { systemPlatform, type WakeUp } from 'jobmill/store'
import {
  aDefinition,
  aFinish,
  aJob,
  anAcquire,
  aTick,
  DEAD,
  DONE,
  FORGET,
  HOUR,
  later,
  QUEUE,
  RELEASED,
  rooms,
  someJobs,
} from '../../factories.ts'
import type { Bench, HeldLease } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { acquireFor, permits, setUpLimitedQueues } from '../limits/limit-helpers.ts'
import { pluck, repeat } from '../looks.ts'
import { notifies, ROUNDS, wakeUpsAt } from './notification-texts.ts'

/** Running jobs of the queue `quiet`. Their notifications are over, because a claim has happened since. */
async function leases(t: Bench, many: number): Promise<HeldLease[]> {
  await t.store.enqueue(someJobs(repeat({ queue: 'quiet' }, many)))
  return t.claim(await t.worker({ leaseMs: HOUR }), { queues: rooms({ quiet: 500 }) })
}

export const notificationCases: readonly Case[] = [
  test('a notification wakes waiters for that queue', async (t) => {
    const waits = t.store.notifier.wait({ queues: ['a', QUEUE], timeoutMs: 15_000 })
    t.store.notifier.notify([QUEUE])
    assert.deepEqual(pluck(await waits, 'queue', 'jobs'), [[QUEUE, null]])
  }),
  test('a new job and a notification through another handle wake waiters', async (t) => {
    const other = await t.another()
    const waits = t.store.notifier.wait({ queues: [QUEUE], timeoutMs: 15_000 })
    let isWoken = false
    // Best effort: the waiter may not be listening yet, so notify until it is.
    const again = async (): Promise<void> => {
      if (isWoken) return
      await other.enqueue([aJob()])
      other.notifier.notify([QUEUE])
      await new Promise<void>((resolve) => void systemPlatform.timer(50, resolve))
      await again()
    }
    const notifications = again()
    assert.deepEqual(new Set((await waits).map(({ queue }) => queue)), new Set([QUEUE]))
    isWoken = true
    await notifications
  }),
  test('a wait ends with its timeout, and with its signal', async (t) => {
    assert.deepEqual(await t.store.notifier.wait({ queues: ['quiet'], timeoutMs: 1 }), [])
    const controller = new AbortController()
    const waits = t.store.notifier.wait({ queues: ['quiet'], timeoutMs: 15_000, signal: controller.signal })
    controller.abort()
    assert.deepEqual(await waits, [])
    const ended = { queues: ['quiet'], timeoutMs: 15_000, signal: controller.signal }
    assert.deepEqual(await t.store.notifier.wait(ended), [])
  }),
  test('P16 closing a store ends the waits on it', async (t) => {
    // The result does not matter, as long as there is one: otherwise the test would time out.
    const waits = t.store.notifier.wait({ queues: ['quiet'], timeoutMs: 60_000 }).catch(() => [])
    await t.store.close()
    assert.ok(Array.isArray(await waits))
  }),
  test('notify never throws, even without waiters or on a closed store', async (t) => {
    t.store.notifier.notify(['unused'])
    t.store.notifier.notify([])
    t.unopened().notifier.notify(['a'])
    await t.store.close()
    t.store.notifier.notify(['a'])
  }),
  test('an enqueue notifies with the number of jobs that became ready, and not for waiting ones', async (t) => {
    await notifies(t.store, 3, { act: () => t.store.enqueue(someJobs([{}, {}, {}])) })
    const mixed = [{}, { delay: HOUR }, { orderKey: 'o' }, { queue: 'other' }, {}]
    await notifies(t.store, 2, { act: () => t.store.enqueue(someJobs(mixed)) })
  }),
  test('stage, retry and run now notify with the number of jobs that became ready', async (t) => {
    await notifies(t.store, 2, {
      async prepare() {
        await t.store.enqueue(someJobs([{ delay: 5 }, { delay: 5 }, { delay: HOUR }]))
        t.clock.advance(5)
      },
      act: () => t.store.stage(100),
    })
    await notifies(t.store, 1, {
      queue: 'now',
      prepare: () => t.jobIn('scheduled', { queue: 'now' }),
      act: (id) => t.store.runNow([id]),
    })
    await notifies(t.store, 2, {
      queue: 'quiet',
      async prepare() {
        // In a second round, the jobs of the first are here too.
        const all = await leases(t, 2)
        await t.store.finish(all.map((lease, n) => aFinish(lease, n < 2 ? DEAD : DONE)))
        return pluck(all.slice(0, 2), 'id')
      },
      act: (ids) => t.store.retry(ids),
    })
  }),
  test('a finish notifies for the jobs it made ready: retried at once, released, and follow-ups', async (t) => {
    const prepare = (): ReturnType<typeof leases> => leases(t, 3)
    for (const done of [DONE, FORGET])
      await notifies(t.store, 2, {
        prepare,
        act([first, second, third]) {
          assert.ok(first && second && third)
          const followUps = [aJob(), aJob(), aJob({ delay: HOUR })]
          const others = [aFinish(second, later(HOUR)), aFinish(third, DONE)]
          return t.store.finish([aFinish(first, done, { followUps }), ...others])
        },
      })
    await notifies(t.store, 3, {
      queue: 'quiet',
      prepare,
      act: (all) =>
        t.store.finish(all.slice(0, 3).map((lease, n) => aFinish(lease, n === 0 ? RELEASED : later(0)))),
    })
  }),
  {
    name: 'a tick notifies for the jobs it enqueued',
    needs: ['schedules'],
    async run(t) {
      let n = 0
      await notifies(t.store, 2, {
        prepare: () => t.store.schedules.create(`s${(n += 1)}`, aDefinition()),
        act({ name }) {
          const fires = [0, 1].map((more) => ({ at: t.clock.now() + more, job: aJob() }))
          return t.store.schedules.tick([aTick(name, { fires })])
        },
      })
    },
  },
  test('a manual notification has no number, so that every instance claims', async (t) => {
    await notifies(t.store, null, { act: async () => t.store.notifier.notify([QUEUE]) })
  }),
  {
    name: 'P13 a release of permits notifies the queues that use the limit',
    needs: ['limits'],
    async run(t) {
      const instance = await setUpLimitedQueues(t, permits(50), { queues: ['limited'], jobs: 0 })
      const { holder } = anAcquire('api')
      await notifies(t.store, null, {
        queue: 'limited',
        prepare: () => t.store.limits.acquire([anAcquire('api', { instance, holder })]),
        act: () => t.store.limits.release([{ limit: 'api', holder, token: null }]),
      })
      for (const transition of [DONE, FORGET])
        await notifies(t.store, null, {
          queue: 'limited',
          async prepare() {
            const all = await leases(t, 1)
            await t.store.limits.acquire(all.map((lease) => acquireFor(lease)))
            return all
          },
          act: (all) => t.store.finish(all.map((lease) => aFinish(lease, transition))),
        })
      await notifies(t.store, null, {
        queue: 'limited',
        async prepare() {
          const id = await t.worker()
          await t.store.limits.acquire([anAcquire('api', { instance: id })])
          return id
        },
        act: (id) => t.store.instances.deregister(id),
      })
    },
  },
  test('all receivers of one notification get the same order, and another one has another', async (t) => {
    const stores = [t.store, t.store, await t.another()]
    const seeds = new Set<number>()
    for (let round = 2; round < ROUNDS && seeds.size < 3; round += 1) {
      const jobs = someJobs(repeat({}, round))
      const wakeUps = await wakeUpsAt(stores, () => t.store.enqueue(jobs), QUEUE)
      // If the number of jobs is unknown, every instance claims, and no order is needed.
      const matching = wakeUps.flat().filter((wakeUp) => wakeUp.jobs === round)
      if (matching.length < 2) continue
      const [seed = 0, ...others] = new Set(pluck(matching, 'seed'))
      assert.deepEqual(others, [])
      seeds.add(seed)
    }
    assert.equal(seeds.size, 3)
  }),
  test('where notifications are forwarded, other waiters get the same order and where it continues', async (t) => {
    const other = await t.another()
    for (let round = 2; round < ROUNDS; round += 1) {
      const jobs = someJobs(repeat({}, round))
      const [wakeUps = []] = await wakeUpsAt([t.store], () => t.store.enqueue(jobs), QUEUE)
      const wakeUp = wakeUps.find((one) => one.jobs === round)
      if (wakeUp === undefined) continue
      if (!wakeUp.passes) return
      const forward = async (): Promise<void> => t.store.notifier.forward({ ...wakeUp, jobs: 1, skip: round })
      const [there = []] = await wakeUpsAt([other], forward, QUEUE)
      const isPassed = ({ skip }: WakeUp): boolean => skip === round
      // It may first receive notifications from before it waited.
      if (!there.some(isPassed))
        there.push(...(await other.notifier.wait({ queues: [QUEUE], timeoutMs: 500 })))
      const forwarded = there.find(isPassed)
      if (forwarded === undefined) continue
      assert.deepEqual([forwarded.jobs, forwarded.seed], [1, wakeUp.seed])
      return
    }
    assert.fail('a forwarded notification was never received')
  }),
  test('forward never throws, even without waiters or on a closed store', async (t) => {
    const wakeUp: WakeUp = { queue: QUEUE, jobs: 1, seed: 1, skip: 1, passes: true }
    for (const store of [t.store, t.unopened()]) store.notifier.forward(wakeUp)
    await t.store.close()
    t.store.notifier.forward(wakeUp)
  }),
]
