/** The state of an open store: one connection, and everything that uses it. */
import { isJobmillError } from '../job/errors.ts'
import type { Platform } from '../platform/platform.ts'
import { sleep } from '../platform/sleep.ts'
import { storeClosed } from '../store/lifecycle.ts'
import { type Connection, type Durability, openConnection } from './connection/connection.ts'
import { createNotifier, type SqliteNotifier } from './notifier.ts'
import { isBusy, storeError } from './connection/errors.ts'
import { statementsOf } from './connection/handle.ts'
import { type LogKeeper, logKeeper } from './file/log-size.ts'
import { migrate } from './schema/migrate.ts'
import { createReader, type Read } from './connection/reader.ts'
import { openFiles, type OpenFiles } from './file/same-file.ts'
import { releaseSiblings } from './file/siblings.ts'
import { type StrayCursor, strayCursor } from './retain/stray-keys.ts'
import { Memory } from './work.ts'
import { createWriter, type Writer } from './connection/writer.ts'

export interface StoreSettings {
  /** Absolute, or `:memory:`. */
  readonly path: string
  /** As the user passed it, if different. */
  readonly givenPath?: string
  readonly platform: Platform
  readonly clock: () => number
  readonly durability: Durability
  readonly busyDeadlineMs: number
}

export interface Live {
  readonly writer: Writer
  readonly read: Read
  readonly notifier: SqliteNotifier
  readonly connection: Connection
  readonly files: OpenFiles
  readonly log: LogKeeper
  /** Where retention continues to look for keys without a job. */
  readonly stray: StrayCursor
  /** True if the last claim was large and returned as many jobs as requested, so there are probably more. */
  mayHaveMore: boolean
  /** Later calls are rejected with this reason. */
  close(reason?: () => Error): void
}

/** `connection` must be migrated. */
export function liveOn(settings: StoreSettings, connection: Connection): Live {
  const { path, platform, clock, busyDeadlineMs: deadlineMs } = settings
  const memory = new Memory()
  const files = openFiles(path, () => databaseBytes(connection))
  const notifier = createNotifier(connection, platform)
  const log = logKeeper(connection, path)
  const shared = { connection, platform, clock, memory, path, files, deadlineMs }
  const writer = createWriter({ ...shared, onCommit: notifier.publish })
  return {
    connection,
    files,
    notifier,
    writer,
    log,
    mayHaveMore: false,
    stray: strayCursor(),
    read: createReader(shared),
    close(reason = storeClosed) {
      writer.close(reason)
      notifier.close()
      log.close()
      connection.close()
    },
  }
}

export function databaseBytes(connection: Connection): number {
  const sql = statementsOf(connection)
  const { page_count: pages } = sql('PRAGMA page_count').get() as { readonly page_count: number }
  const { page_size: bytes } = sql('PRAGMA page_size').get() as { readonly page_size: number }
  return pages * bytes
}

const RETRY_MS = 20

export async function openMigrated(settings: StoreSettings, closing?: AbortSignal): Promise<Connection> {
  const { path, clock, durability } = settings
  return openPatiently(
    settings,
    () => {
      const connection = openConnection(path, durability)
      try {
        migrate(connection, Math.floor(clock()))
        return connection
      } catch (error) {
        connection.close()
        throw error
      }
    },
    closing,
  )
}

/**
 * Many processes may open the same new file at once: all but one find it locked briefly. Stops waiting when
 * `closing` fires.
 */
export async function openPatiently<T>(
  { path, platform, busyDeadlineMs }: Pick<StoreSettings, 'path' | 'platform' | 'busyDeadlineMs'>,
  open: () => T,
  closing?: AbortSignal,
): Promise<T> {
  const began = platform.monotonic()
  const isOver = (): boolean => closing?.aborted === true || platform.monotonic() - began >= busyDeadlineMs
  for (;;) {
    try {
      return open()
    } catch (error) {
      if (!mayPass(error) || isOver()) throw storeError(error, path)
    }
    releaseSiblings(path)
    await sleep(platform, 1 + platform.random() * RETRY_MS)
  }
}

/** Another process has the file locked, or has deleted log files open. */
function mayPass(error: unknown): boolean {
  return isBusy(error) || (isJobmillError(error) && error.code === 'STORE_UNAVAILABLE')
}
