/** A finish that waits for a transaction of the user keeps no other session from the batch of its job. */
import type pg from 'pg'
import { describe, expect, inject, test } from 'vitest'
import { freshSchema } from '../../../../test/support/databases.ts'
import type { Lease } from '../../src/store/types/claim.ts'
import { aJob } from '../../../conformance/src/factories.ts'
import { batchBench, type BatchBench, FAILED, finish, SIZE } from './batch-bench.ts'

const url = inject('postgresUrl')
const schema = freshSchema(url, 'batch_locks')
type Two = readonly [Lease, Lease]

async function inTx(queue: string, begin = 'BEGIN'): Promise<BatchBench & { tx: pg.Client }> {
  const t = await batchBench(url, schema, queue)
  const tx = await t.session()
  await tx.query(begin)
  return { ...t, tx }
}

/** The finish of a job waits for the dedupe key of its follow-up, which the transaction holds. */
async function withFollowUp(
  queue: string,
): Promise<BatchBench & { tx: pg.Client; waits: Promise<boolean[]> }> {
  const t = await inTx(queue)
  const keyed = () => aJob({ queue: 'next', dedupe: { key: queue } })
  const [, second] = t.leases as unknown as Two
  await t.store.enqueue([keyed()], { tx: t.tx })
  const waits = t.accepted([{ ...finish(second), followUps: [keyed()] }])
  await t.waiting(1)
  return { ...t, waits }
}

describe('postgres: locks of batches', () => {
  test('P10 a transaction completes a job while the finish of another one waits for it', async () => {
    const { store, leases, tx, waits } = await withFollowUp('follows')
    const [first] = leases as unknown as Two
    expect(await store.finish([finish(first)], { tx })).toMatchObject([{ accepted: true }])
    await tx.query('COMMIT')
    expect(await waits).toEqual([true])
  })

  test('P4 the jobs of a lost instance return to their queue while a finish waits for a transaction', async () => {
    const { leases, tx, waits, expire, opened } = await withFollowUp('dies')
    const other = await opened()
    await expire()
    const { jobs } = await other.instances.reap({ crashesUntilDead: 3, limit: 100 })
    expect(jobs).toHaveLength(SIZE - 1)
    await tx.query('ROLLBACK')
    expect(await waits).toEqual([true])
    expect((await other.get([leases[1]?.id ?? '']))[0]?.state).toBe('done')
  })

  test.each([
    ['failed', FAILED],
    ['returned', undefined],
  ])(
    'P10 jobs are finished while one that a transaction completes has %s before the commit',
    async (_, transition) => {
      const { store, leases, tx, accepted, waiting, opened } = await inTx(`before-${_}`)
      const [first, second, ...rest] = leases as [Lease, Lease, ...Lease[]]
      // Through another handle, because this one then unpacks its batches.
      await (await opened()).finish([finish(first)], { tx })
      const waits = accepted([finish(first, transition)])
      await waiting(1)
      expect(await accepted([finish(second)])).toEqual([true])
      expect(await store.finish([finish(rest[0] ?? first)], { tx })).toMatchObject([{ accepted: true }])
      await tx.query('COMMIT')
      expect(await waits).toEqual([true])
    },
  )

  test('P10 failed jobs of a batch wait for a transaction before they lock it', async () => {
    const { leases, tx, accepted, waiting, opened } = await inTx('mixed')
    const [first, second, third] = leases as [Lease, Lease, Lease]
    await (await opened()).finish([finish(first)], { tx })
    const waits = accepted([finish(second, FAILED), finish(first, FAILED)])
    await waiting(1)
    expect(await accepted([finish(third)])).toEqual([true])
    await tx.query('COMMIT')
    expect(await waits).toEqual([true, true])
  })

  test('the finish of failed and done jobs locks their batches in the order of their tokens', async () => {
    const { store, leases, tx, waiting, sql } = await inTx('lower')
    const { leases: others } = await batchBench(url, schema, 'higher')
    const [lower, higher] = [leases[0], others[0]] as unknown as Two
    const lock = `SELECT token FROM jobmill.batch WHERE token = $1 FOR UPDATE SKIP LOCKED`
    await tx.query(lock.replace('jobmill', schema), [lower.token])
    const waits = store.finish([finish(higher, FAILED), finish(lower)])
    await waiting(1)
    expect(await sql(lock, [higher.token])).toHaveLength(1)
    await tx.query('ROLLBACK')
    expect(await waits).toMatchObject([{ accepted: true }, { accepted: true }])
  })

  test.each(['stop', 'reap'] as const)(
    'P4 P6 a %s leaves the jobs of a locked batch to the next pass',
    async (how) => {
      const { leases, instance, tx, expire, opened } = await inTx(`locked-${how}`)
      const other = await opened()
      await tx.query(`SELECT FROM ${schema}.batch WHERE token = ${leases[0]?.token ?? 0} FOR SHARE`)
      await expire()
      const returned = {
        stop: () => other.instances.deregister(instance),
        reap: async () => (await other.instances.reap({ crashesUntilDead: 3, limit: 100 })).jobs.length,
      }
      expect(await returned[how]()).toBe(0)
      await tx.query('ROLLBACK')
      expect((await other.instances.reap({ crashesUntilDead: 3, limit: 100 })).jobs).toHaveLength(SIZE)
    },
  )

  test('P10 a transaction whose snapshot is older than the row of a job is asked to run again', async () => {
    const { store, leases, tx } = await inTx('older', 'BEGIN ISOLATION LEVEL REPEATABLE READ')
    const [first] = leases as unknown as Two
    await tx.query('SELECT 1')
    expect(await store.progress([{ id: first.id, token: first.token, value: '1' }])).toEqual([true])
    await expect(store.finish([finish(first)], { tx })).rejects.toMatchObject({ code: 'TX_STALE' })
  })

  test('P2 a transaction learns that a job is lost, although another one was unpacked by its call', async () => {
    const { store, leases, tx } = await inTx('lost')
    const [first, second] = leases as unknown as Two
    await store.finish([{ ...finish(second), outcome: null, transition: { to: 'ready' } }])
    expect(await store.finish([finish(first), finish(second)], { tx })).toMatchObject([
      { accepted: true },
      { accepted: false },
    ])
  })

  test('P2 a transaction that returned a job cannot finish it again', async () => {
    const { store, leases, tx } = await inTx('returned')
    const [first] = leases as unknown as Two
    const back = { ...finish(first), outcome: null, transition: { to: 'ready' } } as const
    expect(await store.finish([back], { tx })).toMatchObject([{ accepted: true }])
    expect(await store.finish([finish(first)], { tx })).toMatchObject([{ accepted: false }])
  })
})
