/**
 * A connection for application tables in the file of a store, with the checks of the store: nothing is
 * acknowledged that is not in the file at the path, and the file is reopened after it was replaced.
 */
import { resolve } from 'node:path'
import { systemPlatform } from '../../platform/platform.ts'
import { storeClosed } from '../../store/lifecycle.ts'
import { checkOldLogs, type Connection, openConnection } from '../connection/connection.ts'
import { historyOf } from '../connection/counter.ts'
import { userHandleError } from '../connection/errors.ts'
import { filePaths } from './file-paths.ts'
import { statementsOf, type SqliteHandle } from '../connection/handle.ts'
import { databaseBytes, openPatiently } from '../live.ts'
import { checkOurs, markPossibleLoss, type Opened, type ReopenSettings, reopening } from './reopen.ts'
import { changedInCommit, fileChanged, openFiles } from './same-file.ts'
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
  /** Checks a handle of the caller, with a transaction that is open on the same file. */
  readonly within: (tx: unknown) => unknown
  readonly close: () => void
}

/** How long opening waits for other processes. */
const OPEN_MS = 5_000

export async function sharedFile(given: string, { table }: SharedFileOptions): Promise<SharedFile> {
  const path = given.trim() === ':memory:' ? ':memory:' : resolve(given.trim())
  const settings = { path, durability: 'full' } as const
  const waiting = { path, platform: systemPlatform, busyDeadlineMs: OPEN_MS }
  const first = await openPatiently(waiting, () => openedOn(path, connectionOf(settings)))
  const file = reopening(settings, first, () => openedOn(path, openAgain(settings, table)))
  let isClosed = false

  function use(): Connection {
    if (isClosed) throw storeClosed()
    return file.use().connection
  }

  function check(): void {
    const { connection, files } = file.last
    const change = files.change()
    if (change !== null) throw fileChanged(path, change)
    // Another connection of this process has reopened the file.
    if (connection.open === false) throw fileChanged(path, 'replaced')
  }

  return {
    use,
    check,
    checkCommitted() {
      const change = file.last.files.change()
      if (change !== null) throw changedInCommit(path, change)
    },
    within(tx) {
      const handle = checkHandle(tx)
      const own = use()
      check()
      try {
        if (!isSameFile(handle, own)) throw otherFile()
      } catch (error) {
        throw userHandleError(error)
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

function connectionOf({ path, durability }: ReopenSettings, { fileMustExist = false } = {}): Connection {
  const connection = openConnection(path, durability, { fileMustExist })
  try {
    statementsOf(connection)('PRAGMA foreign_keys = ON').run()
    // SQLite opens the logs at the first read.
    hasTable(connection, '')
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}

function openAgain(settings: ReopenSettings, table: string): Connection {
  checkOurs(settings.path, (handle) => [table, 'jobmill_migration'].some((name) => hasTable(handle, name)))
  const connection = connectionOf(settings, { fileMustExist: true })
  try {
    // Also for the stores on this file: they may not notice a log that is repaired now.
    if (isStore(connection)) markPossibleLoss(connection)
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}

/** A file without Jobmill tables has no history, so only the paths are compared. */
function isSameFile(handle: SqliteHandle, own: SqliteHandle): boolean {
  if (isStore(own)) return historyOf(statementsOf(handle)) === historyOf(statementsOf(own))
  return handle === own || (pathOf(own) !== '' && pathOf(handle) === pathOf(own))
}

function isStore(handle: SqliteHandle): boolean {
  return hasTable(handle, 'jobmill_counter')
}

function hasTable(handle: SqliteHandle, name: string): boolean {
  const found = `SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?`
  return statementsOf(handle)(found).get(name) !== undefined
}

function pathOf(handle: SqliteHandle): string {
  const { file } = statementsOf(handle)(
    `SELECT file FROM pragma_database_list WHERE name = 'main'`,
  ).get() as {
    readonly file: string
  }
  return file === '' ? '' : filePaths(file).database
}
