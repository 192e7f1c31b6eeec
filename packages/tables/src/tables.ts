/** Application tables next to a mill: same address, same clock, and one transaction for rows and jobs. */
import { Socket } from 'node:net'
import type { Store } from 'jobmill'
import { checkObjectKeys } from 'jobmill/internal'
import type { Tx } from 'jobmill/postgres'
import { CompiledQuery, Kysely, PostgresDialect, type RawBuilder, sql, type Transaction } from 'kysely'
import pg from 'pg'
import { migrate, type Step, type StepTools } from './migrate.ts'
import { type MissingTables, missingTables } from './missing-tables.ts'
import { type ErrorOf, type Place, placeOf, storeAt } from './place.ts'
import { checkEncoding, TYPES } from './postgres-client.ts'
import { withDeadline } from './postgres-deadline.ts'
import { sqliteDialect } from './sqlite-dialect.ts'
import { withinPostgres, withinSqlite } from './within.ts'

export interface TableOptions {
  /**
   * Names the migration table, `<app>_migration`. On PostgreSQL, the tables are in `<schema>_<app>`, where
   * `<schema>` is the schema of the mill.
   */
  readonly app: string
  readonly steps: readonly Step[]
  /** The number of connections to PostgreSQL (default 4). */
  readonly connections?: number
  /** The time limit of a statement on PostgreSQL, after which it is cancelled (default 30 s). */
  readonly deadlineMs?: number
  /** For tests: a clock that replaces the database clock. */
  readonly clock?: () => number
  /** Called when a connection to PostgreSQL breaks (default: ignored). */
  readonly onError?: (error: Error) => void
}

/**
 * Writes rows that the tables must always have, if they are missing. Runs at the end of each migration: at
 * open, and when the tables are created again because the schema was dropped or the file replaced.
 */
export type Fill<T> = (db: Transaction<T>) => Promise<unknown>

export interface Tables<T> extends StepTools {
  readonly db: Kysely<T>
  /** Milliseconds since the epoch by the database clock, for use inside statements. */
  readonly now: RawBuilder<number>
  /** Writes rows and jobs in one transaction. Pass `tx` to `mill.enqueue` and `complete`. */
  readonly transaction: <R>(work: (db: Transaction<T>, tx: never) => Promise<R>) => Promise<R>
  /**
   * The tables inside a transaction of the caller, passed as for `mill.enqueue`. The tables neither begin nor
   * end it. `whole` names the integer columns that the caller's driver may return as strings.
   */
  readonly within: (tx: unknown, whole?: ReadonlySet<string>) => Kysely<T>
  /** Migrates the tables. Call it at the start of every process. */
  readonly open: (fill?: Fill<T>) => Promise<void>
  /** Waits for statements in flight. On PostgreSQL, those that take longer than this fail (default 5 s). */
  readonly close: (withinMs?: number) => Promise<void>
}

/** A store and tables at the same address. */
export interface Database<T> {
  readonly place: Place
  /** Pass it to `jobmill({ store })`, which opens and closes it. */
  readonly store: Store<never>
  readonly tables: Tables<T>
}

const KEYS: (keyof TableOptions)[] = ['app', 'steps', 'connections', 'deadlineMs', 'clock', 'onError']
const STATEMENT_MS = 30_000
const CONNECT_MS = 10_000
const CLOSE_MS = 5_000
const SQLITE_NOW = sql<number>`CAST(unixepoch('subsec') * 1000 AS INTEGER)`
/**
 * As a subquery, PostgreSQL evaluates the clock once per statement and can use an index. A bare function call
 * is evaluated for every row.
 */
const POSTGRES_NOW = sql<number>`(SELECT (extract(epoch FROM clock_timestamp()) * 1000)::int8)`
const noRows = async (): Promise<void> => {}

export async function openTables<T>(address: string, options: TableOptions): Promise<Database<T>> {
  checkObjectKeys(options, 'options', KEYS)
  const place = placeOf(address)
  const { clock } = options
  const { store, errorOf } = await storeAt(place, clock === undefined ? {} : { clock })
  const tables =
    place.type === 'sqlite'
      ? await onSqlite<T>(place.file, options)
      : await onPostgres<T>(place, options, errorOf)
  return { place, store, tables }
}

const table = (name: string): RawBuilder<unknown> => sql.table(name)

