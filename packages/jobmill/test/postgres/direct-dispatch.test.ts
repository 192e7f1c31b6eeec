/** Direct dispatch concurrent with everything else that touches the same jobs. */
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { freshSchema } from '../../../../test/support/databases.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../src/job/queue/queue-settings.ts'
import { postgres } from '../../src/postgres.ts'
import type { NewJob } from '../../src/job/enqueue/new-job.ts'
import type { DirectDispatchOffer, Lease } from '../../src/store/types/claim.ts'
import type { FullStore } from '../../src/store/store.ts'
import { aClaim, aJob, anInstance, someJobs } from '../../../conformance/src/factories.ts'

const url = inject('postgresUrl')
const schema = freshSchema(url, 'handing')
const me = anInstance({ leaseMs: 3_600_000 })
const stores: readonly FullStore[] = Array.from({ length: 3 }, () =>
  postgres(url, { schema, notifier: false }),
)
const [store, second, third] = stores as [FullStore, FullStore, FullStore]

beforeAll(async () => {
  await store.open()
  await Promise.all(stores.map((one) => one.open()))
  await store.instances.register(me)
})
afterAll(() => Promise.all(stores.map((one) => one.close())))

function jobsOf(count: number, queue: string): NewJob[] {
  return someJobs(Array.from({ length: count }, () => ({ queue })))
}

function roomIn(queue: string, room: number): DirectDispatchOffer {
  return { instance: me.id, queues: [{ queue, room }], kinds: ['work'] }
}

function claimFrom(queue: string): ReturnType<typeof aClaim> {
  return aClaim(me.id, { queues: [{ queue, room: 500 }] })
}

function leasesOf(replies: readonly { readonly lease?: Lease }[]): Lease[] {
  return replies.flatMap(({ lease }) => lease ?? [])
}

describe('postgres: direct dispatch concurrent with', () => {
  test('P2 other enqueues and claims: every job is leased once', async () => {
    const leased: string[] = []
    const sent: string[] = []
    for (let round = 0; round < 20; round += 1) {
      const calls = [store, second].map((one) => ({ one, jobs: jobsOf(8, 'race') }))
      sent.push(...calls.flatMap(({ jobs }) => jobs.map(({ id }) => id)))
      const [claimed, ...handed] = await Promise.all([
        third.claim(claimFrom('race')),
        ...calls.map(({ one, jobs }) => one.enqueue(jobs, { directDispatch: roomIn('race', 5) })),
      ])
      leased.push(...[...claimed, ...handed.flatMap(leasesOf)].map(({ id }) => id))
    }
    leased.push(...(await store.claim(claimFrom('race'))).map(({ id }) => id))
    expect(leased.toSorted()).toEqual(sent.toSorted())
    expect((await store.counts()).find(({ queue }) => queue === 'race')).toMatchObject({
      running: sent.length,
    })
  }, 30_000)

  test.each([
    ['one job', [0]],
    ['jobs in a batch', Array.from({ length: 30 }, () => 0)],
    ['jobs with a row each', Array.from({ length: 8 }, () => 0)],
    ['jobs of several priorities', [0, 1, 2, 3, 4, 5]],
  ] as const)('P2 a claim: %s that are leased at their enqueue are not claimed', async (what, priorities) => {
    const queue = `born-${what.replaceAll(' ', '-')}`
    const jobs = someJobs(priorities.map((priority) => ({ queue, priority })))
    const room = Math.ceil(jobs.length * 0.7)
    const dispatched = leasesOf(await store.enqueue(jobs, { directDispatch: roomIn(queue, room) }))
    expect(dispatched).toHaveLength(room)
    const claimed = await second.claim(claimFrom(queue))
    expect([...dispatched, ...claimed].map(({ id }) => id)).toEqual(jobs.map(({ id }) => id))
  })

  test('P7 a pause: leased jobs are held, and after the pause no job is leased', async () => {
    await store.queues.declare([{ name: 'pausing', settings: DEFAULT_QUEUE_SETTINGS }])
    for (const paused of [true, false, true]) {
      const [, replies] = await Promise.all([
        second.queues.change('pausing', { settings: { paused }, coolMs: null }),
        store.enqueue(jobsOf(3, 'pausing'), { directDispatch: roomIn('pausing', 3) }),
      ])
      const held = new Set((await store.instances.held(me.id)).map(({ id }) => id))
      for (const { id } of leasesOf(replies)) expect(held.has(id)).toBe(true)
    }
    const after = await store.enqueue([aJob({ queue: 'pausing' })], { directDispatch: roomIn('pausing', 3) })
    expect(leasesOf(after)).toEqual([])
  })

  test('P4 the end of the instance: jobs in flight are returned to the queue', async () => {
    const leaving = anInstance({ leaseMs: 3_600_000 })
    await store.instances.register(leaving)
    const directDispatch = { ...roomIn('leaving', 10), instance: leaving.id }
    const jobs = jobsOf(10, 'leaving')
    await Promise.all([second.instances.deregister(leaving.id), store.enqueue(jobs, { directDispatch })])
    await store.instances.reap({ crashesUntilDead: 3, limit: 10 })
    expect(await store.instances.held(leaving.id)).toEqual([])
    expect(await store.claim(claimFrom('leaving'))).toHaveLength(10)
  })

  test('P11 a repeated id: only new jobs are dispatched', async () => {
    const [known, fresh] = someJobs([{ queue: 'known' }, { queue: 'known' }])
    if (known === undefined || fresh === undefined) throw new Error('two requests make two jobs')
    const first = await store.enqueue([known], { directDispatch: roomIn('known', 1) })
    expect(leasesOf(first)).toHaveLength(1)
    const again = await store.enqueue([known, fresh], { directDispatch: roomIn('known', 1) })
    expect(leasesOf(again).map(({ id }) => id)).toEqual([fresh.id])
  })
})
