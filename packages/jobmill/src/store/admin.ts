/** What an operator asks of a database itself: is it there, is it ours, is it well. Works while the store is closed, on a connection of its own. */

export interface DatabaseAdmin {
  /** Which migrations the database has. Reads only; also of one that is not there, empty, older or newer. */
  schema(): Promise<SchemaStatus>
  /** Makes the database, and the namespace in it, where there is none; false when there was nothing to make. The tables come with `open`. */
  create(): Promise<boolean>
  /** Takes away everything that jobmill has made in the database, and nothing else. All of it or nothing. */
  drop(): Promise<Dropped>
  /** Looks for what is wrong or slow with the database, and says what to do about it. Changes nothing. */
  diagnose(how?: DiagnoseOptions): Promise<Diagnostic[]>
  /** How large the database is and who holds it up, cheaply at any size: for a page that looks often. Changes nothing. */
  health(): Promise<DatabaseHealth>
}

export interface DatabaseHealth {
  /** With its version: `PostgreSQL 18.1`. */
  readonly server: string
  readonly sizeBytes: number
  /** Of the write-ahead log beside a SQLite file; null where the server looks after it. */
  readonly logBytes: number | null
  /** The largest first. */
  readonly tables: readonly TableHealth[]
  /** Sessions whose transaction has been open for more than 5 min: nothing that was deleted since can be cleaned up. The oldest first, at most 10. */
  readonly pinned: readonly PinningSession[]
}

/** Null where it would take a look at every row. */
export interface TableHealth {
  readonly name: string
  /** With indexes. */
  readonly bytes: number | null
  /** About so many. */
  readonly rows: number | null
  /** Rows that wait to be cleaned up; null where there is no such thing. */
  readonly deadRows: number | null
}

export interface PinningSession {
  readonly pid: number
  readonly ageMs: number
  /** Null for one of the server's own. */
  readonly user: string | null
  readonly state: string
  /** Its last statement. */
  readonly query: string | null
}

/** How long a transaction may be open before it is told, unless somebody says otherwise. */
export const OPEN_FOR_MS = 5 * 60_000

export interface SchemaStatus {
  /** False when there is no database, or no table of ours in it. */
  readonly isThere: boolean
  readonly applied: readonly { readonly number: number; readonly name: string }[]
  readonly pending: readonly { readonly number: number; readonly name: string }[]
  /** Why this release cannot work with it; null when it can, once what is pending was applied. */
  readonly refused: string | null
}

export interface Dropped {
  /** The instances that live, by label or id. Nothing was taken away while there is one. */
  readonly alive: readonly string[]
}

export interface DiagnoseOptions {
  /** How long a transaction may be open before it is told (default 5 min). */
  readonly openForMs?: number
}

/** One thing that was looked at. */
export interface Diagnostic {
  /** Which check: `schema`, `index`, `durability`, `horizon`, … */
  readonly check: string
  readonly level: 'ok' | 'warning' | 'error'
  readonly says: string
  /** What to do; null when all is well. */
  readonly fix: string | null
}

/** All is well. */
export function well(check: string, says: string): Diagnostic {
  return { check, level: 'ok', says, fix: null }
}

/** It works, and will be slow, or costs something. */
export function warning(check: string, says: string, fix: string): Diagnostic {
  return { check, level: 'warning', says, fix }
}

/** It does not work, or a promise is not kept. */
export function broken(check: string, says: string, fix: string): Diagnostic {
  return { check, level: 'error', says, fix }
}
