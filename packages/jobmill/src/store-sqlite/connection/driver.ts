/** The driver of SQLite, which is loaded at its first use. */
import type Database from 'better-sqlite3'
import { loadDriver } from '../../store/load-driver.ts'

let loaded: typeof Database | undefined

/** Throws STORE_UNSUPPORTED if better-sqlite3 is not installed. */
export function loadSqlite(): typeof Database {
  loaded ??= loadDriver('better-sqlite3') as typeof Database
  return loaded
}
