/**
 * Opens the file: checks the driver and the SQLite version, and applies every setting that durability depends
 * on.
 */
import { closeSync, openSync } from 'node:fs'
import { JobmillError, quote } from '../../job/errors.ts'
import { filePaths } from '../file/file-paths.ts'
import { userOfOldLogs } from '../file/old-logs.ts'
import { checkOneName } from '../file/one-name.ts'
import { oldLogsOpen } from '../file/same-file.ts'
import { definePayloadHas } from '../inspect/payload-has.ts'
import { loadSqlite } from './driver.ts'
import { type SqliteHandle, statementsOf } from './handle.ts'
import { versionProblem } from './sqlite-version.ts'

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

export function openConnection(
  path: string,
  durability: Durability,
  { fileMustExist = false } = {},
): Connection {
  if (Number(process.versions['napi'] ?? 0) < NODE_API) {
    throw new JobmillError(
      'STORE_UNSUPPORTED',
      `the SQLite driver cannot run on Node.js ${process.version}`,
      {
        fix: 'Use Node.js 22.14 or newer',
      },
    )
  }
  if (!fileMustExist) createFile(path)
  checkOneName(path)
  checkOldLogs(path)
  const handle = new (loadSqlite())(path, { timeout: BUSY_TIMEOUT_MS, fileMustExist })
  try {
    checkVersion(handle)
    configure(handle, path, durability)
    // Check again: the logs may have been replaced before this connection was open. From now on, every other
    // process that checks finds this connection.
    checkOldLogs(path)
    definePayloadHas(handle)
    return handle
  } catch (error) {
    handle.close()
    throw error
  }
}

/** Call it before anything opens the file, because SQLite creates the missing logs. */
export function checkOldLogs(path: string): void {
  const pid = path === ':memory:' ? null : userOfOldLogs(filePaths(path))
  if (pid !== null) throw oldLogsOpen(path, pid)
}

function checkVersion(handle: SqliteHandle): void {
  const { version } = handle.prepare('SELECT sqlite_version() AS version').get() as { version: string }
  const problem = versionProblem(version)
  if (problem === null) return
  throw new JobmillError('STORE_UNSUPPORTED', problem, { fix: 'Install better-sqlite3 13 or newer' })
}

function configure(handle: SqliteHandle, path: string, durability: Durability): void {
  const sql = statementsOf(handle)
  const { journal_mode: mode } = sql('PRAGMA journal_mode = WAL').get() as { journal_mode: string }
  if (mode !== 'wal' && path !== ':memory:') {
    throw new JobmillError('STORE_UNSUPPORTED', 'must be "wal"', {
      field: 'journal_mode',
      value: quote(mode),
      fix: 'Put the database file on a local disk: a write-ahead log does not work on network file systems',
    })
  }
  // The driver opens a file with a write-ahead log in NORMAL, which may lose the last commits in a power cut.
  sql(`PRAGMA synchronous = ${durability === 'full' ? 'FULL' : 'NORMAL'}`).run()
  sql('PRAGMA foreign_keys = OFF').run()
  sql('PRAGMA temp_store = MEMORY').run()
  sql(`PRAGMA journal_size_limit = ${LOG_LIMIT_BYTES}`).get()
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
