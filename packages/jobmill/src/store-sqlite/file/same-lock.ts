/**
 * Checks whether a handle of the user has the same file open as a connection of ours. A path does not prove
 * that, because the file may have been replaced since the handle was opened. Equal content does not prove it
 * either, because it may be a copy. Connections to the same file exclude each other from writing, so their
 * locks are compared.
 */
import type { Connection } from '../connection/connection.ts'
import { isBusy } from '../connection/errors.ts'
import { pragma, type SqliteHandle, statementsOf } from '../connection/handle.ts'
import { fileId, filePaths } from './file-paths.ts'
import { listsLocks, locksForWriting } from './old-logs.ts'

/** The connection with which each handle was compared: what a handle has open never changes. */
const compared = new WeakMap<SqliteHandle, Connection>()

/** The handle must have a transaction open. Afterwards, it has the write lock of its file. */
export function isSameFile(handle: SqliteHandle, own: Connection): boolean {
  if (handle === own || compared.get(handle) === own) return true
  const path = pathOf(own)
  if (path === '' || fileId(pathOf(handle)) !== fileId(path)) return false
  lock(handle)
  // The locks cannot be compared while our connection is in a transaction of its own.
  if (own.inTransaction) return true
  if (canLock(own) || isLockedElsewhere(path)) return false
  compared.set(handle, own)
  return true
}

/** Writes the same number again, because any write takes the lock. */
function lock(handle: SqliteHandle): void {
  const version = pragma<number>(handle, 'user_version')
  handle.exec(`SAVEPOINT jobmill; PRAGMA user_version = ${version}; ROLLBACK TO jobmill; RELEASE jobmill`)
}

function canLock(own: Connection): boolean {
  const timeout = pragma<number>(own, 'busy_timeout')
  try {
    own.exec('PRAGMA busy_timeout = 0; BEGIN IMMEDIATE; ROLLBACK')
    return true
  } catch (error) {
    if (isBusy(error)) return false
    throw error
  } finally {
    own.exec(`PRAGMA busy_timeout = ${timeout}`)
  }
}

/** Another process has the lock, so the handle has the lock of another file. */
function isLockedElsewhere(path: string): boolean {
  const paths = filePaths(path)
  return listsLocks(paths) && !locksForWriting(paths)
}

/** Empty for a database in memory. */
function pathOf(handle: SqliteHandle): string {
  const files = `SELECT file FROM pragma_database_list WHERE name = 'main'`
  return (statementsOf(handle)(files).get() as { readonly file: string }).file
}
