/**
 * Opens an existing file for the database tools, separately from the store, for one read or one change only.
 */
import { existsSync } from 'node:fs'
import { loadSqlite } from '../connection/driver.ts'
import { sleep } from '../../platform/sleep.ts'
import { checkOldLogs, type Connection, openConnection } from '../connection/connection.ts'
import { isBusy, storeError } from '../connection/errors.ts'
import type { StoreSettings } from '../live.ts'
import { checkOneName } from '../file/one-name.ts'

const RETRY_MS = 20

/** False for an in-memory database, which ends with its store. */
export function isFileThere({ path }: StoreSettings): boolean {
  return path !== ':memory:' && existsSync(path)
}

/**
 * Not opened read-only: such a handle cannot clean up, and would leave a log file behind. `query_only`
 * refuses writes instead, and no setting is changed.
 */
export async function lookInto<T>(settings: StoreSettings, look: (handle: Connection) => T): Promise<T> {
  return retryWhileBusy(settings, () => {
    checkOneName(settings.path)
    checkOldLogs(settings.path)
    const handle = new (loadSqlite())(settings.path, { fileMustExist: true, timeout: 0 })
    try {
      handle.pragma('query_only = ON')
      return look(handle)
    } finally {
      handle.close()
    }
  })
}

/** Runs `work` in one transaction, all or nothing; then `after`. */
export async function change<T>(
  settings: StoreSettings,
  work: (handle: Connection) => T,
  after: (handle: Connection) => void = () => {},
): Promise<T> {
  return retryWhileBusy(settings, () => {
    const handle = openConnection(settings.path, settings.durability)
    try {
      handle.exec('BEGIN IMMEDIATE')
      const value = work(handle)
      handle.exec('COMMIT')
      after(handle)
      return value
    } finally {
      // Closing rolls back an uncommitted transaction.
      handle.close()
    }
  })
}

/**
 * Other connections hold the lock only briefly, but SQLite would block the event loop while it waits for
 * them.
 */
async function retryWhileBusy<T>(
  { path, platform, busyDeadlineMs }: StoreSettings,
  work: () => T,
): Promise<T> {
  const began = platform.monotonic()
  for (;;) {
    try {
      return work()
    } catch (error) {
      if (!isBusy(error) || platform.monotonic() - began >= busyDeadlineMs) throw storeError(error, path)
    }
    await sleep(platform, 1 + platform.random() * RETRY_MS)
  }
}
