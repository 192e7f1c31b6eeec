/** The three files of a database: SQLite puts the logs next to the file that a symbolic link leads to. */
import { realpathSync, statSync } from 'node:fs'

export interface FilePaths {
  readonly database: string
  /** The write-ahead log, and its index in shared memory. */
  readonly log: string
  readonly index: string
}

/** Follows links to their current target. A path that leads to no file is kept unchanged. */
export function filePaths(path: string): FilePaths {
  const database = realPath(path)
  return { database, log: `${database}-wal`, index: `${database}-shm` }
}

function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/** Identifies the file at the path, following links; undefined when there is none. */
export function fileId(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true })
  return found === undefined ? undefined : `${found.dev}:${found.ino}`
}
