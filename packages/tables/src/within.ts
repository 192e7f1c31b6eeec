/**
 * The tables inside a transaction on the caller's own connection. Accepts the same values as `tx` of
 * `mill.enqueue`.
 */
import type Sqlite from 'better-sqlite3'
import type { SharedFile } from 'jobmill/sqlite'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  PostgresDialect,
  type QueryResult,
} from 'kysely'
import { connectionOf, dialectOn, notUsed, run, streamQuery } from './sqlite-dialect.ts'

type Row = Readonly<Record<string, unknown>>
type Query = (text: string, values: readonly unknown[]) => Promise<readonly Row[]>

/** On SQLite: a handle of the same file, from the same copy of better-sqlite3 as that of the store. */
export function withinSqlite<T>(
  tx: unknown,
  file: SharedFile,
  errorOf: (error: unknown) => unknown,
): Kysely<T> {
  const handle = file.within(tx) as Sqlite.Database
  const connection = connectionOf((text, parameters) => run(handle, text, parameters))
  const mapped: DatabaseConnection = {
    ...connection,
    executeQuery: (query) =>
      connection.executeQuery<never>(query).catch((error: unknown) => {
        throw errorOf(error)
      }),
  }
  return new Kysely<T>({ dialect: dialectOn(driverOf(mapped)) })
}

/**
 * On PostgreSQL: the statements of a `pg` client or of a function, as the store runs them. `whole` names the
 * integer columns that the caller's driver may return as strings.
 */
export function withinPostgres<T>(query: Query, whole: ReadonlySet<string>): Kysely<T> {
  const connection: DatabaseConnection = {
    async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
      const rows = await query(sql, parameters)
      return { rows: rows.map((row) => withNumbers(row, whole)) as R[] }
    },
    streamQuery,
  }
  const dialect = new PostgresDialect({ pool: notUsed })
  return new Kysely<T>({ dialect: Object.assign(dialect, { createDriver: () => driverOf(connection) }) })
}

function withNumbers(row: Row, whole: ReadonlySet<string>): Row {
  const texts = Object.entries(row).filter(([name, value]) => whole.has(name) && typeof value === 'string')
  return texts.length === 0
    ? row
    : { ...row, ...Object.fromEntries(texts.map(([name, value]) => [name, Number(value)])) }
}

async function never(): Promise<never> {
  throw new Error('the transaction belongs to the caller')
}

/** The caller begins and ends the transaction. */
function driverOf(connection: DatabaseConnection): Driver {
  return {
    async init() {},
    acquireConnection: async () => connection,
    async releaseConnection() {},
    beginTransaction: never,
    commitTransaction: never,
    rollbackTransaction: never,
    async destroy() {},
  }
}
