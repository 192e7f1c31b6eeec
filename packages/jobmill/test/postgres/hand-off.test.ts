/**
 * Direct dispatch concurrent with everything else that touches the same jobs, and functions concurrent with
 * the statements of the previous release.
 */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { freshSchema } from '../../../../test/support/databases.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../src/job/queue/queue-settings.ts'
import { postgres } from '../../src/postgres.ts'
import type { NewJob } from '../../src/job/new-job.ts'
import type { HandOff, Lease } from '../../src/store/types/claim.ts'
import type { Finish } from '../../src/store/types/finish.ts'
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

function roomIn(queue: string, room: number): HandOff {
  return { instance: me.id, queues: [{ queue, room }], kinds: ['work'] }
}

function claimFrom(queue: string): ReturnType<typeof aClaim> {
  return aClaim(me.id, { queues: [{ queue, room: 500 }] })
}

function done({ id, token }: Lease): Finish {
  return { id, token, outcome: 'returned', transition: { to: 'done', result: '1' } }
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
        ...calls.map(({ one, jobs }) => one.enqueue(jobs, { handOff: roomIn('race', 5) })),
      ])
      leased.push(...[...claimed, ...handed.flatMap(leasesOf)].map(({ id }) => id))
    }
    leased.push(...(await store.claim(claimFrom('race'))).map(({ id }) => id))
    expect(leased.toSorted()).toEqual(sent.toSorted())
    expect((await store.counts()).find(({ queue }) => queue === 'race')).toMatchObject({
      running: sent.length,
    })
  }, 30_000)

  test('P7 a pause: leased jobs are held, and after the pause no job is leased', async () => {
    await store.queues.declare([{ name: 'pausing', settings: DEFAULT_QUEUE_SETTINGS }])
    for (const paused of [true, false, true]) {
      const [, replies] = await Promise.all([
        second.queues.change('pausing', { settings: { paused }, coolMs: null }),
        store.enqueue(jobsOf(3, 'pausing'), { handOff: roomIn('pausing', 3) }),
      ])
      const held = new Set((await store.instances.held(me.id)).map(({ id }) => id))
      for (const { id } of leasesOf(replies)) expect(held.has(id)).toBe(true)
    }
    const after = await store.enqueue([aJob({ queue: 'pausing' })], { handOff: roomIn('pausing', 3) })
    expect(leasesOf(after)).toEqual([])
  })

  test('P4 the end of the instance: jobs in flight are returned to the queue', async () => {
    const leaving = anInstance({ leaseMs: 3_600_000 })
    await store.instances.register(leaving)
    const handOff = { ...roomIn('leaving', 10), instance: leaving.id }
    const jobs = jobsOf(10, 'leaving')
    await Promise.all([second.instances.deregister(leaving.id), store.enqueue(jobs, { handOff })])
    await store.instances.reap({ crashesUntilDead: 3, limit: 10 })
    expect(await store.instances.held(leaving.id)).toEqual([])
    expect(await store.claim(claimFrom('leaving'))).toHaveLength(10)
  })

  test('P11 a repeated id: only new jobs are dispatched', async () => {
    const [known, fresh] = someJobs([{ queue: 'known' }, { queue: 'known' }])
    if (known === undefined || fresh === undefined) throw new Error('two requests make two jobs')
    const first = await store.enqueue([known], { handOff: roomIn('known', 1) })
    expect(leasesOf(first)).toHaveLength(1)
    const again = await store.enqueue([known, fresh], { handOff: roomIn('known', 1) })
    expect(leasesOf(again).map(({ id }) => id)).toEqual([fresh.id])
  })
})

/**
 * The statements of the previous release run through a transaction of the user, and through a handle that
 * knows a limit.
 */
async function before<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query('BEGIN')
    const result = await work(client)
    await client.query('COMMIT')
    return result
  } finally {
    await client.end()
  }
}

describe('postgres: functions together with the statements of the previous release', () => {
  test('P2 P3 jobs that one enqueues, claims or dispatches, the other claims and ends', async () => {
    const earlier = postgres(url, { schema, notifier: false })
    await earlier.open()
    onTestFinished(() => earlier.close())
    await earlier.limits.declare([{ name: 'l', settings: { type: 'concurrency', most: 1 } }])
    await earlier.queues.declare([{ name: 'limited', settings: { ...DEFAULT_QUEUE_SETTINGS, limit: 'l' } }])
    await earlier.claim(claimFrom('limited'))

    const [one, two, three] = jobsOf(3, 'mixed') as [NewJob, NewJob, NewJob]
    await before((tx) => store.enqueue([one], { tx }))
    const byFunction = await store.claim(claimFrom('mixed'))
    expect(await before((tx) => store.finish(byFunction.map(done), { tx }))).toMatchObject([
      { accepted: true },
    ])
    await store.enqueue([two])
    const byStatement = await earlier.claim(claimFrom('mixed'))
    expect(await store.finish(byStatement.map(done))).toMatchObject([{ accepted: true, state: 'done' }])
    const dispatched = leasesOf(await store.enqueue([three], { handOff: roomIn('mixed', 1) }))
    expect(dispatched[0]?.token).toBeGreaterThan(byStatement[0]?.token ?? 0)
    expect(await before((tx) => store.finish(dispatched.map(done), { tx }))).toMatchObject([
      { accepted: true },
    ])
    for (const lease of [...byFunction, ...byStatement, ...dispatched]) {
      expect(await store.history(lease.id)).toHaveLength(1)
      expect(await store.finish([done(lease)])).toMatchObject([{ accepted: true, state: 'done' }])
    }
    expect((await store.counts()).find(({ queue }) => queue === 'mixed')).toMatchObject({
      running: 0,
      done: 3,
    })
  })
})
