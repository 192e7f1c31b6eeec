/** Creates the database file for its owner alone: payloads may hold what other users of the machine must not read. */
import { closeSync, openSync } from 'node:fs'

const OWNER_ONLY = 0o600

/** A file that exists keeps its mode. SQLite gives the -wal and -shm files the mode of the database file. */
export function createFile(path: string): void {
  if (path === ':memory:') return
  try {
    closeSync(openSync(path, 'wx', OWNER_ONLY))
  } catch {
    // It exists, or cannot be created: then SQLite says why when it opens it.
  }
}
