/**
 * Reopens a file after it was replaced or changed, for the store and for application tables (shared-file.ts).
 * A call that notices a change is refused. The next call opens the file that is then at the path. If that is
 * not a Jobmill database, calls are refused until it is corrected.
 */
import { linkSync, renameSync, rmSync } from 'node:fs'
import { JobmillError } from '../../job/errors.ts'
import { systemPlatform } from '../../platform/platform.ts'
import { storeClosed } from '../../store/lifecycle.ts'
import { type Connection, type Durability, lookInFile, openConnection } from '../connection/connection.ts'
import { markLoss } from '../connection/counter.ts'
import { isBusy, storeError } from '../connection/errors.ts'
import { filePaths } from './file-paths.ts'
import { pragma } from '../connection/handle.ts'
import { type Patience, retryWhileBusy } from '../connection/retry.ts'
import { type Live, liveOn, openMigrated, type StoreSettings } from '../live.ts'
import { appliedMigrations, migrate } from '../schema/migrate.ts'
import { listsLocks } from './old-logs.ts'
import { type FileChange, fileChanged, fileSize } from './same-file.ts'
import { addSibling, releaseSiblings } from './siblings.ts'

/** The parts that are open on a file. */
export type Opened = Pick<Live, 'connection' | 'files' | 'close'>

/** Cheap: it compares three inodes. */
const WATCH_EVERY_MS = 1_000

export interface ReopenSettings extends Patience {
  /** Absolute, or `:memory:`. */
  readonly path: string
  readonly durability: Durability
}

export async function openStore(settings: StoreSettings, closing?: AbortSignal) {
  const first = liveOn(settings, await openMigrated(settings, closing))
  return reopening(settings, first, () => liveOn(settings, openAgain(settings)))
}

export function reopening<T extends Opened>(settings: ReopenSettings, first: T, again: () => T) {
  const { path, durability } = settings
  let isClosed = false
  let live = current(path, first)
  let retiredFor: FileChange | null = null
  let leave = addSibling(path, release)
  // An idle process makes no call that could notice the change, and would keep others from opening the file.
  let watch = systemPlatform.timer(WATCH_EVERY_MS, look, { unref: true })
  /** The next call reports a change that was noticed between two calls. */
  let unreported: FileChange | null = null

  function look(): void {
    if (retiredFor === null && live.files.isReplaced()) release()
    watch = systemPlatform.timer(WATCH_EVERY_MS, look, { unref: true })
  }

  /**
   * Retries on every call instead of on a timer, because a running mill calls at least once a second. Throws
   * errors of the driver.
   */
  function tryUse(): T {
    if (isClosed) throw storeClosed()
    if (unreported !== null) {
      const change = unreported
      unreported = null
      throw fileChanged(path, change)
    }
    if (retiredFor === null && live.files.noticed === null) return live
    return isBack() ? live : reopen()
  }

  function use(): T {
    try {
      return tryUse()
    } catch (error) {
      throw storeError(error, path)
    }
  }

  /** All calls wait together, because each attempt to open the file blocks the event loop for a moment. */
  let waiting: Promise<T> | null = null

  function usePatiently(): T | Promise<T> {
    if (waiting !== null) return waiting
    try {
      return tryUse()
    } catch (error) {
      if (!isBusy(error)) throw storeError(error, path)
    }
    waiting = retryWhileBusy(settings, tryUse)
      .catch((error: unknown) => {
        throw storeError(error, path)
      })
      .finally(() => (waiting = null))
    return waiting
  }

  /**
   * False after transactions were lost, even if another process repaired the log, because rows that this
   * store cached may be gone.
   */
  const isBack = (): boolean =>
    retiredFor === null && live.files.noticed !== 'cut' && live.files.change() === null

  function reopen(): T {
    if (retiredFor === null) retire(live.files.noticed ?? 'replaced')
    releaseSiblings(path)
    live = current(path, again())
    retiredFor = null
    // A link in the path may lead to a different file than before.
    leave()
    leave = addSibling(path, release)
    return live
  }

  /** Closes the old files; throws while that would lose data. */
  function retire(change: FileChange): void {
    // Only for application tables: the store has no transaction open between two calls.
    if (live.connection.inTransaction) throw fileChanged(path, change)
    if (change === 'gone' || fileSize(path) === undefined) throw fileChanged(path, 'gone')
    if (change === 'shrunk') checkShrunk(path, durability)
    if (change === 'replaced') clearLogs(path, live)
    // Closing copies the log into the file, and must not copy frames that are missing from the log.
    if (change === 'cut') live.files.discardIndex()
    const close = (): void => live.close(() => fileChanged(path, change))
    if (change === 'log' || change === 'overtaken') {
      if (!listsLocks(filePaths(path))) throw fileChanged(path, 'unsafe')
      closeChangedLog(path, live, change, close)
    } else close()
    retiredFor = change
  }

  function release(): void {
    if (retiredFor !== null) return
    const change = live.files.change()
    if (change !== 'log' && change !== 'overtaken' && change !== 'replaced') return
    try {
      retire(change)
      if (change === 'replaced') unreported = change
    } catch {
      // Its next call retries, and reports why.
    }
  }

  return {
    /** Throws while the file at the path cannot be used. */
    use,
    /**
     * The same, but waits while another connection has the new file locked, as a call waits while another
     * connection writes.
     */
    usePatiently,
    /** The last opened state, even if its file has changed. */
    get last(): T {
      return live
    },
    close(): void {
      isClosed = true
      leave()
      watch.cancel()
      if (retiredFor !== null) return
      const change = live.files.change()
      if (change !== 'log' && change !== 'overtaken') return live.close()
      try {
        closeChangedLog(path, live, change, () => live.close())
      } catch {
        // The last connection that closes copies the rest.
        live.close()
      }
    },
  }
}

