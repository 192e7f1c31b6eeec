/** A handle for the tools, beside whatever the store has open: of a file that is there, and never longer than for one look or one change. */
import { existsSync } from 'node:fs'
import Database from 'better-sqlite3'
import { sleep } from '../../platform/sleep.ts'
import { type Connection, openConnection } from '../connection.ts'
import { isBusy, storeError } from '../errors.ts'
import type { StoreSettings } from '../live.ts'

const RETRY_MS = 20

/** False for one in memory, which ends with its store. */
export function isFileThere({ path }: StoreSettings): boolean {
  return path !== ':memory:' && existsSync(path)
}

/**
 * Not opened as read-only: such a handle cannot tidy up after itself, and leaves a log behind that nobody asked for. No setting is
 * touched, and what would write is refused.
 */
export async function lookInto<T>(settings: StoreSettings, look: (handle: Connection) => T): Promise<T> {
  return patiently(settings, () => {
    const handle = new Database(settings.path, { fileMustExist: true, timeout: 0 })
    try {
      handle.pragma('query_only = ON')
      return look(handle)
    } finally {
      handle.close()
    }
  })
}

/** All of `work` in one transaction, or nothing; `after` when it is over. */
export async function change<T>(
  settings: StoreSettings,
  work: (handle: Connection) => T,
  after: (handle: Connection) => void = () => {},
): Promise<T> {
  return patiently(settings, () => {
    const handle = openConnection(settings.path, settings.durability)
    try {
      handle.exec('BEGIN IMMEDIATE')
      const value = work(handle)
      handle.exec('COMMIT')
      after(handle)
      return value
    } finally {
      // What is not committed by then never happened.
      handle.close()
    }
  })
}

/** Others hold the file for moments only; SQLite would wait for them with the event loop standing still. */
async function patiently<T>({ path, platform, busyDeadlineMs }: StoreSettings, work: () => T): Promise<T> {
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
