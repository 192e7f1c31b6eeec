/**
 * A new database of each kind. Any number of stores and mills of a test can use it, on the clock of that
 * test.
 */
import Database from 'better-sqlite3'
import pg from 'pg'
import { inject, onTestFinished } from 'vitest'
import { freshFile } from '../../../../test/support/databases.ts'
import { recycledSchema } from '../../../../test/support/postgres/recycled-schemas.ts'
import type { FullStore } from '../../src/index.ts'
import { postgres } from '../../src/postgres.ts'
import { sqlite } from '../../src/sqlite.ts'
import {
  type Faults,
  faultyStore,
  type TestMill,
  testMill,
  type TestMillOptions,
  type TestPlatform,
} from '../../src/testing/index.ts'

type Options = Omit<TestMillOptions<FullStore>, 'store'>

export interface Place {
  /** Another store on the database, as another process would open it. */
  readonly store: (clock: Pick<TestPlatform, 'now'>) => FullStore
  /** Another connection of the application, with a new table unless one is named. */
  readonly connect: (table?: string) => Promise<Client>
  /** A mill on its own store; stopped at the end of the test. */
  readonly mill: (options?: Options) => Promise<TestMill>
}

/** A database connection of the application, with its own table. */
export interface Client {
  readonly table: string
  /** The value to pass as `tx`. */
  readonly tx: unknown
  readonly begin: () => Promise<void>
  readonly insert: (name: string) => Promise<void>
  readonly commit: () => Promise<void>
  readonly rollBack: () => Promise<void>
  /** The rows of the table that this connection sees. */
  readonly names: () => Promise<string[]>
}

export interface Places {
  readonly name: 'sqlite' | 'postgres'
  readonly create: () => Place
}

function place(store: Place['store'], connect: Place['connect']): Place {
  return {
    store,
    connect,
    async mill(options = {}) {
      const mill = await testMill<FullStore>({ ...options, store })
      onTestFinished(() => mill[Symbol.asyncDispose]())
      return mill
    },
  }
}

export const places: readonly Places[] = [
  {
    name: 'sqlite',
    create() {
      const path = freshFile()
      return place(
        ({ now }) => sqlite(path, { clock: now }),
        async (table) => sqliteClient(path, table),
      )
    },
  },
  {
    name: 'postgres',
    create() {
      const url = inject('keptPostgresUrl')
      const schema = recycledSchema(url, 'runtime')
      // Without the PostgreSQL notifier: it works in real time, and these tests use a fake clock.
      return place(
        ({ now }) => postgres(url, { schema, clock: now, notifier: false }),
        (table) => postgresClient(url, schema, table),
      )
    },
  },
]

export interface FaultyMill extends TestMill {
  readonly store: FullStore & Faults
}

/** A mill whose store fails as the test plans. */
export async function faultyMill(at: Place, options: Options = {}): Promise<FaultyMill> {
  const mill = (await testMill<FullStore & Faults>({
    ...options,
    store: (platform) => faultyStore(at.store(platform)),
  })) as FaultyMill
  onTestFinished(async () => {
    mill.store.clear()
    await mill[Symbol.asyncDispose]()
  })
  return mill
}

let tables = 0
const freshTable = (): string => `person_${(tables += 1)}`

function sqliteClient(path: string, table = freshTable()): Client {
  const db = new Database(path)
  onTestFinished(() => void db.close())
  db.exec(`CREATE TABLE IF NOT EXISTS ${table} (name TEXT)`)
  return {
    table,
    tx: db,
    begin: async () => void db.exec('BEGIN IMMEDIATE'),
    insert: async (name) => void db.prepare(`INSERT INTO ${table} VALUES (?)`).run(name),
    commit: async () => void db.exec('COMMIT'),
    rollBack: async () => void db.exec('ROLLBACK'),
    names: async () => db.prepare(`SELECT name FROM ${table} ORDER BY name`).pluck().all() as string[],
  }
}

async function postgresClient(url: string, schema: string, table = freshTable()): Promise<Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  await client.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`)
  await client.query(`CREATE TABLE IF NOT EXISTS ${schema}.${table} (name text)`)
  return {
    table,
    tx: client,
    begin: async () => void (await client.query('BEGIN')),
    insert: async (name) => void (await client.query(`INSERT INTO ${schema}.${table} VALUES ($1)`, [name])),
    commit: async () => void (await client.query('COMMIT')),
    rollBack: async () => void (await client.query('ROLLBACK')),
    async names() {
      const rows = await client.query<{ name: string }>(`SELECT name FROM ${schema}.${table} ORDER BY name`)
      return rows.rows.map(({ name }) => name)
    },
  }
}
