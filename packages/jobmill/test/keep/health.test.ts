/** How a database is: its size, its tables, and who holds it up, on both stores; also while the store is closed. */
import pg from 'pg'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { sqlite } from '../../src/sqlite.ts'
import { pinning } from '../../src/store-postgres/keep/examine-horizon.ts'
import { someJobs } from '../../src/testing/factories.ts'
import { freshFile } from '../../../../test/support/databases.ts'
import { migrated, ALL } from './sites.ts'

describe.each(ALL)('health of $name', (sites) => {
  test('a database has a server, a size and its tables, the largest first', async () => {
    const { store, run } = await migrated(sites)
    await store.open()
    await store.enqueue(someJobs(Array.from({ length: 2_000 }, () => ({ payload: 'x'.repeat(500) }))))
    await store.close()
    if (sites.name === 'postgres') await run('ANALYZE TABLE:job')
    const { server, sizeBytes, logBytes, tables, pinned } = await store.tools.health()
    expect(server).toMatch(sites.name === 'postgres' ? /^PostgreSQL \d+\.\d+$/ : /^SQLite 3\.\d+\.\d+$/)
    expect(sizeBytes).toBeGreaterThan(1_000_000)
    expect(logBytes).toBe(sites.name === 'postgres' ? null : 0)
    const [largest] = tables
    expect(largest?.name).toMatch(/^(jobmill_)?job$/)
    expect(largest?.rows).toBe(2_000)
    expect(largest?.bytes).toBeGreaterThan(1_000_000)
    const bytes = tables.map((table) => table.bytes ?? 0)
    expect(bytes).toEqual(bytes.toSorted((a, b) => b - a))
    expect(tables.length).toBeGreaterThan(15)
    expect(pinned).toEqual([])
  })
})

test('health of sqlite: a large file is not looked through', async () => {
  const path = freshFile()
  const store = sqlite(path)
  await store.open()
  onTestFinished(() => store.close())
  await store.enqueue(someJobs(Array.from({ length: 60 }, () => ({ payload: 'x'.repeat(400_000) }))))
  const { tables, sizeBytes } = await store.tools.health()
  expect(sizeBytes).toBeGreaterThan(16 * 2 ** 20)
  expect(tables.every(({ bytes }) => bytes === null)).toBe(true)
  const rows = Object.fromEntries(tables.map(({ name, rows: n }) => [name, n]))
  expect(rows).toMatchObject({ jobmill_job: 60, jobmill_queue: 1, jobmill_event: 0, jobmill_metric: null })
})

test('health of sqlite: one in memory, and a file that is not there, have nothing to tell', async () => {
  for (const path of [':memory:', freshFile()])
    expect(await sqlite(path).tools.health()).toMatchObject({ sizeBytes: 0, logBytes: null, tables: [] })
})

test('health of postgres: a session that holds the horizon is found once its transaction is old enough', async () => {
  const holder = new pg.Client({ connectionString: inject('postgresUrl') })
  const looker = new pg.Client({ connectionString: inject('postgresUrl') })
  await Promise.all([holder.connect(), looker.connect()])
  onTestFinished(async () => void (await Promise.all([holder.end(), looker.end()])))
  await holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
  const { rows } = await holder.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  const query = async (text: string, values: readonly unknown[]) =>
    (await looker.query<Record<string, unknown>>(text, [...values])).rows
  const found = (await pinning(query, 0)).find(({ pid }) => pid === rows[0]?.pid)
  expect(found).toMatchObject({ state: 'idle in transaction', query: 'SELECT pg_backend_pid() AS pid' })
  expect((await pinning(query, 300_000)).find(({ pid }) => pid === rows[0]?.pid)).toBeUndefined()
})
