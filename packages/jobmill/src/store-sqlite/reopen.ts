/**
 * What a store has open, for as long as its file stays in place. A call that notices a change is refused. The next call opens the file that is there now;
 * when that is not a database of ours, calls are refused with the reason until it is put right.
 */
import { linkSync, realpathSync, renameSync, rmSync } from 'node:fs'
import Database from 'better-sqlite3'
import { JobmillError } from '../job/errors.ts'
import { type Connection, openConnection } from './connection.ts'
import { storeError } from './errors.ts'
import { prepared } from './handle.ts'
import { type Live, liveOn, openMigrated, type StoreSettings } from './live.ts'
import { appliedTo, migrate } from './migrate.ts'
import { type FileChange, fileChanged, fileSize } from './same-file.ts'

export interface OpenStore {
  /** Throws while the file at the path cannot be used. */
  readonly use: () => Live
  /** What was opened last, even when its file has changed. */
  readonly last: Live
  close(): void
}

export async function openStore(settings: StoreSettings): Promise<OpenStore> {
  const { path } = settings
  let live = liveOn(settings, await openMigrated(settings))
  let retiredFor: FileChange | null = null
  /** The files are closed, and the -wal file was not in its place. */
  let isLogLost = false

  /** Tries on every call and needs no timer: a mill that works calls at least once a second. */
  function use(): Live {
    if (live.files.noticed === null) return live
    try {
      return isBack() ? live : reopened()
    } catch (error) {
      throw storeError(error, path)
    }
  }

  /** Not after transactions were lost, also when another process has put the log right: what this store remembers may be gone. */
  const isBack = (): boolean =>
    retiredFor === null && live.files.noticed !== 'cut' && live.files.change() === null

  function reopened(): Live {
    if (retiredFor === null) retire(live.files.noticed ?? 'replaced')
    if (isLogLost && live.files.isIndexHeld()) throw fileChanged(path, 'held')
    live = liveOn(settings, openAgain(settings))
    retiredFor = null
    return live
  }

  /** Gives up the old files; throws while that would lose something. */
  function retire(change: FileChange): void {
    if (change === 'gone' || fileSize(path) === undefined) throw fileChanged(path, 'gone')
    if (change === 'shrunk') checkShrunk(settings)
    if (change === 'replaced') clearLogs(path, live)
    // Closing copies the log into the file, and must not copy what is no longer in it.
    if (change === 'cut') live.files.discardIndex()
    isLogLost = change !== 'replaced' && !live.files.logsInPlace().some(isLog)
    const close = (): void => live.close(() => fileChanged(path, change))
    if (change === 'log' || change === 'overtaken') closeChangedLog(path, live, change, close)
    else close()
    retiredFor = change
  }

  return {
    use,
    get last() {
      return live
    },
    close() {
      if (retiredFor !== null) return
      const change = live.files.change()
      if (change !== 'log' && change !== 'overtaken') return live.close()
      try {
        closeChangedLog(path, live, change, () => live.close())
      } catch {
        // What could not be copied now is copied by the last one who closes it.
        live.close()
      }
    },
  }
}

const isLog = (name: string): boolean => name.endsWith('-wal')

/** Closing copies the log into the database file. It must copy all of it, and nothing over what others have written since. */
function closeChangedLog(
  path: string,
  { connection, files }: Live,
  change: 'log' | 'overtaken',
  close: () => void,
): void {
  if (files.logsInPlace().some(isLog)) {
    // Its index is gone, so it is read again from the start: others may have appended to it.
    files.discardIndex()
    return close()
  }
  if (change === 'overtaken') files.discardLog()
  // Closing would not copy it while another process has it open, which may then be killed.
  else copyLog(path, connection)
  keepingLogAt(`${realpathSync(path)}-wal`, close)
}

/** All of it, or it throws and the next call tries again: another process may be copying it, or a reader may still need the pages before. */
function copyLog(path: string, connection: Connection): void {
  const { log, checkpointed } = prepared(connection)('PRAGMA wal_checkpoint(PASSIVE)').get() as {
    readonly log: number
    readonly checkpointed: number
  }
  if (checkpointed < log) throw fileChanged(path, 'held')
}

/** SQLite deletes the file at the path of the log that it closes, also when another process has created that file. */
function keepingLogAt(log: string, close: () => void): void {
  if (fileSize(log) === undefined) return close()
  const kept = `${log}.kept`
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
 * The log of the old file is still at the path, and SQLite would apply it to the new file. So it goes where it belongs: into the old file, which may have
 * been kept under another name.
 */
function clearLogs(path: string, { connection, files }: Live): void {
  const logs = files.logsInPlace()
  if (logs.length === 0) return
  const { busy } = prepared(connection)('PRAGMA wal_checkpoint(TRUNCATE)').get() as { readonly busy: number }
  if (busy !== 0) {
    throw new JobmillError('STORE_UNAVAILABLE', 'the file was replaced while other programs use it', {
      field: path,
      fix: 'Stop the programs that use it, or retry when they are done',
    })
  }
  for (const log of logs) rmSync(log, { force: true })
}

/** VACUUM makes a file smaller, and so does whoever overwrites it with an old copy. SQLite can tell them apart. */
function checkShrunk({ path, durability }: StoreSettings): void {
  // SQLite deletes the log of an empty file when it opens it.
  if (fileSize(path) === 0) throw fileChanged(path, 'shrunk')
  const handle = openConnection(path, durability, { fileMustExist: true })
  try {
    const { quick_check: verdict } = prepared(handle)('PRAGMA quick_check(1)').get() as {
      readonly quick_check: string
    }
    if (verdict !== 'ok') throw fileChanged(path, 'shrunk')
  } finally {
    handle.close()
  }
}

function openAgain(settings: StoreSettings): Connection {
  const { path, durability, clock } = settings
  checkOurs(path)
  const connection = openConnection(path, durability, { fileMustExist: true })
  try {
    migrate(connection, Math.floor(clock()))
    markLoss(connection)
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}

/**
 * Transactions may be lost: the file may be an older copy. Other processes must forget what they remember, which they do with another version of the names; and tokens of
 * claims that were lost must not be handed out again, because handlers may still run under them.
 */
function markLoss(connection: Connection): void {
  connection.exec(`BEGIN IMMEDIATE; UPDATE jobmill_counter SET value = value + 1000000 WHERE name = 'token';
    UPDATE jobmill_counter SET value = random() & 9007199254740991 WHERE name IN ('names', 'history'); COMMIT`)
}

/** Before anything is changed in it: a wrong file that was put there by mistake stays as it is. */
function checkOurs(path: string): void {
  const handle = new Database(path, { fileMustExist: true, timeout: 0 })
  try {
    handle.pragma('query_only = ON')
    if (appliedTo(handle) !== null) return
  } finally {
    handle.close()
  }
  throw new JobmillError('STORE_UNSUPPORTED', 'the file was replaced by one without the tables of Jobmill', {
    field: path,
    fix: 'Put a backup of the database in its place, or restart this process to create the tables there',
  })
}
