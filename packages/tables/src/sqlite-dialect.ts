/**
 * Kysely on a SQLite file that the mill and other processes also write. A transaction takes the write lock
 * when it begins, so another writer cannot make it fail halfway. A statement that finds the file locked is
 * retried from the event loop, because the lock holder may need the same loop to finish.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type Sqlite from 'better-sqlite3'
import type { SharedFile } from 'jobmill/sqlite'
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteDialect,
} from 'kysely'
import { statementsOf } from './statements.ts'

const RETRY_MS = 5
const GIVE_UP_MS = 10_000

/**
 * Runs before each transaction and each statement outside of one. `db` is for use in this function: it does
 * not wait for its turn.
 */
export type Ready = (handle: Sqlite.Database, db: Kysely<never>) => Promise<void>

export function sqliteDialect(file: SharedFile, ready: Ready): Dialect {
  let handle = file.use() as Sqlite.Database
  const connection = connectionOf((text, parameters) => runChecked(file, handle, text, parameters))
  const send = (text: string) => async (): Promise<void> =>
    void (await connection.executeQuery(CompiledQuery.raw(text)))
  const inTurn: Driver = {
    async init() {},
    acquireConnection: async () => connection,
    async releaseConnection() {},
    beginTransaction: send('BEGIN IMMEDIATE'),
    commitTransaction: send('COMMIT'),
    async rollbackTransaction() {
      // After some errors, such as a full disk, SQLite has already rolled back.
      if (handle.inTransaction) handle.exec('ROLLBACK')
    },
    async destroy() {},
  }
  const db = new Kysely<never>({ dialect: dialectOn(inTurn) })
  // There is one handle, so transactions on it run one at a time.
  let last: Promise<void> = Promise.resolve()
  let free: (() => void) | null = null
  return dialectOn({
    ...inTurn,
    async acquireConnection() {
      const before = last
      const turn = Promise.withResolvers<void>()
      last = turn.promise
      await before
      free = turn.resolve
      try {
        handle = (await whileBusy(() => file.use())) as Sqlite.Database
        await ready(handle, db)
      } catch (error) {
        turn.resolve()
        throw error
      }
      return connection
    },
    async releaseConnection() {
      free?.()
    },
  })
}

/** The dialect of Kysely, without its driver. */
export function dialectOn(driver: Driver): Dialect {
  const dialect = new SqliteDialect({ database: notUsed })
  return Object.assign(dialect, { createDriver: () => driver, createAdapter: () => new OwnTurns() })
}

/**
 * The drivers queue calls on their own. The queue of Kysely for a single connection stops forever when a
 * connection cannot be acquired, for example while the file is missing.
 */
class OwnTurns extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true
  }
}

/** Used instead of a connection of Kysely. */
export async function notUsed(): Promise<never> {
  throw new Error('the driver has its own connection')
}

/** Only what is in the file at the path may be returned or acknowledged. */
function runChecked(
  file: SharedFile,
  handle: Sqlite.Database,
  text: string,
  parameters: readonly unknown[],
): Ran {
  const isCommit = text === 'COMMIT'
  if (isCommit || !handle.inTransaction) file.check()
  const { isWrite, ...ran } = run(handle, text, parameters)
  if ((isCommit || isWrite) && !handle.inTransaction) file.checkCommitted()
  return ran
}

interface Ran {
  readonly rows: unknown[]
  readonly numAffectedRows?: bigint
}

const prepared = new WeakMap<Sqlite.Database, (text: string) => Sqlite.Statement>()

export function run(
  handle: Sqlite.Database,
  text: string,
  parameters: readonly unknown[],
): Ran & { readonly isWrite: boolean } {
  const statements = prepared.get(handle) ?? statementsOf(handle)
  prepared.set(handle, statements)
  const statement = statements(text)
  const isWrite = !statement.readonly
  if (statement.reader) return { isWrite, rows: statement.all(...parameters) }
  const { changes } = statement.run(...parameters)
  return { isWrite, rows: [], numAffectedRows: BigInt(changes) }
}

/** `send` runs one statement. */
export function connectionOf(
  send: (text: string, parameters: readonly unknown[]) => Ran,
): DatabaseConnection {
  return {
    executeQuery: <R>({ sql, parameters }: CompiledQuery) =>
      whileBusy(() => send(sql, parameters) as QueryResult<R>),
    streamQuery,
  }
}

// eslint-disable-next-line require-yield
export async function* streamQuery(): AsyncGenerator<never, void, undefined> {
  throw new Error('streaming is not supported: read in pages')
}

async function whileBusy<T>(work: () => T): Promise<T> {
  const giveUpAt = performance.now() + GIVE_UP_MS
  for (;;) {
    try {
      return work()
    } catch (error) {
      if (!isBusy(error) || performance.now() > giveUpAt) throw error
    }
    await pause(RETRY_MS)
  }
}

/**
 * STORE_BUSY is the error of a file that replaced the open one and is locked. Waiting does not help a
 * transaction that has read an older state of the file.
 */
function isBusy(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false
  if (error.code === 'STORE_BUSY') return true
  return error.code !== 'SQLITE_BUSY_SNAPSHOT' && String(error.code).startsWith('SQLITE_BUSY')
}
