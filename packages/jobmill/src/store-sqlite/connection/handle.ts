/**
 * The part of better-sqlite3 that this store uses. A structural type, so that handles of every driver version
 * match it.
 */

export type Value = string | number | null

interface SqliteStatement {
  run(...values: Value[]): { readonly changes: number | bigint; readonly lastInsertRowid: number | bigint }
  get(...values: Value[]): unknown
  all(...values: Value[]): unknown[]
  safeIntegers?(on: boolean): unknown
}

/**
 * The type of `tx`: loose, so that every version of the driver's types fits. It is checked when used.
 * `inTransaction` excludes the handles of node:sqlite: see docs/internals/sqlite-store.md.
 */
export interface SqliteTx {
  readonly inTransaction: boolean
  prepare(sql: string): unknown
  exec(sql: string): unknown
}

export interface SqliteHandle {
  readonly open?: boolean
  readonly inTransaction?: boolean
  prepare(sql: string): SqliteStatement
  exec(sql: string): unknown
}

/** The prepared statement for a text: parsed at its first use, cached as long as the handle exists. */
export type Sql = (text: string) => SqliteStatement

const kept = new WeakMap<SqliteHandle, Sql>()

export function statementsOf(handle: SqliteHandle): Sql {
  const known = kept.get(handle)
  if (known !== undefined) return known
  const statements = new Map<string, SqliteStatement>()
  const sql: Sql = (text) => {
    let statement = statements.get(text)
    if (statement === undefined) {
      statement = handle.prepare(text)
      // A user's handle may be configured to return BigInt, but this code calculates with numbers.
      statement.safeIntegers?.(false)
      statements.set(text, statement)
    }
    return statement
  }
  kept.set(handle, sql)
  return sql
}

/** The first value that a pragma returns. */
export function pragma<T extends Value>(handle: SqliteHandle, text: string): T {
  const [value] = Object.values(statementsOf(handle)(`PRAGMA ${text}`).get() as Record<string, T>)
  return value as T
}

export function sqliteVersion(handle: SqliteHandle): string {
  const { version } = statementsOf(handle)('SELECT sqlite_version() AS version').get() as { version: string }
  return version
}
