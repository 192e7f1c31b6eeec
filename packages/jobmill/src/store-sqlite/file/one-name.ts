/**
 * Refuses a file with hard links. SQLite names the logs after the path, so each name of the file has its own
 * log and locks: processes that open it under different names overwrite each other's transactions.
 */
import { statSync } from 'node:fs'
import { JobmillError } from '../../job/errors.ts'

/** Call it before SQLite opens the file. Never opens it: see same-file.ts. */
export function checkOneName(path: string): void {
  if (path === ':memory:') return
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined || !found.isFile() || found.nlink <= 1) return
  throw new JobmillError('STORE_UNSUPPORTED', 'has several names (hard links), and each has its own log', {
    field: path,
    value: String(found.nlink),
    fix: 'Stop all programs that use it, and delete the other names',
  })
}
