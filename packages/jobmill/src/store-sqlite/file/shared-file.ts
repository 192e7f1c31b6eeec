/**
 * A connection for application tables in the file of a store, with the checks of the store: a write is
 * acknowledged only if it is in the file at the path, and the file is reopened after it was replaced.
 */
import { resolve } from 'node:path'
import { systemPlatform } from '../../platform/platform.ts'
import { storeClosed } from '../../store/lifecycle.ts'
import { checkOldLogs, type Connection, openConnection, type OpenOptions } from '../connection/connection.ts'
import { historyOf, markLoss } from '../connection/counter.ts'
import { isSnapshotStale, userHandleError } from '../connection/errors.ts'
import { statementsOf, type SqliteHandle } from '../connection/handle.ts'
import { databaseBytes, openPatiently } from '../live.ts'
import { checkOurs, type Opened, type ReopenSettings, reopening } from './reopen.ts'
import { fileChanged, openFiles } from './same-file.ts'
import { isSameFile } from './same-lock.ts'
import { checkHandle, otherFile } from '../tx.ts'

export interface SharedFileOptions {
  /** The name of a table of the application. A file without it and without Jobmill tables is not reopened. */
  readonly table: string
}

export interface SharedFile {
  /**
   * The better-sqlite3 handle, a new one after the file was reopened. Throws while the file at the path
   * cannot be used. Call it only between transactions.
   */
  readonly use: () => unknown
  /** Throws if the file has changed. Call it before each read, write and commit. */
  readonly check: () => void
  /** The same after a commit: its outcome is then unknown. */
  readonly checkCommitted: () => void
  /** Checks that a handle of the caller has a transaction open on the same file. */
  readonly within: (tx: unknown) => unknown
  readonly close: () => void
}

/** How long opening waits for other processes. */
const OPEN_MS = 5_000

export async function sharedFile(given: string, { table }: SharedFileOptions): Promise<SharedFile> {
  const path = given.trim() === ':memory:' ? ':memory:' : resolve(given.trim())
  const settings: ReopenSettings = {
    path,
    durability: 'full',
    platform: systemPlatform,
    busyDeadlineMs: OPEN_MS,
  }
  const first = await openPatiently(settings, () => openedOn(path, connectionOf(settings)))
  const file = reopening(settings, first, () => openedOn(path, openAgain(settings, table)))
  let isClosed = false

  function use(): Connection {
    if (isClosed) throw storeClosed()
    return file.use().connection
  }

  function check(): void {
    const { connection, files } = file.last
    files.check()
    // Another connection of this process has reopened the file.
    if (connection.open === false) throw fileChanged(path, 'replaced')
  }

  return {
    use,
    check,
    checkCommitted: () => file.last.files.checkCommitted(),
    within(tx) {
      const handle = checkHandle(tx)
      const own = use()
      check()
      try {
        if (hasOtherHistory(handle, own) || !isSameFile(handle, own)) throw otherFile()
      } catch (error) {
        // A transaction with an outdated snapshot can never write, so only its writes are refused.
        if (!isSnapshotStale(error)) throw userHandleError(error)
      }
      return handle
    },
    close() {
      if (isClosed) return
      isClosed = true
      file.close()
    },
  }
}

/** Call it before another program opens the file, because SQLite creates missing logs. */
export function refuseOldLogs(path: string): void {
  checkOldLogs(path === ':memory:' ? path : resolve(path))
}

function openedOn(path: string, connection: Connection): Opened {
  return {
    connection,
    files: openFiles(path, () => databaseBytes(connection)),
    close: () => void connection.close(),
  }
}

function connectionOf({ path, durability }: ReopenSettings, options: OpenOptions = {}): Connection {
  return openConnection(path, durability, {
    ...options,
    setUp(connection) {
      statementsOf(connection)('PRAGMA foreign_keys = ON').run()
      // SQLite opens the logs at the first read.
      hasTable(connection, '')
      options.setUp?.(connection)
    },
  })
}

function openAgain(settings: ReopenSettings, table: string): Connection {
  checkOurs(settings.path, (handle) => [table, 'jobmill_migration'].some((name) => hasTable(handle, name)))
  return connectionOf(settings, {
    fileMustExist: true,
    // Does the same for the stores on this file, which may not notice a log that is repaired now.
    setUp(connection) {
      if (isStore(connection)) markLoss(connection)
    },
  })
}

function hasOtherHistory(handle: SqliteHandle, own: SqliteHandle): boolean {
  return isStore(own) && historyOf(statementsOf(handle)) !== historyOf(statementsOf(own))
}

function isStore(handle: SqliteHandle): boolean {
  return hasTable(handle, 'jobmill_counter')
}

function hasTable(handle: SqliteHandle, name: string): boolean {
  const found = `SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?`
  return statementsOf(handle)(found).get(name) !== undefined
}
