/** Reads outside of any write transaction, each in its own snapshot. */
import type { BatchOptions } from './batch.ts'
import { storeError } from './errors.ts'
import { namesVersion } from './counter.ts'
import { statementsOf } from './handle.ts'
import { type Patience, retryWhileBusy } from './retry.ts'
import { type Look, lookAt } from '../work.ts'

export type Read = <T>(look: (at: Look) => T) => Promise<T>

/**
 * Reads and writes do not block each other, except briefly while another process recovers the log, or while
 * the last process closes the file.
 */
export function createReader(options: BatchOptions & Patience): Read {
  const { connection, clock, memory, files } = options
  return (look) =>
    retryWhileBusy(options, () => readOnce(look)).catch((error: unknown) => {
      throw storeError(error)
    })

  function readOnce<T>(look: (at: Look) => T): T {
    files.check()
    const sql = statementsOf(connection)
    sql('BEGIN').run()
    try {
      memory.forgetUnless(namesVersion(sql))
      const at = lookAt(connection, Math.floor(clock()), memory.names)
      const value = look(at)
      at.names.updateCache()
      return value
    } finally {
      // Some errors end the transaction on their own.
      if (connection.inTransaction) sql('COMMIT').run()
    }
  }
}
