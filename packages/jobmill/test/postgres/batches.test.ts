/** Batches: the jobs of a large claim run without a row each, and get one when a statement needs it. */
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, onTestFinished, test } from 'vitest'
import { freshSchema } from '../../../../test/support/databases.ts'
import { defineJob, type JobContext, jobmill } from '../../src/index.ts'
import { postgres } from '../../src/postgres.ts'
import type { Lease } from '../../src/store/types/claim.ts'
import type { Finish, Transition } from '../../src/store/types/finish.ts'
import type { FullStore } from '../../src/store/store.ts'
import { aClaim, aJob, anInstance, aRetain, someJobs } from '../../../conformance/src/factories.ts'

const url = inject('postgresUrl')
const schema = freshSchema(url, 'batches')
const client = new pg.Client({ connectionString: url })
let store: FullStore

beforeAll(() => client.connect())
afterAll(() => client.end())
beforeEach(async () => {
  store = postgres(url, { schema, notifier: false })
  await store.open()
})

const SIZE = 30

async function opened(): Promise<FullStore> {
  const other = postgres(url, { schema, notifier: false })
  await other.open()
  onTestFinished(() => other.close())
  return other
}

/** Claims new jobs at once, and checks that they are in a batch. */
async function claimed(queue: string): Promise<{ leases: Lease[]; instance: string }> {
  onTestFinished(() => store.close())
  const me = anInstance({ leaseMs: 3_600_000 })
  await store.instances.register(me)
  await store.enqueue(someJobs(Array.from({ length: SIZE }, () => ({ queue }))))
  const leases = await store.claim(aClaim(me.id, { queues: [{ queue, room: 500 }] }))
  expect(leases).toHaveLength(SIZE)
  expect(await rowsOf(leases)).toEqual({ running: 0, batches: 1 })
  return { leases, instance: me.id }
}

/** How many of these jobs have a row in `running`, and the number of batches of the claim. */
async function rowsOf(leases: readonly Lease[]): Promise<{ running: number; batches: number }> {
  const { rows } = await client.query<{ running: number; batches: number }>(
    `SELECT (SELECT count(*) FROM ${schema}.running WHERE id = ANY ($1))::int4 AS running,
            (SELECT count(*) FROM ${schema}.batch WHERE token = $2)::int4 AS batches`,
    [leases.map(({ id }) => id), leases[0]?.token],
  )
  return rows[0] ?? { running: -1, batches: -1 }
}

const DONE: Transition = { to: 'done', result: '1' }
function finish({ id, token }: Lease, transition: Transition = DONE): Finish {
  return { id, token, outcome: transition.to === 'done' ? 'returned' : 'failed', transition }
}
const finishAll = (leases: readonly Lease[]) => leases.map((lease) => finish(lease))
const FORGOTTEN: Transition = { to: 'done', result: null, forget: true }

const back = (leases: readonly Lease[]): Finish[] =>
  leases.map(({ id, token }) => ({ id, token, outcome: null, transition: { to: 'ready' } }))

async function statesOf(leases: readonly Lease[]): Promise<string[]> {
  return (await store.get(leases.map(({ id }) => id))).map((job) => job?.state ?? 'gone')
}

