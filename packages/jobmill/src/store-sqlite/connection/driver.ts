/**
 * Loads the driver of SQLite, and checks the version of SQLite. Separate from handle.ts, whose types are
 * public, because an application may not have the types of the driver.
 */
import type Database from 'better-sqlite3'
import { loadDriver } from '../../store/load-driver.ts'

let loaded: typeof Database | undefined

/** Loads the driver at its first use. Throws STORE_UNSUPPORTED if better-sqlite3 is not installed. */
export function loadSqlite(): typeof Database {
  loaded ??= loadDriver('better-sqlite3') as typeof Database
  return loaded
}

/**
 * The oldest version that can uphold the guarantees. In older ones, a checkpoint concurrent with a writer
 * could reset the log wrongly and corrupt the file.
 */
const OLDEST = [3, 51, 3] as const

/** The problem with a version such as `3.45.1`, or null when it is fine. */
export function versionProblem(version: string): string | null {
  const parts = /^(\d+)\.(\d+)(?:\.(\d+))?/.exec(version)
  if (parts === null) return `SQLite reports an unknown version ${JSON.stringify(version)}`
  for (const [at, least] of OLDEST.entries()) {
    const part = Number(parts[at + 1] ?? 0)
    if (part > least) return null
    if (part < least)
      return `SQLite ${version} can corrupt a database used by several connections (fixed in 3.51.3)`
  }
  return null
}
