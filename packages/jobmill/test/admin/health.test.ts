/**
 * The health of a database: its size, its tables, and blocking sessions, on both stores; also while the store
 * is closed.
 */
import pg from 'pg'
import { describe, expect, inject, onTestFinished, test, vi } from 'vitest'
import { postgres } from '../../src/postgres.ts'
import { sqlite } from '../../src/sqlite.ts'
import { pinning } from '../../src/store-postgres/admin/check-horizon.ts'
import { someJobs } from '../../../conformance/src/factories.ts'
import { freshFile, freshSchema } from '../../../../test/support/databases.ts'
import { ALL, migrated, queryAt } from './sites.ts'

const isPositive = (value: number | undefined): boolean => value !== undefined && value > 0

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

describe.each(ALL)('resources of $name', (sites) => {
  test('A a database has a size and a log; a file has a disk, and a server has connections', async () => {
    const { store } = await migrated(sites)
    await store.open()
    onTestFinished(() => store.close())
    await store.enqueue(someJobs([{}]))
    // The notifier checks itself on a connection of the pool when it opens.
    await vi.waitFor(async () => expect((await store.tools.resources()).pool?.busy ?? 0).toBe(0))
    const { sizeBytes, walBytes, disk, pool, server } = await store.tools.resources()
    expect(sizeBytes).toBeGreaterThan(10_000)
    // The role of the tests is a superuser, which may read the WAL.
    expect(walBytes).toBeGreaterThan(1_000)
    const wanted =
      sites.name === 'postgres'
        ? { pool: true, server: true, disk: false }
        : { pool: false, server: false, disk: true }
    expect({
      pool: isPositive(pool?.open) && pool?.busy === 0 && pool.waiting === 0,
      server: isPositive(server?.connections) && (server?.most ?? 0) >= (server?.connections ?? 0),
      disk: isPositive(disk?.freeBytes) && (disk?.totalBytes ?? 0) >= (disk?.freeBytes ?? 0),
    }).toEqual(wanted)
  })
})

test('A resources of sqlite: a database in memory has no size, no log and no disk', async () => {
  const nothing = { sizeBytes: null, walBytes: null, disk: null, pool: null, server: null }
  expect(await sqlite(':memory:').tools.resources()).toEqual(nothing)
})

test('A resources of postgres: a role outside of pg_monitor sees everything but the log of the server', async () => {
  const url = inject('postgresUrl')
  const schema = freshSchema(url, 'keep')
  const role = `${schema}_role`
  await queryAt(url, `CREATE ROLE ${role} LOGIN; CREATE SCHEMA ${schema} AUTHORIZATION ${role}`)
  const theirs = new URL(url)
  theirs.username = role
  const store = postgres(theirs.href, { schema, notifier: false })
  await store.open()
  expect(await store.tools.resources()).toMatchObject({
    sizeBytes: expect.any(Number) as number,
    walBytes: null,
    server: { most: expect.any(Number) as number },
  })
  await store.close()
  await queryAt(url, `DROP SCHEMA ${schema} CASCADE; DROP ROLE ${role}`)
})

test('health of sqlite: a large file is not scanned', async () => {
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

test('health of sqlite: a database in memory and a missing file have no details', async () => {
  for (const path of [':memory:', freshFile()])
    expect(await sqlite(path).tools.health()).toMatchObject({ sizeBytes: 0, logBytes: null, tables: [] })
})

test('health of postgres: a session that holds the horizon is reported once its transaction is old enough', async () => {
  const holder = new pg.Client({ connectionString: inject('postgresUrl') })
  const looker = new pg.Client({ connectionString: inject('postgresUrl') })
  await Promise.all([holder.connect(), looker.connect()])
  onTestFinished(async () => void (await Promise.all([holder.end(), looker.end()])))
  await holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
  const { rows } = await holder.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  const query = async (text: string, values: readonly unknown[]) =>
    (await looker.query<Record<string, unknown>>(text, [...values])).rows
  const session = (await pinning(query, 0)).find(({ pid }) => pid === rows[0]?.pid)
  expect(session).toMatchObject({ state: 'idle in transaction', query: 'SELECT pg_backend_pid() AS pid' })
  expect((await pinning(query, 300_000)).find(({ pid }) => pid === rows[0]?.pid)).toBeUndefined()
})
