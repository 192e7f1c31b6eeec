/**
 * Ways to move a database back in time: a file backup, a database copy, a lagging standby. And one that must
 * not: a synchronous standby.
 */
import { renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { type PostgresServer, startPostgres } from '../../../test/support/postgres/postgres-server.ts'
import { asOperator } from '../nemeses/server.ts'
import { type Proxy, proxy as createProxy } from '../proxy.ts'
import type { RoundOptions } from './round.ts'
import type { TimeMachine } from './time-travel.ts'

type Closing = RoundOptions['closing']

/** A SQLite backup that is moved into place, as by an operator who did not stop all processes. */
export function restoredFile(folder: string): TimeMachine {
  const at = path.join(folder, 'jobs.db')
  return {
    place: { store: 'sqlite', at },
    async remember() {
      const source = new Database(at)
      await source.backup(`${at}.backup`)
      source.close()
    },
    goBack() {
      for (const log of ['-wal', '-shm']) rmSync(`${at}${log}`, { force: true })
      renameSync(`${at}.backup`, at)
      return Promise.resolve()
    },
  }
}

const SETTINGS = { fsync: 'on', max_connections: '60' }
const END_SESSIONS = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'jobs'`

/** A port without a listener. */
const NOWHERE = 1

/** A copy of the database takes over its name. */
export async function restoredDatabase(closing: Closing): Promise<TimeMachine> {
  const server = await startPostgres({ binaries: 'current', settings: SETTINGS })
  closing(() => server.stop())
  await asOperator(server.url, (client) => client.query('CREATE DATABASE jobs'))
  const proxy = await createProxy(server.port)
  closing(() => proxy.close())
  // Block connections during the rename: a client would get "database does not exist".
  const alone = async (statements: readonly string[]): Promise<void> => {
    proxy.pointTo(NOWHERE)
    proxy.cut()
    await withoutSessions(server, statements)
    proxy.pointTo(server.port)
  }
  return {
    place: { store: 'postgres', at: `postgres://postgres@127.0.0.1:${proxy.port}/jobs` },
    remember: () => alone(['CREATE DATABASE backup TEMPLATE jobs']),
    goBack: () =>
      alone([`DO $$ BEGIN ALTER DATABASE jobs RENAME TO old; ALTER DATABASE backup RENAME TO jobs; END $$`]),
  }
}

/** Neither a copy nor a rename is possible while sessions are open. */
async function withoutSessions({ url }: PostgresServer, statements: readonly string[]): Promise<void> {
  await asOperator(url, async (client) => {
    for (const statement of statements) {
      for (let tries = 1; ; tries += 1) {
        await client.query(END_SESSIONS)
        try {
          await client.query(statement)
          break
        } catch (error) {
          // A terminated session takes a moment to end.
          if ((error as { code?: string }).code !== '55006' || tries === 100) throw error
          await sleep(50)
        }
      }
    }
  })
}

/** An asynchronous standby that gets no more data from the remembered time on. */
export async function laggingStandby(closing: Closing): Promise<TimeMachine> {
  const { replication, ...servers } = await withStandby(closing, { wal_keep_size: '256MB' })
  return {
    ...failsOver(servers),
    async remember() {
      await caughtUp(servers.primary, servers.standby)
      replication.silence('both')
    },
  }
}

/** Each way. Without a wait for the standby, the server would acknowledge writes that it has not sent. */
const REPLICATION_DELAY_MS = 50

/**
 * A synchronous standby, by the settings that the guide recommends, on a network that is slower than the disk
 * of the primary.
 */
export async function synchronousStandby(closing: Closing): Promise<TimeMachine> {
  const { replication, ...servers } = await withStandby(closing, {
    synchronous_standby_names: '*',
    synchronous_commit: 'on',
  })
  replication.delay(REPLICATION_DELAY_MS)
  return {
    ...failsOver(servers),
    async remember() {
      const { rows } = await asOperator(servers.primary.url, (client) =>
        client.query<{ state: string }>('SELECT sync_state AS state FROM pg_stat_replication'),
      )
      if (rows[0]?.state !== 'sync')
        throw new Error(`the standby is not synchronous: ${JSON.stringify(rows)}`)
    },
  }
}

interface Replicated {
  readonly primary: PostgresServer
  readonly standby: PostgresServer
  /** All processes connect through it. */
  readonly clients: Proxy
}

/** The standby follows through a proxy of its own, `replication`. */
async function withStandby(
  closing: Closing,
  settings: Readonly<Record<string, string>>,
): Promise<Replicated & { readonly replication: Proxy }> {
  const primary = await startPostgres({ binaries: 'current', settings: { ...SETTINGS, ...settings } })
  closing(() => primary.stop())
  await primary.shutDown()
  const replication = await createProxy(primary.port)
  closing(() => replication.close())
  const standby = await startPostgres({
    binaries: 'current',
    // The default reconnect interval of 5 s would block synchronous commits for that long.
    settings: { ...SETTINGS, wal_retrieve_retry_interval: '100ms' },
    copy: { data: primary.data, follows: `host=127.0.0.1 port=${replication.port} user=postgres` },
  })
  closing(() => standby.stop())
  await primary.restart()
  const clients = await createProxy(primary.port)
  closing(() => clients.close())
  return { primary, standby, clients, replication }
}

/** The primary is killed under load and stays down. The standby takes over its address. */
function failsOver({ primary, standby, clients }: Replicated): Omit<TimeMachine, 'remember'> {
  return {
    place: { store: 'postgres', at: `postgres://postgres@127.0.0.1:${clients.port}/postgres` },
    async goBack() {
      await primary.kill()
      await asOperator(standby.url, (client) => client.query('SELECT pg_promote(true, 30)'))
      clients.pointTo(standby.port)
    },
  }
}

async function caughtUp(primary: PostgresServer, standby: PostgresServer): Promise<void> {
  const { rows } = await asOperator(primary.url, (client) =>
    client.query<{ at: string }>('SELECT pg_current_wal_lsn() AS at'),
  )
  const deadline = performance.now() + 30_000
  await asOperator(standby.url, async (client) => {
    for (;;) {
      const { rows: lsnRows } = await client.query<{ is: boolean }>(
        'SELECT coalesce(pg_last_wal_receive_lsn() >= $1::pg_lsn, false) AS is',
        [rows[0]?.at],
      )
      if (lsnRows[0]?.is === true) return
      if (performance.now() > deadline) throw new Error('the standby does not catch up')
      await sleep(20)
    }
  })
}
