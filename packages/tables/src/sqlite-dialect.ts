/**
 * Kysely on a SQLite file that the mill and other processes also write. A transaction takes the write lock
 * when it begins, so another writer cannot make it fail halfway. A statement that finds the file locked is
 * retried from the event loop, because the lock holder may need the same loop to finish.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type Sqlite from 'better-sqlite3'
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import { statementsOf } from './statements.ts'

const RETRY_MS = 5
const GIVE_UP_MS = 10_000

export function sqliteDialect(handle: Sqlite.Database): Dialect {
  return dialectOn(driverOn(handle))
}

export function dialectOn(driver: Driver): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => driver,
    createIntrospector: (db: Kysely<unknown>) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

function driverOn(handle: Sqlite.Database): Driver {
  const connection = connectionOf(handle)
  const send = (text: string) => async (): Promise<void> =>
    void (await connection.executeQuery(CompiledQuery.raw(text)))
  // There is one handle, so transactions on it run one at a time.
  let last: Promise<void> = Promise.resolve()
  let free: (() => void) | null = null
  return {
    async init() {},
    async acquireConnection() {
      const before = last
      const turn = Promise.withResolvers<void>()
      last = turn.promise
      await before
      free = turn.resolve
      return connection
    },
    async releaseConnection() {
      free?.()
    },
    beginTransaction: send('BEGIN IMMEDIATE'),
    commitTransaction: send('COMMIT'),
    async rollbackTransaction() {
      // After some errors, such as a full disk, SQLite has already rolled back.
      if (handle.inTransaction) handle.exec('ROLLBACK')
    },
    async destroy() {
      handle.close()
    },
  }
}

export function connectionOf(handle: Sqlite.Database): DatabaseConnection {
  const prepared = statementsOf(handle)
  return {
    async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
      const giveUpAt = performance.now() + GIVE_UP_MS
      for (;;) {
        try {
          const statement = prepared(sql)
          if (statement.reader) return { rows: statement.all(...parameters) as R[] }
          const { changes } = statement.run(...parameters)
          return { rows: [], numAffectedRows: BigInt(changes) }
        } catch (error) {
          if (!isBusy(error) || performance.now() > giveUpAt) throw error
        }
        await pause(RETRY_MS)
      }
    },
    // eslint-disable-next-line require-yield
    async *streamQuery() {
      throw new Error('streaming is not supported: read in pages')
    },
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY')
}
