/** What a store has between open and close: one connection, and all that works on it. */
import type { Platform } from '../platform/platform.ts'
import { sleep } from '../platform/sleep.ts'
import { type Connection, type Durability, openConnection } from './connection.ts'
import { createDoorbell, type SqliteDoorbell } from './doorbell.ts'
import { isBusy, storeError } from './errors.ts'
import { type LogKeeper, logKeeper } from './log-size.ts'
import { migrate } from './migrate.ts'
import { createReader, type Read } from './reader.ts'
import { sameFile } from './same-file.ts'
import { Memory } from './work.ts'
import { createWriter, type Writer } from './writer.ts'

export interface StoreSettings {
  readonly path: string
  readonly platform: Platform
  readonly clock: () => number
  readonly durability: Durability
  readonly busyDeadlineMs: number
}

export interface Live {
  readonly writer: Writer
  readonly read: Read
  readonly doorbell: SqliteDoorbell
  /** Throws when the path leads to another file by now. */
  readonly checkFile: () => void
  readonly log: LogKeeper
  /** The last claim brought a lot, and all that it asked for: there is most likely more. */
  mayHaveMore: boolean
  close(): void
}

export async function openLive(settings: StoreSettings): Promise<Live> {
  const { platform, clock, busyDeadlineMs: deadlineMs } = settings
  const connection = await openMigrated(settings)
  const memory = new Memory()
  const doorbell = createDoorbell(connection, platform)
  const log = logKeeper(connection, settings.path)
  const writer = createWriter({ connection, platform, clock, memory, deadlineMs, onCommit: doorbell.tell })
  return {
    doorbell,
    writer,
    checkFile: sameFile(settings.path),
    log,
    mayHaveMore: false,
    read: createReader({ connection, platform, clock, names: memory.names, deadlineMs }),
    close() {
      writer.close()
      doorbell.close()
      log.close()
      connection.close()
    },
  }
}

const RETRY_MS = 20

/** Twenty processes may open the same new file at once: all but one find it locked for a moment. */
async function openMigrated({
  path,
  platform,
  clock,
  durability,
  busyDeadlineMs,
}: StoreSettings): Promise<Connection> {
  const began = platform.monotonic()
  for (;;) {
    try {
      const connection = openConnection(path, durability)
      try {
        migrate(connection, Math.floor(clock()))
        return connection
      } catch (error) {
        connection.close()
        throw error
      }
    } catch (error) {
      if (!isBusy(error) || platform.monotonic() - began >= busyDeadlineMs) throw storeError(error, path)
    }
    await sleep(platform, 1 + platform.random() * RETRY_MS)
  }
}
