// The PostgreSQL server that all cells share: the binaries from npm, with default settings and full
// durability. Each cell has its own database.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { startPostgres } from '../../test/support/postgres/postgres-server.ts'
import type { ServerInfo } from '../case.ts'

export interface Server extends ServerInfo {
  readonly version: string
  /** In words, for the report. */
  readonly settings: string
  stop(): Promise<void>
}

export async function startPostgresServer(): Promise<Server> {
  // Undo the settings of the tests: fsync, and the number of connections.
  const settings = { fsync: 'on', max_connections: '100' }
  const server = await startPostgres({ binaries: 'current', settings })
  const data = path.join(path.dirname(server.log), 'data')
  const [pid = ''] = readFileSync(path.join(data, 'postmaster.pid'), 'utf8').split('\n')
  const asked = [
    'fsync',
    'synchronous_commit',
    'full_page_writes',
    'shared_buffers',
    'max_wal_size',
    'autovacuum',
  ]
  const lines: string[] = []
  const version = await withClient(server.url, async (client) => {
    for (const name of ['server_version', ...asked]) {
      const { rows } = await client.query<Record<string, string>>(`SHOW ${name}`)
      lines.push(rows[0]?.[name] ?? '')
    }
    return lines.shift() ?? ''
  })
  return {
    url: server.url,
    pid: Number(pid),
    log: server.log,
    version,
    settings: `default: ${asked.map((name, at) => `${name} = ${lines[at]}`).join(', ')}`,
    stop: () => server.stop(),
  }
}

export async function createDatabase(serverUrl: string, name: string): Promise<string> {
  await withClient(serverUrl, (client) => client.query(`CREATE DATABASE ${name}`))
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}

/** PostgreSQL makes a checkpoint here, so that no cell pays for the pages of the previous one. */
export async function dropDatabase(serverUrl: string, name: string): Promise<void> {
  await withClient(serverUrl, (client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))
}

/** Makes the server log each statement of one database, from the next connection on. */
export async function logStatements(serverUrl: string, database: string): Promise<void> {
  await withClient(serverUrl, (client) =>
    client.query(`ALTER DATABASE ${database} SET log_statement = 'all'`),
  )
}

async function withClient<Result>(url: string, use: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await use(client)
  } finally {
    await client.end()
  }
}
