// Has a process stand still. On SQLite not while it has the write lock: nobody could write to the file until it goes on, and no lease be taken from it.
import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'

/** Others hold the lock for a moment only. */
const LOCKED_MS = 2_000

/** `file` is the SQLite file that it works on; null for none. */
export async function standStill(pid: number, file: string | null): Promise<void> {
  for (;;) {
    process.kill(pid, 'SIGSTOP')
    await stopped(pid)
    if (file === null || isFree(file)) return
    process.kill(pid, 'SIGCONT')
    await sleep(5)
  }
}

/** A signal takes effect a moment after it was sent; until then the process may end what it runs. */
async function stopped(pid: number): Promise<void> {
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