async function onSqlite<T>(path: string, options: TableOptions): Promise<Tables<T>> {
  const { app, steps, clock } = options
  const { sharedFile, sqliteTxError } = await import('jobmill/sqlite')
  const file = await sharedFile(path, { table: `${app}_migration` })
  let fill: Fill<never> | null = null
  let migrated: unknown = null
  // Again for each new handle: the file may have been replaced by a backup from before a step.
  const dialect = sqliteDialect(file, async (handle, inTurn) => {
    if (fill === null || migrated === handle) return
    await migrate(inTurn, { app, schema: null, type: 'sqlite', table, steps, fill })
    migrated = handle
  })
  const db = new Kysely<T>({ dialect })
  return {
    db,
    type: 'sqlite',
    table,
    get now() {
      return nowOf(clock, SQLITE_NOW)
    },
    transaction: (work) => db.transaction().execute((trx) => work(trx, file.use() as never)),
    within: (tx) => withinSqlite<T>(tx, file, sqliteTxError),
    async open(rows = noRows) {
      fill = rows as unknown as Fill<never>
      await db.connection().execute(async () => {})
    },
    async close() {
      await db.destroy()
      file.close()
    },
  }
}

async function onPostgres<T>(
  { url, schema }: Place & { readonly type: 'postgres' },
  options: TableOptions,
  errorOf: ErrorOf,
): Promise<Tables<T>> {
  const { postgresTxQuery } = await import('jobmill/postgres')
  const { onError = () => {}, connections = 4, deadlineMs = STATEMENT_MS, app, steps, clock } = options
  const sockets = new Set<Socket>()
  const pool = new pg.Pool({
    connectionString: url,
    stream: () => {
      const socket = new Socket()
      sockets.add(socket.once('close', () => sockets.delete(socket)))
      return socket
    },
    max: connections,
    query_timeout: deadlineMs,
    connectionTimeoutMillis: CONNECT_MS,
    types: TYPES,
  })
  // Without a listener, a connection that the server closes would crash the process.
  pool.on('error', onError)
  // The same applies to a connection in use, whose user also gets the error from the failed statement.
  pool.on('connect', (client) => client.on('error', onError))
  const own = `${schema}_${app}`
  const tableOf = (name: string): RawBuilder<unknown> => table(`${own}.${name}`)
  const dialectOf = (missing?: MissingTables): PostgresDialect =>
    new PostgresDialect({ pool: withDeadline(pool, deadlineMs, errorOf, missing) })
  const migrating = new Kysely<never>({ dialect: dialectOf() }).withSchema(own)
  let fill: Fill<never> = noRows
  const migrateAll = (): Promise<void> =>
    migrate(migrating, { app, schema: own, type: 'postgres', table: tableOf, steps, fill })
  const db = new Kysely<T>({ dialect: dialectOf(missingTables(migrateAll, errorOf)) }).withSchema(own)
  const query =
    (trx: Transaction<T>) =>
    (text: string, values: unknown[]): Promise<unknown> =>
      trx.executeQuery(CompiledQuery.raw(text, values))
  return {
    db,
    type: 'postgres',
    table: tableOf,
    get now() {
      return nowOf(clock, POSTGRES_NOW)
    },
    transaction: (work) => db.transaction().execute((trx) => work(trx, query(trx) as never)),
    within: (tx, whole = new Set()) => withinPostgres<T>(postgresTxQuery(tx as Tx), whole).withSchema(own),
    async open(rows = noRows) {
      fill = rows as unknown as Fill<never>
      const client = await pool.connect().catch((error: unknown) => {
        throw errorOf(error)
      })
      try {
        await checkEncoding(client)
      } catch (error) {
        throw errorOf(error)
      } finally {
        client.release()
      }
      await migrateAll()
    },
    async close(withinMs = CLOSE_MS) {
      // The pool waits for connections in use, and a silent database holds them until their deadline.
      const late = setTimeout(() => sockets.forEach((socket) => socket.destroy()), withinMs)
      try {
        await db.destroy()
        // Kysely closes only a pool that it has used.
        if (!pool.ended) await pool.end()
      } finally {
        clearTimeout(late)
      }
    },
  }
}

function nowOf(clock: TableOptions['clock'], byDatabase: RawBuilder<number>): RawBuilder<number> {
  return clock === undefined ? byDatabase : sql<number>`${sql.lit(clock())}`
}
