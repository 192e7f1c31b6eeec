/**
 * The notifier: which queue, how many jobs, and which receivers. Best effort, so each case repeats until a
 * notification is received.
 */
import assert from 'node:assert/strict'
import { DEFAULT_QUEUE_SETTINGS, type WakeUp } from 'jobmill/store'
import { aDefinition, aJob, anInstance, anAcquire, aTick, QUEUE, someJobs } from '../../factories.ts'
import { aFinish, type Bench, DEAD, DONE, HOUR, later, RELEASED } from '../bench.ts'
import { type Case, test } from '../case.ts'
import { wakeUpsAt, notifications, ROUNDS } from './notification-texts.ts'

type Leases = Awaited<ReturnType<Bench['claim']>>

/** Running jobs of the queue `quiet`. Their notifications are over, because a claim has happened since. */
async function leases({ enqueue, claim, worker }: Bench, many: number): Promise<Leases> {
  for (let n = 0; n < many; n += 1) await enqueue({ queue: 'quiet' })
  return claim(await worker({ leaseMs: HOUR }), { queues: [{ queue: 'quiet', room: 500 }] })
}

export const notificationCases: readonly Case[] = [
  test('an enqueue notifies with the number of jobs that became ready, and not for waiting ones', async (t) => {
    const { store } = t
    await notifications(store, { act: () => store.enqueue(someJobs([{}, {}, {}])) }, 3)
    const mixed = [{}, { delay: HOUR }, { orderKey: 'o' }, { queue: 'other' }, {}]
    await notifications(store, { act: () => store.enqueue(someJobs(mixed)) }, 2)
  }),
  test('stage, retry and run now notify with the number of jobs that became ready', async (t) => {
    const { store, clock, jobIn } = t
    const due = async (): Promise<void> => {
      await store.enqueue(someJobs([{ delay: 5 }, { delay: 5 }, { delay: HOUR }]))
      clock.advance(5)
    }
    await notifications(store, { prepare: due, act: () => store.stage(100) }, 2)
    const scheduled = (): Promise<string> => jobIn('scheduled', { queue: 'now' })
    await notifications(store, { prepare: scheduled, act: (id) => store.runNow([id]) }, 1, 'now')
    const dead = async (): Promise<string[]> => {
      // In a second round, the jobs of the first are here too.
      const all = await leases(t, 2)
      await store.finish(all.map((lease, n) => aFinish(lease, n < 2 ? DEAD : DONE)))
      return all.slice(0, 2).map(({ id }) => id)
    }
    await notifications(store, { prepare: dead, act: (ids) => store.retry(ids) }, 2, 'quiet')
  }),
  test('a finish notifies for the jobs it made ready: retried at once, released, and follow-ups', async (t) => {
    const { store } = t
    const prepare = (): Promise<Leases> => leases(t, 3)
    const ends = async ([first, second, third]: Leases): Promise<void> => {
      assert.ok(first && second && third)
      const followUps = [aJob(), aJob(), aJob({ delay: HOUR })]
      await store.finish([
        aFinish(first, DONE, { followUps }),
        aFinish(second, later(HOUR)),
        aFinish(third, DONE),
      ])
    }
    await notifications(store, { prepare, act: ends }, 2)
    const back = (all: Leases): Promise<unknown> =>
      store.finish(all.slice(0, 3).map((lease, n) => aFinish(lease, n === 0 ? RELEASED : later(0))))
    await notifications(store, { prepare, act: back }, 3, 'quiet')
  }),
  {
    name: 'a tick notifies for the jobs it enqueued',
    needs: ['schedules'],
    async run({ store, clock }) {
      let n = 0
      const prepare = async (): Promise<string> => {
        n += 1
        await store.schedules.create(`s${n}`, aDefinition())
        return `s${n}`
      }
      const act = (name: string): Promise<unknown> => {
        const fires = [0, 1].map((more) => ({ at: clock.now() + more, job: aJob() }))
        return store.schedules.tick([aTick(name, { fires })])
      }
      await notifications(store, { prepare, act }, 2)
    },
  },
  test('a manual notification has no number, so that every instance claims', async ({ store }) => {
    await notifications(store, { act: async () => store.notifier.notify([QUEUE]) }, null)
  }),
  {
    name: 'P13 a release of permits notifies the queues that use the limit',
    needs: ['limits'],
    async run(t) {
      const { store, worker } = t
      await store.limits.declare([{ name: 'db', settings: { type: 'concurrency', most: 50 } }])
      await store.queues.declare([{ name: 'limited', settings: { ...DEFAULT_QUEUE_SETTINGS, limit: 'db' } }])
      const instance = await worker({ leaseMs: HOUR })
      const holder = anInstance().id
      const permit = (): Promise<unknown> => store.limits.acquire([anAcquire('db', { instance, holder })])
      const back = (): Promise<unknown> => store.limits.release([{ limit: 'db', holder, token: null }])
      await notifications(store, { prepare: permit, act: back }, null, 'limited')
      const running = async (): Promise<Leases> => {
        const all = await leases(t, 1)
        await store.limits.acquire(
          all.map(({ id, token }) => anAcquire('db', { instance, holder: id, token })),
        )
        return all
      }
      const finish = (all: Leases): Promise<unknown> => store.finish(all.map((lease) => aFinish(lease, DONE)))
      await notifications(store, { prepare: running, act: finish }, null, 'limited')
      const other = async (): Promise<string> => {
        const id = await worker()
        await store.limits.acquire([anAcquire('db', { instance: id })])
        return id
      }
      await notifications(
        store,
        { prepare: other, act: (id) => store.instances.deregister(id) },
        null,
        'limited',
      )
    },
  },
  test('all receivers of one notification get the same order, and another one has another', async (t) => {
    const { store, another } = t
    const stores = [store, store, await another()]
    const turns = new Set<number>()
    for (let round = 2; round < ROUNDS && turns.size < 3; round += 1) {
      const jobs = someJobs(Array.from({ length: round }, () => ({})))
      const wakeUps = await wakeUpsAt(stores, () => store.enqueue(jobs), QUEUE)
      // If the number of jobs is unknown, every instance claims, and no order is needed.
      const matching = wakeUps.flat().filter((wakeUp) => wakeUp.jobs === round)
      if (matching.length < 2) continue
      const mine = new Set(matching.map(({ seed: turn }) => turn))
      assert.equal(mine.size, 1)
      for (const turn of mine) turns.add(turn)
    }
    assert.equal(turns.size, 3)
  }),
  test('where notifications are forwarded, other waiters get the same order and where it continues', async (t) => {
    const { store, another } = t
    const other = await another()
    for (let round = 2; round < ROUNDS; round += 1) {
      const jobs = someJobs(Array.from({ length: round }, () => ({})))
      const [wakeUps = []] = await wakeUpsAt([store], () => store.enqueue(jobs), QUEUE)
      const wakeUp = wakeUps.find((one) => one.jobs === round)
      if (wakeUp === undefined) continue
      if (!wakeUp.passes) return
      const [there = []] = await wakeUpsAt(
        [other],
        async () => store.notifier.forward({ ...wakeUp, jobs: 1, skip: round }),
        QUEUE,
      )
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
  test('forward never throws, even without waiters or on a closed store', async ({ store, unopened }) => {
    const wakeUp: WakeUp = { queue: QUEUE, jobs: 1, seed: 1, skip: 1, passes: true }
    store.notifier.forward(wakeUp)
    unopened().notifier.forward(wakeUp)
    await store.close()
    store.notifier.forward(wakeUp)
  }),
]