/** Throws, so that the next call opens the files again. */
function current<T extends Opened>(path: string, live: T): T {
  if (live.files.isCurrent) return live
  live.close()
  throw fileChanged(path, 'log')
}

/** Closing copies the log into the database file. It must not overwrite newer writes of other programs. */
function closeChangedLog(
  path: string,
  { connection, files }: Opened,
  change: 'log' | 'overtaken',
  close: () => void,
): void {
  const { log } = filePaths(path)
  const isLogInPlace = files.logsInPlace().includes(log)
  if (change === 'log') {
    // The last connection to close would copy a log that is no longer at its path into the database file, but
    // its process may be killed first. Once it is empty, it does no harm if it is moved back.
    const busy = isLogInPlace ? 0 : pragma<number>(connection, EMPTY)
    // Other connections are reading or writing: the next call retries.
    if (busy !== 0) throw fileChanged(path, 'held')
    return close()
  }
  if (!isLogInPlace) files.discardLog()
  // Another program may have appended to the log through its own index, so it is read again from the start.
  else files.discardIndex()
  keepingLogAt(log, close)
}

/** Copies the log. The first value that it returns is 1 if a reader or a writer blocks it. */
const EMPTY = 'wal_checkpoint(TRUNCATE)'

/**
 * SQLite deletes the file at the path of the log that it closes, even if another process has created that
 * file.
 */
function keepingLogAt(log: string, close: () => void): void {
  if (fileSize(log) === undefined) return close()
  const kept = `${log}.${process.pid}`
  rmSync(kept, { force: true })
  linkSync(log, kept)
  try {
    close()
  } finally {
    if (fileSize(log) === undefined) renameSync(kept, log)
    else rmSync(kept)
  }
}

/**
 * The log of the old file is still at the path, and SQLite would apply it to the new file. So it is copied
 * into the old file, which may exist under another name.
 */
function clearLogs(path: string, { connection, files }: Opened): void {
  const logs = files.logsInPlace()
  if (logs.length === 0) return
  if (pragma<number>(connection, EMPTY) !== 0) {
    throw new JobmillError(
      'STORE_UNAVAILABLE',
      'the file was replaced while a transaction was open in this or another process',
      { field: path, fix: 'End the transaction, then retry' },
    )
  }
  for (const log of logs) rmSync(log, { force: true })
}

/** A file gets smaller by VACUUM, or when an old copy overwrites it. SQLite's check distinguishes the two. */
function checkShrunk(path: string, durability: Durability): void {
  // SQLite deletes the log of an empty file when it opens it.
  if (fileSize(path) === 0) throw fileChanged(path, 'shrunk')
  const handle = openConnection(path, durability, { fileMustExist: true })
  try {
    if (pragma(handle, 'quick_check(1)') !== 'ok') throw fileChanged(path, 'shrunk')
  } finally {
    handle.close()
  }
}

function openAgain(settings: StoreSettings): Connection {
  const { path, durability, clock } = settings
  checkOurs(path, (handle) => appliedMigrations(handle) !== null)
  return openConnection(path, durability, {
    fileMustExist: true,
    setUp(connection) {
      migrate(connection, Math.floor(clock()))
      // The file may be an older copy.
      markLoss(connection)
    },
  })
}

/** Checks before anything is changed: a wrong file, put there by mistake, stays untouched. */
export function checkOurs(path: string, isOurs: (handle: Connection) => boolean): void {
  if (lookInFile(path, isOurs)) return
  throw new JobmillError('STORE_UNSUPPORTED', 'the file was replaced by one without Jobmill tables', {
    field: path,
    fix: 'Put a backup of the database in its place, or restart this process to create the tables there',
  })
}
