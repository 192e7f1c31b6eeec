/** Creates the database file readable by its owner only, because payloads may contain secrets. */
import { closeSync, openSync } from 'node:fs'

const OWNER_ONLY = 0o600

/** An existing file keeps its mode. SQLite gives the -wal and -shm files the mode of the database file. */
export function createFile(path: string): void {
  if (path === ':memory:') return
  try {
    closeSync(openSync(path, 'wx', OWNER_ONLY))
  } catch {
    // The file exists, or cannot be created: SQLite then reports why when it opens it.
  }
}
