// Tests the servers that other tests use: they start in the right version, keep their data over a restart and
// a crash, work behind a pooler, and leave nothing behind.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { killAtEnd } from './support/programs/kill-at-end.ts'
import { freshFile, freshSchema } from './support/databases.ts'
import { isListening } from './support/free-port.ts'
import { keepSessions } from './support/postgres/kept-sessions.ts'
import { startPgbouncer } from './support/postgres/pgbouncer.ts'
import { startPostgres } from './support/postgres/postgres-server.ts'

async function query(url: string, text: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url })
  // A server that shuts down sends its sessions an error, which would end the test process without a
  // listener.
  client.on('error', () => {})
  await client.connect()
  const { rows } = await client.query<Record<string, unknown>>(text)
  await client.end()
  return Object.values(rows[0] ?? {})[0]
}

/** Runs a prepared statement and returns the value of its column `got`. */
async function ask(client: pg.Client, text: string, values: readonly unknown[]): Promise<unknown> {
  const { rows } = await client.query<{ got: unknown }>({ text, values: [...values] })
  return rows[0]?.got
}

const major = async (url: string): Promise<number> =>
  Math.floor(Number(await query(url, 'show server_version_num')) / 10_000)

test.skipIf(process.env['TEST_DATABASE_URL'])('tests get a current PostgreSQL', async () => {
  expect(await major(inject('postgresUrl'))).toBe(18)
})

test.skipIf(inject('oldPostgresUrl') === null || process.env['TEST_DATABASE_URL_OLD'])(
  'tests get an old PostgreSQL',
  async () => {
    expect(await major(inject('oldPostgresUrl') ?? '')).toBe(15)
  },
)

test('a server keeps its data and its port over a restart and a crash', async () => {
  const server = await startPostgres({ binaries: 'current', settings: { work_mem: '5MB' } })
  onTestFinished(() => server.stop())
  expect(await query(server.url, 'show work_mem')).toBe('5MB')
  await query(server.url, 'create table kept as select 1 as n')
  await server.restart()
  expect(await query(server.url, 'select n from kept')).toBe(1)

  const idle = new pg.Client({ connectionString: server.url })
  const cut = new Promise((resolve) => idle.on('error', resolve))
  await idle.connect()
  await query(server.url, 'insert into kept values (2)')
  await server.kill()
  await cut
  expect(await isListening(server.port)).toBe(false)
  await server.restart()
  expect(await query(server.url, 'select count(*)::int from kept')).toBe(2)
})

test('a server that cannot start says why and leaves nothing behind', async () => {
  const folder = ownTemporaryFolder()
  await expect(startPostgres({ binaries: 'current', settings: { work_mem: 'much' } })).rejects.toThrow(
    'invalid value for parameter "work_mem"',
  )
  expect(readdirSync(folder)).toEqual([])
})

test('a server stops with the process that started it, even after SIGKILL', async () => {
  const folder = ownTemporaryFolder()
  const launcher = fileURLToPath(new URL('./support/postgres/postgres-server.ts', import.meta.url))
  const script = `
    const { startPostgres } = await import(${JSON.stringify(launcher)})
    const { port } = await startPostgres({ binaries: 'current' })
    process.stdout.write(String(port))`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  killAtEnd(child)
  const [output] = (await once(child.stdout, 'data')) as [Buffer]
  const port = Number(output.toString())
  expect(await isListening(port)).toBe(true)
  expect(readdirSync(folder)).toHaveLength(1)
  child.kill('SIGKILL')
  await expect.poll(() => readdirSync(folder), { timeout: 10_000 }).toEqual([])
  expect(await isListening(port)).toBe(false)
})

describe.skipIf(!existsSync('/usr/sbin/pgbouncer'))('behind PgBouncer', () => {
  test('a client reaches the server, and the pooler stops', async () => {
    const pooler = await startPgbouncer({ url: inject('postgresUrl') })
    if (pooler === null) throw new Error('PgBouncer is there but did not start')
    onTestFinished(() => pooler.stop())
    expect(await query(pooler.url, 'select 1 + 1 as two')).toBe(2)
    await pooler.stop()
    await sleep(10)
    expect(await isListening(pooler.port)).toBe(false)
  })
})

test('a pooled session keeps the statements of its last client, and nothing else', async () => {
  const sessions = await keepSessions(inject('postgresUrl'), { keepsStatements: true })
  onTestFinished(() => sessions.stop())
  async function asClient<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    const client = new pg.Client({ connectionString: sessions.url })
    await client.connect()
    try {
      return await work(client)
    } finally {
      await client.end()
    }
  }
  const sum = 'select $1::int + $2::int as got'
  const known = `select count(*)::int as got from pg_prepared_statements where statement = '${sum.replaceAll("'", "''")}'`
  const [pid] = await asClient(async (client) => [
    await ask(client, 'select pg_backend_pid() as got', []),
    await client.query(`set statement_timeout = '7s'`),
    await expect(ask(client, 'select nonsense as got', [])).rejects.toThrow('nonsense'),
    await expect(ask(client, 'select 1 / $1::int as got', [0])).rejects.toThrow('division by zero'),
    expect(await Promise.all([ask(client, sum, [1, 2]), ask(client, sum, [3, 4])])).toEqual([3, 7]),
  ])
  await asClient(async (client) => {
    expect(await ask(client, 'select pg_backend_pid() as got', [])).toBe(pid)
    expect(await ask(client, `select current_setting('statement_timeout') as got`, [])).toBe('0')
    expect(await ask(client, known, [])).toBe(1)
    expect(await ask(client, sum, [5, 6])).toBe(11)
    expect(await ask(client, 'select 1 / $1::int as got', [1])).toBe(1)
    await expect(ask(client, 'select nonsense as got', [])).rejects.toThrow('nonsense')
  })
})

test('every schema name and every SQLite file is new', () => {
  const url = inject('postgresUrl')
  expect(freshSchema(url, 'support')).toMatch(/^support_[0-9a-f]{12}$/)
  expect(freshSchema(url)).not.toBe(freshSchema(url))
  expect(freshFile()).not.toBe(freshFile())
  expect(existsSync(freshFile())).toBe(false)
})

/** Other test files also start servers, so leftovers of ours can only be found in a folder of our own. */
function ownTemporaryFolder(): string {
  const before = process.env['TMPDIR']
  const folder = mkdtempSync(join(tmpdir(), 'jobmill-tmp-'))
  chmodSync(folder, 0o755)
  process.env['TMPDIR'] = folder
  onTestFinished(() => {
    if (before === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = before
    rmSync(folder, { recursive: true, force: true })
  })
  return folder
}
