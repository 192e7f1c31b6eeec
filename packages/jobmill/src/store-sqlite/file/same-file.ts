/**
 * Checks whether the path still leads to the files that SQLite has open. A process can keep writing to a
 * deleted or replaced file without an error, and no other process sees its commits. So every commit and every
 * read compares the inodes first.
 * Nothing here may open the database file: closing any descriptor of it drops the POSIX locks that SQLite
 * holds for this process.
 */
import { lstatSync, statSync } from 'node:fs'
import { JobmillError } from '../../job/errors.ts'
import { fileId, filePaths } from './file-paths.ts'
import { logCheck } from './log-check.ts'
import { usesCurrentLogs } from './old-logs.ts'

/**
 * What happened to the files:
 * - `shrunk`: another program truncated the database file.
 * - `log`: the -wal or -shm file at the path is not the open one, or the -shm file was truncated.
 * - `overtaken`: as `log`, and another program has opened the database since.
 * - `held`: as `log`, and another connection is reading or writing the old log.
 * - `unsafe`: as `log`, and this system does not show whether another connection has the old files open.
 * - `cut`: the log lost transactions.
 */
export type FileChange = 'gone' | 'replaced' | 'shrunk' | 'log' | 'overtaken' | 'held' | 'unsafe' | 'cut'

export type OpenFiles = ReturnType<typeof openFiles>

/**
 * Call it after SQLite has opened all three files. `databaseBytes` is the size of the database according to
 * SQLite. A database in memory has no files that could change.
 */
export function openFiles(path: string, databaseBytes: () => number) {
  const isInMemory = path === ':memory:'
  const paths = filePaths(path)
  const { database: real } = paths
  const logs = [paths.log, paths.index].map((name) => ({ name, id: lookAt(name)?.id }))
  const opened = lookAt(real)
  const check = logCheck(paths)
  let size = opened?.size ?? 0n
  let noticed: FileChange | null = null

  function compareFile(found: Found | undefined): 'gone' | 'replaced' | null {
    const isSame = found?.id === opened?.id && (path === real || fileId(path) === found?.id)
    if (isInMemory || (found !== undefined && isSame)) return null
    // A link in the path may lead to a different file now, even if the old one was deleted.
    return fileSize(path) === undefined ? 'gone' : 'replaced'
  }

  function compare(): FileChange | null {
    const found = lookAt(real)
    const moved = compareFile(found)
    if (isInMemory || found === undefined || moved !== null) return moved
    if (found.size < size && found.size !== BigInt(databaseBytes())) return 'shrunk'
    size = found.size
    if (!logs.every(({ name, id }) => lookAt(name)?.id === id)) return isOvertaken() ? 'overtaken' : 'log'
    if (check?.isIndexCut() === true) return 'log'
    return check?.isCut() === true ? 'cut' : null
  }

  /**
   * A program that opens the database without our log or index creates a new one, and cannot delete it while
   * this process has the database open. A new log that is empty was opened, but not written to.
   */
  function isOvertaken(): boolean {
    const [log, index] = logs
    const found = log && lookAt(log.name)
    if (found === undefined) return false
    if (found.id !== log?.id) return found.size > 0n
    return ![undefined, index?.id].includes(lookAt(index?.name ?? '')?.id)
  }

  /** Null while the path leads to the open files. */
  const change = (): FileChange | null => (noticed = compare())

  return {
    /** False if the logs were replaced while SQLite opened them: `change` then compares the wrong files. */
    isCurrent: isInMemory || usesCurrentLogs(paths),
    change,
    /** Whether a different file is at the path. Does not record the change. */
    isReplaced: () => compareFile(lookAt(real)) === 'replaced',
    /** Throws if the files have changed: before a read, a write and a commit. */
    check(): void {
      const found = change()
      if (found !== null) throw fileChanged(path, found)
    },
    /** The same after a commit: its outcome is then unknown. */
    checkCommitted(): void {
      const found = change()
      if (found !== null) throw changedInCommit(path, found)
    },
    /** The last result of `change`. */
    get noticed(): FileChange | null {
      return noticed
    },
    /** The open -wal and -shm files that are still at their paths. */
    logsInPlace: () => logs.filter(({ name, id }) => lookAt(name)?.id === id).map(({ name }) => name),
    /** See log-check.ts: called before files with a changed log are closed. */
    discardIndex: () => check?.discardIndex(),
    discardLog: () => check?.discardLog(),
  }
}