describe('postgres: batches', () => {
  test('a claim of many new jobs writes one row, and the finish of the last job deletes it', async () => {
    const { leases, instance } = await claimed('whole')
    expect(new Set(await statesOf(leases))).toEqual(new Set(['running']))
    expect((await store.instances.held(instance)).map(({ id }) => id)).toEqual(
      leases.map(({ id }) => id).toSorted(),
    )
    await store.finish(finishAll(leases.slice(0, 7)))
    expect(await store.instances.held(instance)).toHaveLength(SIZE - 7)
    await store.finish(finishAll(leases.slice(7)))
    expect(await rowsOf(leases)).toEqual({ running: 0, batches: 0 })
    expect(new Set(await statesOf(leases))).toEqual(new Set(['done']))
  })

  test('jobs that are not retained leave their batch', async () => {
    const { leases } = await claimed('forgotten')
    const half = leases.slice(0, 15).map((lease) => finish(lease, FORGOTTEN))
    await store.finish(half)
    expect((await store.finish(half)).map(({ accepted }) => accepted)).toEqual(half.map(() => true))
    await store.finish(leases.slice(15).map((lease) => finish(lease, FORGOTTEN)))
    expect(await rowsOf(leases)).toEqual({ running: 0, batches: 0 })
    expect(new Set(await statesOf(leases))).toEqual(new Set(['gone']))
  })

  test('P2 a finish that is sent again changes nothing, and one under the token of another claim is refused', async () => {
    const { leases } = await claimed('again')
    const [first, second] = leases as [Lease, Lease]
    const { leases: others } = await claimed('others')
    await store.finish([finish(first)])
    const reply = async (one: Lease): Promise<unknown> => {
      const [{ accepted, again = false } = { accepted: null }] = await store.finish([finish(one)])
      return [accepted, again]
    }
    expect(await reply(first)).toEqual([true, true])
    expect(await reply({ ...second, token: others[0]?.token ?? 0 })).toEqual([false, false])
    expect(await reply(second)).toEqual([true, false])
    expect(await store.history(first.id)).toHaveLength(1)
  })

  test.each([
    ['done', DONE],
    ['forgotten', FORGOTTEN],
  ])('P2 a call with jobs of two batches, to be %s, ends each only under its own token', async (how, to) => {
    const { leases: mine } = await claimed(`own-${how}`)
    const { leases: others } = await claimed(`other-${how}`)
    const [first, second] = others as [Lease, Lease]
    const wrong = { ...first, token: mine[0]?.token ?? 0 }
    const replies = await store.finish([...mine, wrong, second].map((lease) => finish(lease, to)))
    expect(replies.map(({ accepted }) => accepted)).toEqual([...mine.map(() => true), false, true])
    expect(await statesOf([first])).toEqual(['running'])
  })

  test('P3 returned jobs of a batch are found, although later jobs were claimed since', async () => {
    onTestFinished(() => store.close())
    const other = await opened()
    const me = anInstance({ leaseMs: 3_600_000 })
    await store.instances.register(me)
    await store.enqueue(someJobs(Array.from({ length: 180 }, () => ({ queue: 'below' }))))
    const claim = (from: FullStore, room: number) =>
      from.claim(aClaim(me.id, { queues: [{ queue: 'below', room }] }))
    // Claims of 50 jobs or more move the shared cursor.
    const first = await claim(store, 60)
    await claim(other, 60)
    await store.finish(back(first.slice(0, 5)))
    const rest = (await claim(other, 500)).map(({ id }) => id)
    expect(rest).toHaveLength(65)
    expect(rest.slice(0, 5)).toEqual(first.slice(0, 5).map(({ id }) => id))
  })

  test('P6 the jobs of an instance that stops return to their queue, except those that have ended', async () => {
    const { leases, instance } = await claimed('stopped')
    await store.finish(finishAll(leases.slice(0, 10)))
    expect(await store.instances.deregister(instance)).toBe(SIZE - 10)
    expect(await statesOf(leases)).toEqual(leases.map((_, at) => (at < 10 ? 'done' : 'ready')))
    expect(await rowsOf(leases)).toEqual({ running: 0, batches: 0 })
  })

  test('P2 a job that left its batch and was claimed again is not ended by a finish under its old token', async () => {
    const { leases, instance } = await claimed('returned')
    const [first] = leases as [Lease]
    await store.finish([{ id: first.id, token: first.token, outcome: null, transition: { to: 'ready' } }])
    const [again] = await store.claim(aClaim(instance, { queues: [{ queue: 'returned', room: 1 }] }))
    expect(again?.id).toBe(first.id)
    const replies = await store.finish(finishAll(leases))
    expect(replies.filter(({ accepted }) => !accepted).map(({ id }) => id)).toEqual([first.id])
    expect(await statesOf([first])).toEqual(['running'])
  })

  test('P6 a failed job is retried, a cancelled one is cancelled, and progress is stored', async () => {
    const { leases } = await claimed('each')
    const [failed, cancelled, noted] = leases as [Lease, Lease, Lease]
    // Another process has no memory of the batch.
    const other = await opened()
    await other.finish([finish(failed, { to: 'scheduled', delayMs: 60_000, refund: false })])
    expect(await other.cancel([cancelled.id], 'why')).toMatchObject([
      { verdict: 'changed', state: 'running' },
    ])
    expect(await other.progress([{ id: noted.id, token: noted.token, value: '5' }])).toEqual([true])
    expect(await rowsOf(leases)).toEqual({ running: 2, batches: 1 })
    await store.finish(finishAll(leases.slice(2)))
    await store.finish([finish(cancelled, { to: 'scheduled', delayMs: 0, refund: false })])
    expect(await statesOf(leases.slice(0, 3))).toEqual(['scheduled', 'cancelled', 'done'])
  })

  test('P3 a batch stays until its last job has left, however the others left', async () => {
    const { leases, instance } = await claimed('last')
    const last = leases.slice(-2)
    await store.finish(
      leases.slice(0, 2).map((lease) => finish(lease, { to: 'scheduled', delayMs: 60_000, refund: false })),
    )
    await store.finish(finishAll(leases.slice(2, -2)))
    const other = await opened()
    expect(
      await other.progress(leases.slice(3, 4).map(({ id, token }) => ({ id, token, value: '1' }))),
    ).toEqual([false])
    expect((await store.instances.held(instance)).map(({ id }) => id)).toEqual(last.map(({ id }) => id))
    await store.finish(finishAll(last))
    expect(await rowsOf(leases)).toEqual({ running: 0, batches: 0 })
  })

  test.each(['forgotten', 'deleted'])(
    'P3 a job that was %s and enqueued again under its id is another job',
    async (how) => {
      const { leases, instance } = await claimed(`again ${how}`.replace(' ', '-'))
      const [first] = leases as [Lease]
      await store.finish([finish(first, how === 'forgotten' ? FORGOTTEN : DONE)])
      await store.delete([first.id])
      await store.enqueue([{ ...aJob({ queue: 'elsewhere' }), id: first.id }])
      expect(await statesOf([first])).toEqual(['ready'])
      expect((await store.finish([finish(first)])).map(({ accepted }) => accepted)).toEqual([false])
      await store.instances.deregister(instance)
      expect(await statesOf([first])).toEqual(['ready'])
    },
  )

  test('P5 the jobs of a lost instance return to their queue, except those that have ended', async () => {
    const { leases, instance } = await claimed('lost')
    await store.finish(finishAll(leases.slice(0, 10)))
    await client.query(`UPDATE ${schema}.instance SET expires_at = 0 WHERE id = $1`, [instance])
    const { jobs } = await store.instances.reap({ crashesUntilDead: 3, limit: 100 })
    expect(jobs.map(({ id }) => id)).toEqual(
      leases
        .slice(10)
        .map(({ id }) => id)
        .toSorted(),
    )
    expect(await rowsOf(leases)).toEqual({ running: 0, batches: 0 })
    expect((await store.finish(finishAll(leases.slice(10)))).some(({ accepted }) => accepted)).toBe(false)
  })

  // A claim that waits for a lock also takes jobs that were enqueued after it began.
  test('P3 jobs that are newer than their claim by the clock of the database are not lost', async () => {
    const ahead = postgres(url, { schema, notifier: false, clock: () => Date.now() + 60_000 })
    await ahead.open()
    onTestFinished(() => ahead.close())
    onTestFinished(() => store.close())
    const me = anInstance({ leaseMs: 3_600_000 })
    await store.instances.register(me)
    await ahead.enqueue(someJobs(Array.from({ length: SIZE }, () => ({ queue: 'newer' }))))
    const leases = await store.claim(aClaim(me.id, { queues: [{ queue: 'newer', room: 500 }] }))
    expect(await rowsOf(leases)).toEqual({ running: 0, batches: 1 })
    expect(await store.instances.held(me.id)).toHaveLength(SIZE)
    expect(await store.finish(back(leases.slice(0, 2)))).toMatchObject([
      { accepted: true },
      { accepted: true },
    ])
    await store.finish(finishAll(leases.slice(2, 10)))
    await client.query(`UPDATE ${schema}.instance SET expires_at = 0 WHERE id = $1`, [me.id])
    await store.instances.reap({ crashesUntilDead: 3, limit: 100 })
    const states = await statesOf(leases)
    expect(states).toEqual(leases.map((_, at) => (at >= 2 && at < 10 ? 'done' : 'ready')))
  })

  test('P1 P2 an id that is used again while its batch exists is a new job outside the batch', async () => {
    const { leases, instance } = await claimed('used-again')
    const [old, ...others] = leases as [Lease, ...Lease[]]
    await store.finish([finish(old)])
    // Unlike a delete, retention does not write to the batch.
    await store.queues.change('used-again', { settings: { retainDoneMs: 0 }, coolMs: null })
    expect(await store.retain(aRetain())).toMatchObject({ done: 1 })
    await store.enqueue([aJob({ id: old.id, queue: 'used-again' })], { mayRepeat: true })
    expect((await store.finish([finish(old)])).map(({ accepted }) => accepted)).toEqual([false])
    expect(await statesOf([old])).toEqual(['ready'])
    await client.query(`UPDATE ${schema}.instance SET expires_at = 0 WHERE id = $1`, [instance])
    const { jobs } = await store.instances.reap({ crashesUntilDead: 3, limit: 100 })
    expect(jobs.map(({ id }) => id)).toEqual(others.map(({ id }) => id).toSorted())
    expect(await rowsOf(leases)).toEqual({ running: 0, batches: 0 })
    expect(await statesOf([old])).toEqual(['ready'])
  })

  test('P10 a transaction of the user ends a job of a batch, and locks none of the others', async () => {
    const { leases } = await claimed('tx')
    const [mine, ...others] = leases as [Lease, ...Lease[]]
    const tx = new pg.Client({ connectionString: url })
    await tx.connect()
    onTestFinished(() => tx.end())
    await tx.query('BEGIN')
    expect(await store.finish([finish(mine)], { tx })).toMatchObject([{ accepted: true }])
    await store.finish(finishAll(others.slice(1)))
    await store.progress([{ id: others[0]?.id ?? '', token: mine.token, value: '1' }])
    await tx.query('COMMIT')
    expect(await statesOf([mine])).toEqual(['done'])
    // From now on, its claims write a row each.
    await store.enqueue(someJobs(Array.from({ length: SIZE }, () => ({ queue: 'tx' }))))
    const { rows } = await client.query<{ id: string }>(
      `SELECT instance AS id FROM ${schema}.running WHERE id = $1`,
      [others[0]?.id],
    )
    const more = await store.claim(aClaim(rows[0]?.id ?? '', { queues: [{ queue: 'tx', room: 500 }] }))
    expect(await rowsOf(more)).toEqual({ running: SIZE, batches: 0 })
  })

  test('P10 a transaction with an older snapshot is asked to run again', async () => {
    const { leases } = await claimed('snapshot')
    const tx = new pg.Client({ connectionString: url })
    await tx.connect()
    onTestFinished(() => tx.end())
    await tx.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
    await tx.query('SELECT 1')
    const [mine] = leases as [Lease]
    await expect(store.finish([finish(mine)], { tx })).rejects.toMatchObject({
      code: 'TX_STALE',
      message: expect.stringContaining('Roll back and run the transaction again') as string,
    })
    await tx.query('ROLLBACK')
    await tx.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
    expect(await store.finish([finish(mine)], { tx })).toMatchObject([{ accepted: true }])
    await tx.query('COMMIT')
  })

  test('P10 handlers whose transactions are too early spend no attempt, and their jobs are done', async () => {
    const pool = new pg.Pool({ connectionString: url, max: 5 })
    onTestFinished(async () => void (await Promise.all([pool.end(), store.close()])))
    const all = Promise.withResolvers<void>()
    const first = Promise.withResolvers<void>()
    let begun = 0
    const job = defineJob({
      kind: 'early',
      queue: 'early',
      maxAttempts: 1,
      async run({ complete, payload }: JobContext<number>) {
        const tx = await pool.connect()
        try {
          await tx.query(`BEGIN ISOLATION LEVEL ${payload === 0 ? 'READ COMMITTED' : 'REPEATABLE READ'}`)
          await tx.query('SELECT 1')
          // The first transactions begin before any job has a row of its own, and end after one job is done.
          begun += 1
          if (begun === 5) all.resolve()
          await all.promise
          if (payload !== 0) await first.promise
          await complete(tx, 'kept').catch((error: unknown) => {
            // The last handler fails for a reason of its own.
            throw payload === 4 ? new Error('declined') : new Error('in a transaction', { cause: error })
          })
          await tx.query('COMMIT')
        } finally {
          await tx.query('ROLLBACK')
          tx.release()
        }
      },
    })
    const mill = jobmill({
      store: postgres(url, { schema, notifier: false, batchFrom: 5 }),
      jobs: [job],
      queues: { early: { workers: 5 } },
    })
    const jobs = await mill.enqueueMany(
      job,
      Array.from({ length: 5 }, (_, payload) => ({ payload })),
    )
    mill.on('finished', ({ id }) => {
      if (id === jobs[0]?.id) first.resolve()
    })
    await mill.start()
    onTestFinished(async () => void (await mill.stop()))
    const results = await Promise.allSettled(
      jobs.map(({ id }) => mill.job(job, id).result({ timeout: '20s' })),
    )
    expect(results.map((one) => (one.status === 'fulfilled' ? one.value : 'dead'))).toEqual([
      'kept',
      'kept',
      'kept',
      'kept',
      'dead',
    ])
    const attempts = await Promise.all(jobs.map(({ id }) => mill.history(id)))
    expect(attempts.map((of) => of.map(({ outcome, attempt }) => [outcome, attempt]))).toEqual(
      jobs.map((_, n) => [...(n === 0 ? [] : [['failed', 1]]), ...(n === 4 ? [] : [['returned', 1]])]),
    )
  })

  test('P3 jobs that several sessions finish, return, cancel and unpack at once each end up in one place', async () => {
    const others = await Promise.all([opened(), opened(), opened()])
    for (let round = 0; round < 10; round += 1) {
      const { leases, instance } = await claimed(`race${round}`)
      const [a, b, c] = others
      const [finished, returned] = await Promise.all([
        store.finish(finishAll(leases)),
        a.finish(back(leases.slice(0, 10))),
        b.cancel(
          leases.slice(5, 15).map(({ id }) => id),
          'race',
        ),
        c.progress(leases.slice(10, 25).map(({ id, token }) => ({ id, token, value: '1' }))),
      ])
      const [done, wentBack] = [finished, returned].map(
        (replies) =>
          new Set(replies.flatMap(({ id, accepted, again }) => (accepted && again !== true ? id : []))),
      )
      // A job was done or returned, and a cancel that came before its return ended it.
      const expected = leases.map(({ id }) => [done?.has(id), wentBack?.has(id)])
      expect(expected).not.toContainEqual([true, true])
      expect(expected).not.toContainEqual([false, false])
      const states = await statesOf(leases)
      expect(states.map((state) => state === 'done')).toEqual(expected.map(([isDone]) => isDone))
      const left = await store.instances.held(instance)
      expect(left.map(({ id }) => id)).toEqual([])
      expect(await rowsOf(leases)).toMatchObject({ running: 0 })
    }
  }, 60_000)
})
