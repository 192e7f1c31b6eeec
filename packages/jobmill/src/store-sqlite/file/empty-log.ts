/**
 * A thread that copies a large write-ahead log into its file and truncates it as soon as no reader blocks it,
 * and then ends. See log-size.ts.
 */
import { workerData } from 'node:worker_threads'
import { checkOldLogs } from '../connection/connection.ts'
import { loadSqlite } from '../connection/driver.ts'
import { systemPlatform } from '../../platform/platform.ts'
import { sleep } from '../../platform/sleep.ts'

// PASSIVE copies what no reader needs, alongside writers. TRUNCATE blocks writers, so it runs only when
// nothing is left to copy.
const COPY = `PRAGMA wal_checkpoint(PASSIVE)`
const EMPTY = `PRAGMA wal_checkpoint(TRUNCATE)`

const BUSY_TIMEOUT_MS = 20
const EVERY_MS = 250

interface Progress {
  readonly busy: number
  readonly log: number
  readonly checkpointed: number
}

checkOldLogs(workerData as string)
const database = new (loadSqlite())(workerData as string, { timeout: BUSY_TIMEOUT_MS, fileMustExist: true })
for (;;) {
  const { log, checkpointed } = database.prepare(COPY).get() as Progress
  if (log === checkpointed && (database.prepare(EMPTY).get() as Progress).busy === 0) break
  await sleep(systemPlatform, EVERY_MS)
}
database.close()
