/**
 * Whether the path still leads to the file that is open. A file that was deleted or replaced goes on working for whoever has it open, and everybody
 * else works on another one: nothing fails, and jobs wait for ever.
 */
import { statSync } from 'node:fs'
import { JobmillError } from '../job/errors.ts'

/** Call it once the file is open; what it returns throws when the file is another one. */
export function sameFile(path: string): () => void {
  const opened = inodeOf(path)
  return () => {
    if (opened === null || inodeOf(path) === opened) return
    throw new JobmillError('STORE_UNAVAILABLE', 'the file was deleted or replaced while it was open', {
      field: path,
      fix: 'Restart this process; back up by copying through SQLite, not by moving files',
    })
  }
}

/** Null for a database in memory. */
function inodeOf(path: string): string | null {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true })
  return found === undefined ? null : `${found.dev}:${found.ino}`
}
