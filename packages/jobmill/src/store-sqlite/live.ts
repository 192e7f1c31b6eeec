/** The state of an open store: one connection, and everything that uses it. */
import { isJobmillError } from '../job/errors.ts'
import { storeClosed } from '../store/lifecycle.ts'
import { type Connection, type Durability, openConnection } from './connection/connection.ts'
import { createNotifier } from './notifier.ts'
import { isBusy, storeError } from './connection/errors.ts'
import { pragma, type SqliteHandle } from './connection/handle.ts'
import { logKeeper } from './file/log-size.ts'
import { migrate } from './schema/migrate.ts'
import { createReader } from './connection/reader.ts'
import { type Patience, retryWhileBusy } from './connection/retry.ts'
import { openFiles } from './file/same-file.ts'
import { releaseSiblings } from './file/siblings.ts'
import { strayCursor } from './retain/stray-keys.ts'
import { Memory } from './work.ts'
import { createWriter } from './connection/writer.ts'

export interface StoreSettings extends Patience {
  /** Absolute, or `:memory:`. */
  readonly path: string
  /** As the user passed it, if different. */
  readonly givenPath?: string
  readonly clock: () => number
  readonly durability: Durability
}

export type Live = ReturnType<typeof liveOn>

/** `connection` must be migrated. */
export function liveOn(settings: StoreSettings, connection: Connection) {
  const { path, platform, clock, busyDeadlineMs } = settings
  const memory = new Memory()
  const files = openFiles(path, () => databaseBytes(connection))
  const notifier = createNotifier(connection, platform)
  const log = logKeeper(connection, path)
  const shared = { connection, platform, clock, memory, files, busyDeadlineMs }
  const writer = createWriter({ ...shared, onCommit: notifier.publish })
  return {
    connection,
    files,
    notifier,
    writer,
    log,
    /** True if the last claim was large and returned as many jobs as requested: there are probably more. */
    mayHaveMore: false,
    /** Where retention continues to look for keys without a job. */
    stray: strayCursor(),
    read: createReader(shared),
    /** Later calls are rejected with this reason. */
    close(reason: () => Error = storeClosed): void {
      writer.close(reason)
      notifier.close()
      log.close()
      connection.close()
    },
  }
}

export function databaseBytes(connection: SqliteHandle): number {
  return pragma<number>(connection, 'page_count') * pragma<number>(connection, 'page_size')
}

export async function openMigrated(settings: StoreSettings, closing?: AbortSignal): Promise<Connection> {
  const { path, clock, durability } = settings
  const setUp = (connection: Connection): void => migrate(connection, Math.floor(clock()))
  return openPatiently(settings, () => openConnection(path, durability, { setUp }), closing)
}

/**
 * Many processes may open the same new file at once: all but one find it locked briefly. Stops waiting when
 * `closing` fires.
 */
export async function openPatiently<T>(
  settings: Patience & Pick<StoreSettings, 'path'>,
  open: () => T,
  closing?: AbortSignal,
): Promise<T> {
  const { path } = settings
  const mayOpen = (error: unknown): boolean => {
    if (closing?.aborted === true || !mayPass(error)) return false
    releaseSiblings(path)
    return true
  }
  return retryWhileBusy(settings, open, mayOpen).catch((error: unknown) => {
    throw storeError(error, path)
  })
}

/** Another process has the file locked, or has deleted log files open. */
function mayPass(error: unknown): boolean {
  return isBusy(error) || (isJobmillError(error) && error.code === 'STORE_UNAVAILABLE')
}
