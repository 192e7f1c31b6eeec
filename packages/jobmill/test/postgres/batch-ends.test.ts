/** Jobs of a batch that were deleted, or that are ended twice, while others of their claim run. */
import { describe, expect, inject, test } from 'vitest'
import { freshSchema } from '../../../../test/support/databases.ts'
import type { Lease } from '../../src/store/types/claim.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../src/job/queue/queue-settings.ts'
import { aClaim, aJob, aRetain, someJobs } from '../../../conformance/src/factories.ts'
import { batchBench, type BatchBench, finish, FORGOTTEN, SIZE } from './batch-bench.ts'

const url = inject('postgresUrl')
const schema = freshSchema(url, 'batch_ends')
const bench = (queue: string): Promise<BatchBench> => batchBench(url, schema, queue)

/** Ends the first job of a claim, and lets retention delete it. */
async function retained(queue: string): Promise<BatchBench & { first: Lease }> {
  const t = await bench(queue)
  const [first] = t.leases as [Lease]
  await t.store.finish([finish(first)])
  await t.store.queues.declare([{ name: queue, settings: DEFAULT_QUEUE_SETTINGS }])
  await t.store.queues.change(queue, { settings: { retainDoneMs: 0 }, coolMs: null })
  expect(await t.store.retain(aRetain())).toMatchObject({ done: 1 })
  return { ...t, first }
}

