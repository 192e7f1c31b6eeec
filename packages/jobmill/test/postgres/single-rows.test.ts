/**
 * Tables for a single row that have two, as after a plain pg_restore under a running process, or none. No
 * call fails, and the store restores the single row.
 */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { freshSchema } from '../../../../test/support/databases.ts'
import { postgres } from '../../src/postgres.ts'
import type { Store, ToolStore } from '../../src/store/store.ts'
import { aHeartbeat, aJob, anInstance } from '../../../conformance/src/factories.ts'

const url = inject('postgresUrl')
const admin = new pg.Client({ connectionString: url })
beforeAll(() => admin.connect())
afterAll(() => admin.end())

async function opened(schema: string): Promise<ToolStore<never>> {
  const store = postgres(url, { schema })
  onTestFinished(() => store.close())
  await store.open()
  return store
}

const TABLES = ['settings', 'members', 'secret']
const LARGE = 1_000_000

/** Adds the rows of a backup, as COPY does. */
async function addRows(schema: string): Promise<void> {
  for (const table of ['settings', 'members'])
    await admin.query(`INSERT INTO ${schema}.${table} VALUES (3), (${LARGE})`)
  await admin.query(`INSERT INTO ${schema}.secret VALUES ('zzz')`)
}

/** The rows of each table. */
async function rowsOf(schema: string): Promise<string[][]> {
  const all = TABLES.map((table) =>
    admin.query<{ value: string }>(`SELECT t::text AS value FROM ${schema}.${table} AS t`),
  )
  return (await Promise.all(all)).map(({ rows }) => rows.map(({ value }) => value))
}

async function reported({ tools }: ToolStore<never>): Promise<string[]> {
  const found = await tools.diagnose()
  return found.flatMap(({ check, level, message }) =>
    check === 'rows' && level === 'error' ? [message] : [],
  )
}

async function versions(store: Store<never>, instance: string): Promise<unknown> {
  const { settingsVersion, membersVersion } = (await store.instances.renew(aHeartbeat(instance))) ?? {}
  return { settingsVersion, membersVersion }
}

describe('tables for a single row', () => {
  test('D2 with two rows: heartbeats continue with the highest version, and the doctor reports them', async () => {
    const schema = freshSchema(url, 'rows')
    const store = await opened(schema)
    const instance = anInstance()
    await store.instances.register(instance)
    expect(await reported(store)).toEqual([])
    await addRows(schema)
    // A restore may also leave out a key. The doctor reports both.
    await admin.query(`ALTER TABLE ${schema}.migration DROP CONSTRAINT migration_pkey`)
    expect(await versions(store, instance.id)).toEqual({ settingsVersion: LARGE, membersVersion: LARGE })
    await store.instances.register(anInstance())
    expect(await versions(store, instance.id)).toMatchObject({ membersVersion: LARGE + 1 })
    expect(await reported(store)).toEqual([
      `the table "${schema}".settings has 3 rows instead of 1`,
      `the table "${schema}".members has 3 rows instead of 1`,
      `the table "${schema}".secret has 2 rows instead of 1`,
    ])
  })

  test('D2 with two rows: open keeps the row that the processes use', async () => {
    const schema = freshSchema(url, 'rows')
    await opened(schema)
    const [, , secret = []] = await rowsOf(schema)
    await addRows(schema)
    const next = await opened(schema)
    expect(await rowsOf(schema)).toEqual([[`(${LARGE})`], [`(${LARGE})`], secret])
    expect(await reported(next)).toEqual([])
  })

  test('D2 with two rows: so does a process that finds the database replaced', async () => {
    const schema = freshSchema(url, 'rows')
    const store = await opened(schema)
    await store.enqueue([aJob()])
    const [, , secret = []] = await rowsOf(schema)
    await addRows(schema)
    await admin.query(`UPDATE ${schema}.names SET version = gen_random_uuid()`)
    await store.enqueue([aJob()])
    expect(await rowsOf(schema)).toEqual([[`(${LARGE})`], [`(${LARGE})`], secret])
  })

  test('D2 without a row: the doctor reports them, and open adds it', async () => {
    const schema = freshSchema(url, 'rows')
    const store = await opened(schema)
    await admin.query(`TRUNCATE ${TABLES.map((table) => `${schema}.${table}`).join(', ')}`)
    expect(await reported(store)).toHaveLength(3)
    await opened(schema)
    expect((await rowsOf(schema)).map((rows) => rows.length)).toEqual([1, 1, 1])
  })

  test('D2 a migration that is listed twice: the doctor reports it, open removes the copy, and the fix of the key works', async () => {
    const schema = freshSchema(url, 'rows')
    const store = await opened(schema)
    // As after a restore under a running process: both wrote the row, so the key could not be created.
    await admin.query(`ALTER TABLE ${schema}.migration DROP CONSTRAINT migration_pkey`)
    await admin.query(`INSERT INTO ${schema}.migration SELECT * FROM ${schema}.migration`)
    expect(await reported(store)).toEqual([`the table "${schema}".migration has 2 rows instead of 1`])
    const next = await opened(schema)
    expect(await reported(next)).toEqual([])
    const key = (await next.tools.diagnose()).find(
      ({ check, level }) => check === 'index' && level === 'error',
    )
    const [, statement = ''] = /^Create it: (.*)$/.exec(key?.fix ?? '') ?? []
    expect(statement).toContain('ADD CONSTRAINT migration_pkey')
    await admin.query(statement)
    expect((await next.tools.diagnose()).find(({ check }) => check === 'index')).toMatchObject({
      level: 'ok',
    })
  })

  test('D2 a migration that is listed twice with different contents is refused, in either order', async () => {
    const schema = freshSchema(url, 'rows')
    await opened(schema)
    await admin.query(`ALTER TABLE ${schema}.migration DROP CONSTRAINT migration_pkey`)
    await admin.query(
      `INSERT INTO ${schema}.migration SELECT number, name, 'other', 1 FROM ${schema}.migration`,
    )
    await expect(opened(schema)).rejects.toMatchObject({ code: 'SCHEMA_CHANGED' })
    await admin.query(`UPDATE ${schema}.migration SET applied_at = 2 WHERE checksum <> 'other'`)
    await expect(opened(schema)).rejects.toMatchObject({ code: 'SCHEMA_CHANGED' })
  })
})
