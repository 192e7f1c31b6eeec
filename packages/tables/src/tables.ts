/** Tables of an application beside its mill: opened by the same address, asked by the same clock, changed in one transaction with jobs. */
import Sqlite from 'better-sqlite3'
import type { Store } from 'jobmill'
import { CompiledQuery, Kysely, PostgresDialect, type RawBuilder, sql, type Transaction } from 'kysely'
import pg from 'pg'
import { migrate, type Step, type StepTools } from './migrate.ts'
import { type ErrorOf, type Place, placeOf, storeAt } from './place.ts'
import { makePrivate } from './private-file.ts'
import { withDeadline } from './postgres-deadline.ts'
import { sqliteDialect } from './sqlite-dialect.ts'
import { withinPostgres, withinSqlite } from './within.ts'

export interface TableOptions {
  /** What its tables begin with: on PostgreSQL they are in a schema of their own, called after the mill's and this. */
  readonly app: string
  readonly steps: readonly Step[]
  /** Connections to PostgreSQL (default 4). */
  readonly connections?: number
  /** How long a statement may take on PostgreSQL before it is cancelled (default 30 s): nothing waits for ever. */
  readonly deadlineMs?: number
  /** For tests: their now instead of the database's. */
  readonly clock?: () => number
  /** Hears of connections that break while nobody uses them (default: nobody). */
  readonly onError?: (error: Error) => void
}

export interface Tables<T> extends StepTools {
  readonly db: Kysely<T>
  /** Milliseconds since the epoch by the database's clock, for use inside of statements. */
  readonly now: RawBuilder<number>
  /** `tx` is what `mill.enqueue` and `complete` take: jobs and rows are written together, or not at all. */
  readonly transaction: <R>(work: (db: Transaction<T>, tx: never) => Promise<R>) => Promise<R>
  /**
   * The tables inside a transaction of the caller's, given as `mill.enqueue` takes it: nothing is begun or ended. `whole` names the columns that hold whole numbers,
   * which the caller's driver may return as text.
   */
  readonly within: (tx: unknown, whole?: ReadonlySet<string>) => Kysely<T>
  /** Brings the tables up to date. Every process calls it at its start. */
  readonly open: () => Promise<void>
  readonly close: () => Promise<void>
}

/** A place that has both. */
export interface Database<T> {
  readonly place: Place
  /** For `jobmill({ store })`, which opens and closes it. */
  readonly store: Store<never>
  readonly tables: Tables<T>
}

const STATEMENT_MS = 30_000
const CONNECT_MS = 10_000
/** Longer waits are made in the event loop. */
const BUSY_MS = 5
const INT8 = 20

export async function openTables<T>(address: string, options: TableOptions): Promise<Database<T>> {
  const place = placeOf(address)
  const { clock } = options
  if (place.type === 'sqlite') await makePrivate(place.file)
  const { store, errorOf } = await storeAt(place, clock === undefined ? {} : { clock })
  const tables =
    place.type === 'sqlite'
      ? onSqlite<T>(place.file, options, errorOf)
      : onPostgres<T>(place, options, errorOf)
  return { place, store, tables }
}

function handleOf(file: string, errorOf: ErrorOf): Sqlite.Database {
  try {
    const handle = new Sqlite(file, { timeout: BUSY_MS })
    handle.pragma('journal_mode = WAL')
    // What was acknowledged must be there after a power cut.
    handle.pragma('synchronous = FULL')
    handle.pragma('foreign_keys = ON')
    return handle
  } catch (error) {
    throw errorOf(error)
  }
}

function onSqlite<T>(file: string, options: TableOptions, errorOf: ErrorOf): Tables<T> {
  const handle = handleOf(file, errorOf)
  const db = new Kysely<T>({ dialect: sqliteDialect(handle) })
  const now = sql<number>`CAST(unixepoch('subsec') * 1000 AS INTEGER)`
  return tablesOf(db, {
    ...options,
    type: 'sqlite',
    schema: null,
    databaseNow: now,
    txOf: () => handle,
    within: (tx) => withinSqlite<T>(tx),
    reach: async () => {},
    end: async () => void handle.close(),
  })
}

function onPostgres<T>(
  { url, schema }: Place & { readonly type: 'postgres' },
  options: TableOptions,
  errorOf: ErrorOf,
): Tables<T> {
  const { onError = () => {}, connections = 4, deadlineMs = STATEMENT_MS, app } = options
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    query_timeout: deadlineMs,
    connectionTimeoutMillis: CONNECT_MS,
    // Counts and instants are whole numbers well below 2^53.
    types: {
      getTypeParser: (oid: number, format?: 'text' | 'binary'): ((text: string) => unknown) =>
        oid === INT8 ? Number : (pg.types.getTypeParser(oid, format) as (text: string) => unknown),
    },
  })
  // Without it a connection that the server ends takes the process down.
  pool.on('error', onError)
  // And one that is in use: whoever uses it hears of it by its statement.
  pool.on('connect', (client) => client.on('error', onError))
  const db = new Kysely<T>({
    dialect: new PostgresDialect({ pool: withDeadline(pool, deadlineMs, errorOf) }),
  }).withSchema(`${schema}_${app}`)
  return tablesOf(db, {
    ...options,
    type: 'postgres',
    schema: `${schema}_${app}`,
    // As a query of its own it is asked once for a statement, and can be looked for in an index; the function by itself is asked for every row.
    databaseNow: sql<number>`(SELECT (extract(epoch FROM clock_timestamp()) * 1000)::int8)`,
    within: (tx, whole) => withinPostgres<T>(tx, whole).withSchema(`${schema}_${app}`),
    async reach() {
      const client = await pool.connect().catch((error: unknown) => {
        throw errorOf(error)
      })
      client.release()
    },
    end: async () => {
      if (!pool.ended) await pool.end()
    },
    txOf: (trx) => (text: string, values: unknown[]) => trx.executeQuery(CompiledQuery.raw(text, values)),
  })
}

interface Made<T> extends TableOptions {
  readonly type: Place['type']
  readonly schema: string | null
  readonly databaseNow: RawBuilder<number>
  readonly txOf: (trx: Transaction<T>) => unknown
  readonly within: (tx: unknown, whole: ReadonlySet<string>) => Kysely<T>
  /** Says in words why the database cannot be had. */
  readonly reach: () => Promise<void>
  /** Kysely ends only what it has used. */
  readonly end: () => Promise<void>
}

function tablesOf<T>(
  db: Kysely<T>,
  { app, steps, type, schema, clock, databaseNow, txOf, within, reach, end }: Made<T>,
): Tables<T> {
  const table = (name: string): RawBuilder<unknown> => sql.table(schema === null ? name : `${schema}.${name}`)
  return {
    db,
    type,
    table,
    get now() {
      return clock === undefined ? databaseNow : sql<number>`${sql.lit(clock())}`
    },
    transaction: (work) => db.transaction().execute((trx) => work(trx, txOf(trx) as never)),
    within: (tx, whole = new Set()) => within(tx, whole),
    async open() {
      await reach()
      await migrate(db as unknown as Kysely<never>, { app, schema, type, table, steps })
    },
    async close() {
      await db.destroy()
      await end()
    },
  }
}
