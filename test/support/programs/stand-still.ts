// Stops a process with SIGSTOP. On SQLite it waits until the process does not hold the write lock: otherwise
// no process could write to the file, or reap the lease.
import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'

/** Other processes hold the lock only for a moment. */
const LOCKED_MS = 2_000

/** `file` is the SQLite file that the process uses; null for none. */
export async function standStill(pid: number, file: string | null): Promise<void> {
  for (;;) {
    process.kill(pid, 'SIGSTOP')
    await waitUntilStopped(pid)
    if (file === null || isFree(file)) return
    process.kill(pid, 'SIGCONT')
    await sleep(5)
  }
}

/** A signal takes effect a moment after it was sent; until then the process may finish a job. */
async function waitUntilStopped(pid: number): Promise<void> {
  const status = `/proc/${pid}/stat`
  const deadline = performance.now() + 1_000
  do await sleep(5)
  while (existsSync(status) && !/\) T /.test(readFileSync(status, 'utf8')) && performance.now() < deadline)
}

function isFree(file: string): boolean {
  const database = new Database(file, { timeout: LOCKED_MS })
  try {
    database.exec('BEGIN IMMEDIATE; ROLLBACK')
    return true
  } catch (error) {
    if ((error as { code?: string }).code?.startsWith('SQLITE_BUSY') === true) return false
    throw error
  } finally {
    database.close()
  }
}
