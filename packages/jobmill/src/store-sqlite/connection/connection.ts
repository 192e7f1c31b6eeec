/**
 * Opens the file: checks the driver and the SQLite version, and applies every setting that durability depends
 * on.
 */
import { closeSync, openSync, statSync } from 'node:fs'
import { invalidValue, JobmillError } from '../../job/errors.ts'
import { filePaths } from '../file/file-paths.ts'
import { userOfOldLogs, userOfOtherFile } from '../file/old-logs.ts'
import { oldLogsOpen, replacedOpen } from '../file/same-file.ts'
import { definePayloadHas } from '../inspect/payload-has.ts'
import { loadSqlite, versionProblem } from './driver.ts'
import { pragma, type SqliteHandle, sqliteVersion } from './handle.ts'

export interface Connection extends SqliteHandle {
  readonly inTransaction: boolean
  close(): unknown
}

export type Durability = 'full' | 'relaxed'

/** Node-API 10, which the driver is built for. With an older one the process crashes instead of failing. */
const NODE_API = 10

/** SQLite blocks the event loop while it waits; longer waits use timers instead. */
const BUSY_TIMEOUT_MS = 2

/** SQLite truncates the log to this size when it restarts. log-size.ts handles a log that cannot restart. */
export const LOG_LIMIT_BYTES = 16 * 1024 * 1024

export interface OpenOptions {
  readonly fileMustExist?: boolean
  /** If it throws, the connection is closed. */
  readonly setUp?: (connection: Connection) => void
}

export function openConnection(
  path: string,
  durability: Durability,
  { fileMustExist = false, setUp = () => {} }: OpenOptions = {},
): Connection {
  if (Number(process.versions['napi'] ?? 0) < NODE_API) {
    const what = `the SQLite driver cannot run on Node.js ${process.version}`
    throw new JobmillError('STORE_UNSUPPORTED', what, { fix: 'Use Node.js 22.14 or newer' })
  }
  if (!fileMustExist) createFile(path)
  checkOneName(path)
  checkOldLogs(path)
  const handle = new (loadSqlite())(path, { timeout: BUSY_TIMEOUT_MS, fileMustExist })
  try {
    checkVersion(handle)
    configure(handle, path, durability)
    // Check again, because the logs may have been replaced before this connection was open. From now on,
    // other processes that check find this connection.
    checkOldLogs(path)
    definePayloadHas(handle)
    setUp(handle)
    return handle
  } catch (error) {
    handle.close()
    throw error
  }
}

/**
 * Reads an existing file without changing anything in it. Not opened read-only: such a handle cannot clean
 * up, and would leave a log file behind. `query_only` refuses writes instead, and no setting is changed.
 */
export function lookInFile<T>(path: string, look: (handle: Connection) => T): T {
  checkOneName(path)
  checkOldLogs(path)
  const handle = new (loadSqlite())(path, { fileMustExist: true, timeout: 0 })
  try {
    handle.pragma('query_only = ON')
    return look(handle)
  } finally {
    handle.close()
  }
}

/**
 * Refuses a file with hard links. SQLite names the logs after the path, so each name of the file has its own
 * log and locks: processes that open it under different names overwrite each other's transactions. Call it
 * before SQLite opens the file. Never opens it: see same-file.ts.
 */
function checkOneName(path: string): void {
  if (path === ':memory:') return
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined || !found.isFile() || found.nlink <= 1) return
  throw new JobmillError('STORE_UNSUPPORTED', 'has several names (hard links), and each has its own log', {
    field: path,
    value: `${found.nlink} names`,
    fix: 'Stop all programs that use it, and delete the other names',
  })
}

/**
 * Call it before anything opens the file, because SQLite creates missing logs, and applies the logs that it
 * finds.
 */
export function checkOldLogs(path: string): void {
  if (path === ':memory:') return
  const paths = filePaths(path)
  const withOldLogs = userOfOldLogs(paths)
  if (withOldLogs !== null) throw oldLogsOpen(path, withOldLogs)
  const withOtherFile = userOfOtherFile(paths)
  if (withOtherFile !== null) throw replacedOpen(path, withOtherFile)
}

function checkVersion(handle: SqliteHandle): void {
  const problem = versionProblem(sqliteVersion(handle))
  if (problem === null) return
  throw new JobmillError('STORE_UNSUPPORTED', problem, { fix: 'Install better-sqlite3 13 or newer' })
}

function configure(handle: SqliteHandle, path: string, durability: Durability): void {
  const mode = pragma<string>(handle, 'journal_mode = WAL')
  if (mode !== 'wal' && path !== ':memory:') {
    const fix =
      'Put the database file on a local disk: a write-ahead log does not work on network file systems'
    throw invalidValue('journal_mode', mode, 'must be "wal"', fix, 'STORE_UNSUPPORTED')
  }
  // The driver opens a file with a write-ahead log in NORMAL, which may lose the last commits in a power cut.
  handle.exec(`PRAGMA synchronous = ${durability === 'full' ? 'FULL' : 'NORMAL'}`)
  handle.exec('PRAGMA foreign_keys = OFF; PRAGMA temp_store = MEMORY')
  handle.exec(`PRAGMA journal_size_limit = ${LOG_LIMIT_BYTES}`)
}

const OWNER_ONLY = 0o600

/** An existing file keeps its mode. SQLite gives the -wal and -shm files the mode of the database file. */
function createFile(path: string): void {
  if (path === ':memory:') return
  try {
    closeSync(openSync(path, 'wx', OWNER_ONLY))
  } catch {
    // The file exists, or cannot be created: SQLite then reports why when it opens it.
  }
}
