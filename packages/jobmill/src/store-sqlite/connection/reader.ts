/** Reads outside of any write transaction, each in its own snapshot. */
import type { Platform } from '../../platform/platform.ts'
import { sleep } from '../../platform/sleep.ts'
import type { Connection } from './connection.ts'
import { isBusy, storeError } from './errors.ts'
import { namesVersion } from './counter.ts'
import { statementsOf } from './handle.ts'
import { fileChanged, type OpenFiles } from '../file/same-file.ts'
import { type Look, lookAt, type Memory } from '../work.ts'

export interface ReaderOptions {
  readonly connection: Connection
  readonly platform: Platform
  readonly clock: () => number
  readonly memory: Memory
  readonly path: string
  readonly files: OpenFiles
  readonly deadlineMs: number
}

export type Read = <T>(look: (at: Look) => T) => Promise<T>

const RETRY_MS = 10

/**
 * Reads and writes do not block each other, except briefly while another process recovers the log or closes
 * the file as the last one.
 */
export function createReader(options: ReaderOptions): Read {
  const { connection, platform, clock, memory, deadlineMs } = options
  return async (look) => {
    const began = platform.monotonic()
    for (;;) {
      try {
        return readOnce(look)
      } catch (error) {
        if (!isBusy(error) || platform.monotonic() - began >= deadlineMs) throw storeError(error)
      }
      await sleep(platform, 1 + platform.random() * RETRY_MS)
    }
  }

  function readOnce<T>(look: (at: Look) => T): T {
    const change = options.files.change()
    if (change !== null) throw fileChanged(options.path, change)
    const sql = statementsOf(connection)
    sql('BEGIN').run()
    try {
      memory.forgetUnless(namesVersion(sql))
      const at = lookAt(connection, Math.floor(clock()), memory.names)
      const value = look(at)
      at.names.keep()
      return value
    } finally {
      // Some errors end the transaction on their own.
      if (connection.inTransaction) sql('COMMIT').run()
    }
  }
}