describe('postgres: jobs that end in a batch', () => {
  test('P2 a job that retention deleted has no state, and its finish is refused', async () => {
    const { store, first, accepted, counts, sql } = await retained('deleted')
    expect(await store.results([first.id])).toEqual([null])
    expect(await accepted([finish(first)])).toEqual([false])
    expect(await counts()).toMatchObject({ running: SIZE - 1, done: 0 })
    expect(await sql('SELECT 1 FROM jobmill.attempt WHERE job_id = $1', [first.id])).toEqual([])
  })

  test('P1 P3 retention keeps a job that uses the id of one that it deleted', async () => {
    const { store, first, accepted } = await retained('reused')
    await accepted([finish(first)])
    await store.enqueue([aJob({ id: first.id, queue: 'reused' })], { mayRepeat: true })
    await store.retain(aRetain())
    expect(await store.get([first.id])).toMatchObject([{ state: 'ready' }])
  })

  test.each(['stops', 'is lost'])(
    'P4 P6 an id that is enqueued again is another job when the instance of the first %s',
    async (how) => {
      const { store, first, instance, expire, leases } = await retained(`again-${how.replace(' ', '-')}`)
      await store.enqueue([aJob({ id: first.id, queue: 'elsewhere' })])
      expect((await store.instances.held(instance)).map(({ id }) => id)).not.toContain(first.id)
      if (how === 'stops') await store.instances.deregister(instance)
      else {
        await expire()
        await store.instances.reap({ crashesUntilDead: 3, limit: 100 })
      }
      const states = await store.get(leases.map(({ id }) => id))
      expect(new Set(states.map((job) => job?.state))).toEqual(new Set(['ready']))
      expect(states[0]?.crashes).toBe(0)
    },
  )

  test('P2 P3 a job that was finished and kept stays, even if a finish under its token forgets', async () => {
    const { store, leases, accepted, counts } = await bench('kept')
    const [first] = leases as [Lease]
    expect(await accepted([finish(first)])).toEqual([true])
    expect(await accepted([finish(first, FORGOTTEN)])).toEqual([true])
    expect(await store.get([first.id])).toMatchObject([{ state: 'done' }])
    expect(await counts()).toMatchObject({ running: SIZE - 1, done: 1 })
  })

  test('P2 a finish that forgets is counted once, although it is sent twice at the same time', async () => {
    const { leases, accepted, counts, session, waiting } = await bench('twice')
    const [first] = leases as [Lease]
    const other = await session()
    await other.query(`BEGIN; SELECT FROM ${schema}.job WHERE id = '${first.id}' FOR UPDATE`)
    const replies = Promise.all([1, 2].map(() => accepted([finish(first, FORGOTTEN)])))
    await waiting(2)
    await other.query('COMMIT')
    expect(await replies).toEqual([[true], [true]])
    expect(await counts()).toMatchObject({ running: SIZE - 1 })
  })

  test('P2 a finish that is sent again while its job is deleted writes no attempt', async () => {
    const { store, leases, accepted, sql, session, waiting } = await bench('deleted')
    const [first, second] = leases as [Lease, Lease]
    await store.finish([finish(first), finish(second)])
    // The delete removes the attempt of the first job, then waits for an older one of the second.
    await sql(
      `INSERT INTO jobmill.attempt SELECT job_id, 1, instance, 0, 0, queue_id, 1, 1, 0, 1, NULL, 1 FROM jobmill.attempt WHERE job_id = $1`,
      [second.id],
    )
    const other = await session()
    await other.query('BEGIN')
    await other.query(`SELECT FROM ${schema}.attempt WHERE job_id = $1 AND token = 1 FOR UPDATE`, [second.id])
    const deleted = store.delete([first.id, second.id])
    await waiting(1)
    const again = accepted([finish(first)])
    await waiting(2)
    await other.query('COMMIT')
    await deleted
    expect(await again).toEqual([false])
    expect(await sql('SELECT 1 FROM jobmill.attempt WHERE job_id = $1', [first.id])).toEqual([])
  })

  test('a batch is deleted when its jobs were ended by concurrent calls, at the latest by retention', async () => {
    const { store, leases, sql } = await bench('halves')
    const batches = () => sql('SELECT 1 FROM jobmill.batch WHERE token = $1', [leases[0]?.token])
    await Promise.all([
      store.finish(leases.slice(0, 15).map((lease) => finish(lease))),
      store.finish(leases.slice(15).map((lease) => finish(lease))),
    ])
    await sql('UPDATE jobmill.batch SET started_at = 0')
    await store.retain(aRetain())
    expect(await batches()).toEqual([])
    const { leases: others, store: another } = await bench('open')
    await another.finish(others.slice(1).map((lease) => finish(lease)))
    await sql('UPDATE jobmill.batch SET started_at = 0')
    await another.retain(aRetain())
    expect(await sql('SELECT 1 FROM jobmill.batch WHERE token = $1', [others[0]?.token])).toHaveLength(1)
  })

  test('a batch is deleted by its last finish, although some of its jobs were unpacked before', async () => {
    const { store, leases, sql } = await bench('noted')
    const [first] = leases as [Lease]
    const note = (n: number): { id: string; token: number; value: string } => ({
      id: first.id,
      token: first.token,
      value: `${n}`,
    })
    for (const n of [1, 2]) expect(await store.progress([note(n)])).toEqual([true])
    await store.finish([finish(first)])
    await store.finish(leases.slice(1).map((lease) => finish(lease)))
    expect(await sql('SELECT 1 FROM jobmill.batch WHERE token = $1', [first.token])).toEqual([])
  })

  test('P3 two claims that draw the same lease token each lease their jobs', async () => {
    const { store, sql, instance, session } = await bench('same-token')
    const claim = async (): Promise<Lease[]> => {
      await store.enqueue(someJobs(Array.from({ length: SIZE }, () => ({ queue: 'same-token' }))))
      // Above the clock, so that the sequence decides.
      await sql(`SELECT setval('jobmill.token', 4000000000000000)`)
      return store.claim(aClaim(instance, { queues: [{ queue: 'same-token', room: SIZE }] }))
    }
    // Nothing raises the sequences, which would read all ready jobs: it would wait for this lock.
    const other = await session()
    await other.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', [`jobmill migrations of ${schema}`])
    const [before] = await claim()
    const again = await claim()
    expect(again).toHaveLength(SIZE)
    expect(again[0]?.token).not.toBe(before?.token)
    await sql(`SELECT setval('jobmill.token', 1, false)`)
  })
})