/** The size of the file at the path, following links; undefined when there is none. */
export function fileSize(path: string): number | undefined {
  const found = statSync(path, { throwIfNoEntry: false })
  return found?.isFile() === true ? found.size : undefined
}

interface Found {
  readonly id: string
  readonly size: bigint
}

function lookAt(path: string): Found | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false, bigint: true })
  if (found === undefined || !(found.isFile() || found.isSymbolicLink())) return undefined
  return { id: `${found.dev}:${found.ino}`, size: found.size }
}

const MEANING: Readonly<Record<FileChange, { readonly what: string; readonly fix: string }>> = {
  gone: {
    what: 'the file was deleted or moved while it was open, and there is no file at its path',
    fix: 'Put the file back, or restart this process to create a new one',
  },
  replaced: {
    what: 'the file was deleted or replaced while it was open',
    fix: 'Retry the call: it opens the new file. Stop all processes before you restore a backup',
  },
  log: {
    what: 'the -wal or -shm file of the database was deleted, replaced or truncated while it was open',
    fix: 'Retry the call: it opens the database again. Never change these files while a process uses the database',
  },
  overtaken: {
    what: 'the -wal or -shm file of the database was deleted or replaced while it was open, and another program has used the database since. Transactions that were only in these files may be lost',
    fix: 'Retry the call: it opens the database again. Never change these files while a process uses the database',
  },
  held: {
    what: 'the -wal file of the database was deleted or replaced, and another connection is reading or writing the old one',
    fix: 'Retry. If the error persists, check for an open transaction in a program that uses the database',
  },
  unsafe: {
    what: 'the -wal or -shm file of the database was deleted or replaced while it was open',
    fix: 'Stop all processes that use the database, then start them again',
  },
  cut: {
    what: 'the -wal file of the database was truncated or overwritten while it was open, and transactions in it are lost',
    fix: 'Retry the call: it continues with the transactions that are left. Never change this file while a process uses the database',
  },
  shrunk: {
    what: 'the file was truncated or overwritten while it was open',
    fix: 'Stop all processes, delete the -wal and -shm files, restore a backup, then start again',
  },
}

/** `pid` has files open that were deleted or replaced. */
export function oldLogsOpen(path: string, pid: number): JobmillError {
  const isThis = pid === process.pid
  const what = 'the -wal or -shm file of the database was deleted or replaced, and'
  return new JobmillError(
    'STORE_UNAVAILABLE',
    `${what} ${isThis ? 'another connection of this process' : `process ${pid}`} still has the old one open. Nothing was written`,
    {
      field: path,
      fix: isThis
        ? 'Close all other connections to the database, then retry'
        : `Retry. If the error persists, stop process ${pid} or close its connections to the database`,
    },
  )
}

/** `pid` has the file open that was at the path before, and its logs are still there. */
export function replacedOpen(path: string, pid: number): JobmillError {
  const isThis = pid === process.pid
  const who = isThis ? 'another connection of this process' : `process ${pid}`
  return new JobmillError(
    'STORE_UNAVAILABLE',
    `${who} still has the replaced file open and uses the -wal file at this path. Nothing was written`,
    {
      field: path,
      fix: isThis
        ? 'Close all other connections to the database, then retry'
        : `Retry: a Jobmill process closes it within seconds. If the error persists, stop process ${pid}`,
    },
  )
}

/** A write that was refused before its commit. */
export function fileChanged(path: string, change: FileChange): JobmillError {
  const { what, fix } = MEANING[change]
  return new JobmillError('STORE_UNAVAILABLE', `${what}. Nothing was written`, { field: path, fix })
}

/**
 * The files changed during the commit, so the fixes above do not apply: most of them say to retry.
 */
function changedInCommit(path: string, change: FileChange): JobmillError {
  return new JobmillError('OUTCOME_UNKNOWN', `${MEANING[change].what}. A commit was in progress`, {
    field: path,
    fix: 'Check whether the write was applied before you retry the call',
  })
}
