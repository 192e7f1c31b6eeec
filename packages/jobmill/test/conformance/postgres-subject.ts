// The PostgreSQL store as a subject of the suite: one schema per test file, migrated once and emptied before
// each case.
import type { Socket } from 'node:net'
import pg from 'pg'
import { afterAll, beforeAll, inject } from 'vitest'
import { freshSchema } from '../../../../test/support/databases.ts'
import { keepSessionsHere } from '../../../../test/support/postgres/kept-sessions.ts'
import { postgres, type PostgresOptions } from '../../src/postgres.ts'
import { BATCH_FROM } from '../../src/store-postgres/claim/batches.ts'
import type { ConformanceSubject } from '../../../conformance/src/index.ts'
import type { FullStore } from '../../src/store/store.ts'

/**
 * On the current server, with sessions that the handles of a file share one after the other. Every claim
 * writes a batch, so that every case runs with jobs that have no row of their own.
 */
export function currentPostgresSubject(): PostgresSubject {
  const url = inject('postgresUrl')
  if (!inject('keepsSessions')) return postgresSubject(url, { batchFrom: 1 })
  const sessions = keepSessionsHere(url, { keepsStatements: true, socket: inject('postgresSocket') })
  afterAll(sessions.stop)
  return postgresSubject(url, { stream: sessions.stream, batchFrom: 1 })
}

/** The same database, with batches only for as many jobs as in production. */
export function withUsualBatches(subject: PostgresSubject): ConformanceSubject<FullStore> {
  return { ...subject, handle: (options) => subject.handle({ ...options, batchFrom: BATCH_FROM }) }
}

export interface PostgresSubject extends ConformanceSubject<FullStore> {
  readonly handle: (options: Pick<PostgresOptions, 'clock' | 'batchFrom'>) => FullStore
}

interface SubjectOptions {
  /** The url goes through a pooler: only the notifier and the cleanup bypass it. */
  readonly direct?: string
  /** Replaces the sockets to the server. */
  readonly stream?: () => Socket
  /** The number of jobs from which a claim writes a batch (default: as in production). */
  readonly batchFrom?: number
}

export function postgresSubject(
  url: string,
  { direct = url, stream, batchFrom = BATCH_FROM }: SubjectOptions = {},
): PostgresSubject {
  const settings: pg.ClientConfig = { connectionString: url, ...(stream !== undefined && { stream }) }
  const schema = freshSchema(direct, 'conformance')
  const client = new pg.Client({ connectionString: direct })
  let emptying = ''
  beforeAll(async () => {
    emptying = await prepare(direct, schema)
    await client.connect()
  })
  afterAll(() => client.end())
  return {
    name: 'postgres',
    // One connection for all cases, because its caches are warm.
    fresh: () => client.query(emptying).then(() => undefined),
    handle: (options) =>
      stream === undefined
        ? postgres(url, { schema, notifier: direct, batchFrom, ...options })
        : postgres({ pool: { options: settings }, schema, batchFrom, ...options }),
    transaction: (work, end) =>
      onClient(settings, async (client) => {
        await client.query('begin')
        const result = await work(client)
        await client.query(end)
        return result
      }),
  }
}

/**
 * Migrates, and returns the statements that restore the schema to the state after its migrations. That takes
 * a few milliseconds; migrating again for every case takes ten times as long. Rows of migrations are saved.
 */
async function prepare(url: string, schema: string): Promise<string> {
  const store = postgres(url, { schema })
  await store.open()
  await store.close()
  const aside = freshSchema(url, 'aside')
  return onClient({ connectionString: url }, async (client) => {
    await client.query(`create schema ${aside}`)
    const { rows } = await client.query<{ name: string }>(
      `select tablename as name from pg_tables where schemaname = $1`,
      [schema],
    )
    const filled: string[] = []
    for (const { name } of rows) {
      const { rowCount } = await client.query(`create table ${aside}.${name} as table ${schema}.${name}`)
      if (rowCount !== 0) filled.push(name)
    }
    return [
      'begin',
      // Without triggers the order of the tables does not matter; the rows are copied as they were.
      'set local session_replication_role = replica',
      ...rows.map(({ name }) => `delete from ${schema}.${name}`),
      ...filled.map((name) => `insert into ${schema}.${name} overriding system value table ${aside}.${name}`),
      'commit',
    ].join('; ')
  })
}

async function onClient<T>(settings: pg.ClientConfig, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(settings)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
