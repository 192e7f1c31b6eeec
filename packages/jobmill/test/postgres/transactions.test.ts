/**
 * Jobs in a transaction of the user, through the usual clients and query builders: each needs at most one
 * line. The conformance suite covers the guarantees of transactions; this file covers each way of passing
 * one, and the refusals.
 */
import { drizzle } from 'drizzle-orm/node-postgres'
import { sql as drizzleSql } from 'drizzle-orm'
import { CompiledQuery, Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import postgresJs from 'postgres'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { freshSchema } from '../../../../test/support/databases.ts'
import { enqueuer } from '../../src/enqueue/enqueuer.ts'
import { postgres, type Tx } from '../../src/postgres.ts'
import type { FullStore } from '../../src/store/store.ts'
import { aClaim, anInstance, KIND } from '../../../conformance/src/factories.ts'

const url = inject('postgresUrl')
const schema = freshSchema(url, 'tx')
const store: FullStore<Tx> = postgres(url, { schema, notifier: false })
const pool = new pg.Pool({ connectionString: url, max: 2 })
const sql = postgresJs(url, { max: 1 })
const kysely = new Kysely<object>({ dialect: new PostgresDialect({ pool }) })
const drizzled = drizzle(pool)

beforeAll(async () => {
  await store.open()
  await pool.query(`CREATE TABLE ${schema}.account (name text PRIMARY KEY)`)
})
afterAll(async () => {
  await sql.end()
  await pool.end()
  await store.close()
})

class RolledBack extends Error {}

/** Runs work in a transaction, and rolls it back when the work throws. */
type Way = (work: (tx: Tx, insert: (name: string) => Promise<unknown>) => Promise<void>) => Promise<unknown>
const INSERT = (name: string): string => `INSERT INTO ${schema}.account VALUES ('${name}')`

const ways: Record<string, Way> = {
  'a pg client': async (work) => {
    const client = await pool.connect()
    try {
      await client.query('BEGIN')
      await work(client, (name) => client.query(INSERT(name)))
      await client.query('COMMIT')
    } catch (error) {
      await client.query('ROLLBACK')
      throw error
    } finally {
      client.release()
    }
  },
  'postgres.js': (work) =>
    sql.begin((tx) =>
      work(
        (text, values) => tx.unsafe(text, values as string[]),
        (name) => tx.unsafe(INSERT(name)),
      ),
    ),
  Kysely: (work) =>
    kysely.transaction().execute((tx) =>
      work(
        (text, values) => tx.executeQuery(CompiledQuery.raw(text, values)),
        (name) => tx.executeQuery(CompiledQuery.raw(INSERT(name))),
      ),
    ),
  Drizzle: (work) =>
    drizzled.transaction((tx) =>
      work(
        // Every statement in a transaction of the user has one parameter.
        (text, [value]) =>
          tx.execute(
            drizzleSql.join(
              text.split('$1').map((part) => drizzleSql.raw(part)),
              drizzleSql`${value}`,
            ),
          ),
        (name) => tx.execute(drizzleSql.raw(INSERT(name))),
      ),
    ),
}

const accounts = async (like: string): Promise<number> =>
  (await pool.query(`SELECT name FROM ${schema}.account WHERE name LIKE '${like}%'`)).rows.length

describe.each(Object.entries(ways))('postgres: a transaction of %s', (name, inTransaction) => {
  const { enqueue } = enqueuer(store)

  test('P10 committed, the jobs exist with the data', async () => {
    let ids: string[] = []
    await inTransaction(async (tx, insert) => {
      await insert(`${name} committed`)
      const jobs = [
        { kind: KIND, payload: { text: 'a "quoted" \\ text' } },
        { kind: KIND, payload: [1], tags: ['x', 'y'], metadata: { from: name } },
        { kind: KIND, payload: 2, dedupe: { key: `${name} key`, holdFor: '1h' }, delay: '1h' },
        { kind: KIND, payload: 3, dedupe: { key: `${name} key` } },
      ]
      ids = (await enqueue(jobs, { tx })).map(({ id }) => id)
      // No other connection sees them yet.
      expect(await store.get(ids)).toEqual([null, null, null, null])
    })
    const jobs = await store.get(ids)
    expect(jobs.map((job) => job?.payload)).toEqual(['{"text":"a \\"quoted\\" \\\\ text"}', '[1]', '2', '2'])
    expect(jobs[1]).toMatchObject({ tags: ['x', 'y'], metadata: JSON.stringify({ from: name }) })
    expect(ids[3]).toBe(ids[2])
    expect(await accounts(`${name} committed`)).toBe(1)
    await store.delete(ids.slice(0, 3))
  })

  test('P10 rolled back, neither the jobs nor the data exist', async () => {
    let ids: string[] = []
    const failed = inTransaction(async (tx, insert) => {
      await insert(`${name} undone`)
      ids = (await enqueue([{ kind: KIND, payload: 1, dedupe: { key: `${name} undone` } }], { tx })).map(
        ({ id }) => id,
      )
      throw new RolledBack()
    })
    await expect(failed).rejects.toThrow(RolledBack)
    expect(await store.get(ids)).toEqual([null])
    expect(await accounts(`${name} undone`)).toBe(0)
    // Its key is free again.
    const [again] = await enqueue([{ kind: KIND, payload: 1, dedupe: { key: `${name} undone` } }])
    expect(again?.outcome).toBe('enqueued')
    await store.delete([again?.id ?? ''])
  })

  test('P10 a job is finished with the data, or stays running without it', async () => {
    const me = anInstance()
    await store.instances.register(me)
    const [job] = await enqueue([{ kind: KIND, payload: 1 }])
    const [lease] = await store.claim(aClaim(me.id))
    expect(lease?.id).toBe(job?.id)
    const done = {
      id: lease?.id ?? '',
      token: lease?.token ?? 0,
      outcome: 'returned',
      transition: { to: 'done', result: '{"a":1}' },
    } as const
    const failed = inTransaction(async (tx) => {
      expect(await store.finish([done], { tx })).toMatchObject([{ accepted: true, state: 'done' }])
      throw new RolledBack()
    })
    await expect(failed).rejects.toThrow(RolledBack)
    expect((await store.get([done.id]))[0]?.state).toBe('running')
    await inTransaction(async (tx, insert) => {
      await insert(`${name} finished`)
      await store.finish([done], { tx })
    })
    expect((await store.get([done.id]))[0]).toMatchObject({ state: 'done', result: '{"a":1}' })
    expect(await accounts(`${name} finished`)).toBe(1)
  })
})

describe('an invalid transaction', () => {
  test.each([[42], ['BEGIN'], [null], [{}], [{ query: 'select' }]])(
    '%j is refused with the fix',
    async (tx) => {
      const { enqueue } = enqueuer(store as FullStore)
      await expect(enqueue([{ kind: KIND, payload: 1 }], { tx })).rejects.toMatchObject({
        code: 'TX_INVALID',
        field: 'tx',
      })
    },
  )

  test('a pool, or a client without BEGIN, is refused, and nothing is written', async () => {
    const { enqueue } = enqueuer(store)
    const before = await store.counts()
    await expect(enqueue([{ kind: KIND, payload: 1 }], { tx: pool })).rejects.toMatchObject({
      code: 'TX_INVALID',
    })
    const client = await pool.connect()
    onTestFinished(() => client.release())
    await expect(enqueue([{ kind: KIND, payload: 1 }], { tx: client })).rejects.toMatchObject({
      code: 'TX_INVALID',
      message: 'tx: has no open transaction. Run BEGIN on the same client first.',
    })
    const keyed = { kind: KIND, payload: 1, dedupe: { key: 'never' } }
    await expect(enqueue([keyed], { tx: client })).rejects.toMatchObject({ code: 'TX_INVALID' })
    expect(await store.counts()).toEqual(before)
  })

  test('D low: a transaction that an earlier error aborted is refused, and the error says so', async () => {
    const { enqueue } = enqueuer(store)
    const client = await pool.connect()
    onTestFinished(() => client.release())
    await client.query('BEGIN')
    await client.query('SELECT 1 / 0').catch(() => {})
    await expect(enqueue([{ kind: KIND, payload: 1 }], { tx: client })).rejects.toMatchObject({
      code: 'TX_INVALID',
      message:
        'tx: was aborted by an earlier error. Find and fix the first error in the transaction, roll back, and run it again.',
    })
    await client.query('ROLLBACK')
  })

  test('a function that runs something else is refused, because it would pass for a write', async () => {
    const { enqueue } = enqueuer(store as FullStore)
    await expect(enqueue([{ kind: KIND, payload: 1 }], { tx: async () => [] })).rejects.toMatchObject({
      code: 'TX_INVALID',
    })
  })

  test.each([
    ['capitals', (name: string) => name.toUpperCase(), 'WON'],
    [
      'camel case',
      (name: string) => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
      'jobId',
    ],
  ])(
    'D low: a function that turns the names of columns into %s is refused, because it would pass for a busy database',
    async (_name, rename, message) => {
      const { enqueue } = enqueuer(store)
      const client = await pool.connect()
      onTestFinished(async () => {
        await client.query('ROLLBACK')
        client.release()
      })
      await client.query('BEGIN')
      const tx: Tx = async (text, values) => {
        const { rows } = await client.query<Record<string, unknown>>(text, values)
        return rows.map((row) =>
          Object.fromEntries(Object.entries(row).map(([name, value]) => [rename(name), value])),
        )
      }
      // Twice under one key, so that its holder must be read.
      const jobOf = (payload: number) => ({ kind: KIND, payload, dedupe: { key: `renamed ${message}` } })
      const refused = enqueue([jobOf(1)], { tx }).then(() => enqueue([jobOf(2)], { tx }))
      await expect(refused).rejects.toMatchObject({
        code: 'TX_INVALID',
        field: 'tx',
        fix: expect.stringContaining('unchanged column names') as string,
      })
      const arrays: Tx = async (text, values) =>
        (await client.query<unknown[]>({ text, values, rowMode: 'array' })).rows
      await expect(enqueue([jobOf(1)], { tx: arrays })).rejects.toMatchObject({ code: 'TX_INVALID' })
    },
  )

  test('a function that does not return rows is refused', async () => {
    const { enqueue } = enqueuer(store as FullStore)
    await expect(enqueue([{ kind: KIND, payload: 1 }], { tx: async () => 'ok' })).rejects.toMatchObject({
      code: 'TX_INVALID',
    })
  })

  test('D low: a function that runs nothing is refused, also for jobs with a key and tags', async () => {
    const { enqueue } = enqueuer(store as FullStore)
    const keyed = { kind: KIND, payload: 1, dedupe: { key: 'run nothing' }, tags: ['t'] }
    for (const job of [{ kind: KIND, payload: 1 }, keyed])
      await expect(enqueue([job], { tx: async () => [] })).rejects.toMatchObject({ code: 'TX_INVALID' })
  })

  test('D low: a function without rows is refused for a finish too, and does not pass for a lost lease', async () => {
    const { enqueue } = enqueuer(store)
    const me = anInstance()
    await store.instances.register(me)
    await enqueue([{ kind: KIND, payload: 1 }])
    const [lease] = await store.claim(aClaim(me.id))
    const { id = '', token = 0 } = lease ?? {}
    const done = { id, token, outcome: 'returned', transition: { to: 'done', result: null } } as const
    const client = await pool.connect()
    onTestFinished(() => client.release())
    const dropping: Tx = async (text, values) => {
      await client.query(text, values)
      return []
    }
    for (const tx of [async () => [], async () => [{ id: 'other' }], dropping]) {
      await client.query('BEGIN')
      await expect(store.finish([done], { tx })).rejects.toMatchObject({
        code: 'TX_INVALID',
        field: 'tx',
        fix: expect.stringContaining('returns the rows') as string,
      })
      await client.query('ROLLBACK')
    }
    // A lost lease is still one.
    await client.query('BEGIN')
    const [lost] = await store.finish([{ ...done, token: token + 1 }], { tx: client })
    expect(lost).toMatchObject({ accepted: false })
    expect(await store.finish([done], { tx: client })).toMatchObject([{ accepted: true }])
    await client.query('COMMIT')
    await store.delete([id])
  })
})
