/**
 * Runs operations inside the user's transaction, on the user's handle: done when the call returns, visible
 * after the user's commit. A savepoint keeps each call all-or-nothing for a user who catches its error and
 * continues.
 */
import { JobmillError, quote } from '../job/errors.ts'
import type { Connection } from './connection/connection.ts'
import { historyOf } from './connection/counter.ts'
import { userHandleError } from './connection/errors.ts'
import { loadSqlite } from './connection/driver.ts'
import { type SqliteHandle, statementsOf } from './connection/handle.ts'
import { isSameFile } from './file/same-lock.ts'
import { Memory, type Work, workOn } from './work.ts'

/** `own` is the connection of the store. */
export function inUserTransaction<T>(tx: unknown, own: Connection, now: number, verb: (work: Work) => T): T {
  const handle = checkHandle(tx)
  try {
    const sql = statementsOf(handle)
    if (historyOf(sql) !== historyOf(statementsOf(own)) || !isSameFile(handle, own)) throw otherFile()
    sql('SAVEPOINT jobmill').run()
    try {
      // With an empty cache: names and leases of this transaction are not valid until the user commits.
      const { values } = workOn(handle, now, new Memory(), [verb])
      sql('RELEASE jobmill').run()
      return values[0] as T
    } catch (error) {
      // Some errors end the user's transaction on their own.
      if (handle.inTransaction === true) handle.exec('ROLLBACK TO jobmill; RELEASE jobmill')
      throw error
    }
  } catch (error) {
    throw userHandleError(error)
  }
}

export function checkHandle(tx: unknown): SqliteHandle {
  if (isForPostgres(tx))
    throw invalid('is a PostgreSQL transaction, but this store is SQLite', tx, USE_POSTGRES)
  const handle = tx as Partial<SqliteHandle> | null | undefined
  if (typeof handle?.prepare !== 'function' || typeof handle.exec !== 'function') {
    const fix = 'Pass the better-sqlite3 database on which the transaction is open'
    throw invalid('cannot run statements', tx, fix)
  }
  // POSIX locks belong to the process: two copies of SQLite in it do not exclude each other.
  if (!(tx instanceof loadSqlite()))
    throw invalid('was not opened with the copy of better-sqlite3 that the store uses', tx, USE_COPY)
  if (handle.open === false) throw invalid('is closed', tx, 'Pass an open database')
  if (handle.inTransaction !== true) {
    const fix =
      'Call the method after BEGIN, or inside db.transaction(() => { … })() and await the returned promise afterwards'
    throw invalid('has no open transaction', tx, fix)
  }
  return handle as SqliteHandle
}

/**
 * After the file was replaced, the user's handle still has the old one open, and its commits would be
 * invisible to other processes.
 */
export function otherFile(): JobmillError {
  return new JobmillError('TX_INVALID', 'is a transaction on a different database file', {
    field: 'tx',
    fix: 'Close this handle, reopen the file and retry the transaction',
  })
}

const USE_COPY =
  'Open it with the better-sqlite3 that Jobmill uses: install the version that npm ls better-sqlite3 prints for jobmill'

const USE_POSTGRES =
  'Pass a better-sqlite3 database with an open transaction, or use a PostgreSQL store. In tests, pass testMill a PostgreSQL store: store: (platform) => postgres(url, { schema, clock: platform.now })'

/** A `pg` client, or the function that runs statements through an ORM. */
function isForPostgres(tx: unknown): boolean {
  if (typeof tx === 'function') return true
  if (typeof tx !== 'object' || tx === null || 'prepare' in tx) return false
  return 'query' in tx && typeof tx.query === 'function'
}

function invalid(what: string, tx: unknown, fix: string): JobmillError {
  const value = typeof tx === 'object' && tx !== null ? {} : { value: quote(tx) }
  return new JobmillError('TX_INVALID', what, { field: 'tx', ...value, fix })
}
