/**
 * Database tools for operators: schema, creation, removal and diagnostics. They use their own connection and
 * also work while the store is closed.
 */

export interface DatabaseAdmin {
  /**
   * The migrations of the database. Read-only. Also works if the database is missing, empty, older or newer.
   */
  schema(): Promise<SchemaStatus>
  /**
   * The SQL that `open` runs on an empty database, as one script: all migrations of the installed release,
   * and the records that they were applied. Accesses no database.
   */
  schemaSql(): string
  /** Creates the database and its schema. Returns false if both exist. `open` creates the tables. */
  create(): Promise<boolean>
  /** Removes everything that Jobmill created in the database, and nothing else. All or nothing. */
  drop(): Promise<Dropped>
  /** Looks for errors and causes of slowness in the database, and suggests fixes. Read-only. */
  diagnose(how?: DiagnoseOptions): Promise<Diagnostic[]>
  /**
   * Size of the database and transactions that block cleanup. Cheap at any size, for a dashboard that polls.
   * Read-only.
   */
  health(): Promise<DatabaseHealth>
  /** Whether the replica that answers reads can be used. Absent for a store without replicas. Read-only. */
  replica?(): Promise<Diagnostic[]>
}

export interface DatabaseHealth {
  /** With its version: `PostgreSQL 18.1`. */
  readonly server: string
  readonly sizeBytes: number
  /** Size of the SQLite write-ahead log; null for a server, which manages its own. */
  readonly logBytes: number | null
  /** Largest first. */
  readonly tables: readonly TableHealth[]
  /**
   * Sessions with a transaction open for more than 5 min. Rows deleted since then cannot be cleaned up.
   * Oldest first, at most 10.
   */
  readonly pinned: readonly PinningSession[]
}

/** A field is null if its value would require reading every row. */
export interface TableHealth {
  readonly name: string
  /** Includes indexes. */
  readonly bytes: number | null
  /** An estimate. */
  readonly rows: number | null
  /** Deleted rows that are not cleaned up yet; null for databases without them. */
  readonly deadRows: number | null
}

export interface PinningSession {
  readonly pid: number
  readonly ageMs: number
  /** Null for a session of the server itself. */
  readonly user: string | null
  readonly state: string
  /** The last statement of the session. */
  readonly query: string | null
}

/** Default age from which an open transaction is reported. */
export const OPEN_FOR_MS = 5 * 60_000

export interface SchemaStatus {
  /** False if the database does not exist or has no Jobmill tables. */
  readonly isThere: boolean
  readonly applied: readonly { readonly number: number; readonly name: string }[]
  readonly pending: readonly { readonly number: number; readonly name: string }[]
  /** Why the installed release cannot use the database; null if it can after the pending migrations. */
  readonly refused: string | null
}

export interface Dropped {
  /** Labels or ids of live instances. If there are any, nothing was removed. */
  readonly alive: readonly string[]
}

export interface DiagnoseOptions {
  /** Age from which an open transaction is reported (default 5 min). */
  readonly openForMs?: number
}

/** The result of one check. */
export interface Diagnostic<Check extends string = string> {
  /** The name of the check: `schema`, `index`, `durability`, `horizon`, … */
  readonly check: Check
  /** `notice`: something to decide or to clean up, when there is time. */
  readonly level: 'ok' | 'notice' | 'warning' | 'error'
  readonly message: string
  /** What to do; null if the check passed. */
  readonly fix: string | null
}

/** The check passed. */
export function ok(check: string, message: string): Diagnostic {
  return { check, level: 'ok', message, fix: null }
}

/** It works, but is slow or has a cost. */
export function warning<Check extends string>(check: Check, message: string, fix: string): Diagnostic<Check> {
  return { check, level: 'warning', message, fix }
}

/** It does not work, or a guarantee is violated. */
export function broken<Check extends string>(check: Check, message: string, fix: string): Diagnostic<Check> {
  return { check, level: 'error', message, fix }
}
