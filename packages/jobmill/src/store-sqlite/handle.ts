/**
 * The part of a SQLite driver that this store calls, described by shape: better-sqlite3 fits, and so does the
 * handle that a user passes as `tx`, whichever copy of the driver it came from.
 */

export type Value = string | number | null

interface SqliteStatement {
  run(...values: Value[]): { readonly changes: number | bigint; readonly lastInsertRowid: number | bigint }
  get(...values: Value[]): unknown
  all(...values: Value[]): unknown[]
  safeIntegers?(on: boolean): unknown
}

/** What a user passes as a transaction: loose, so that every version of a driver's types fits; looked at when it is used. */
export interface SqliteTx {
  prepare(sql: string): unknown
  exec(sql: string): unknown
}

export interface SqliteHandle {
  readonly open?: boolean
  /** What better-sqlite3 calls it, and node:sqlite. */
  readonly inTransaction?: boolean
  readonly isTransaction?: boolean
  prepare(sql: string): SqliteStatement
  exec(sql: string): unknown
}

/** The prepared statement for a text: parsed at its first use on a handle, kept for as long as the handle. */
export type Sql = (text: string) => SqliteStatement

const kept = new WeakMap<SqliteHandle, Sql>()

export function prepared(handle: SqliteHandle): Sql {
  const known = kept.get(handle)
  if (known !== undefined) return known
  const statements = new Map<string, SqliteStatement>()
  const sql: Sql = (text) => {
    let statement = statements.get(text)
    if (statement === undefined) {
      statement = handle.prepare(text)
      // A user's handle may be set to return BigInt; our numbers all fit, and our code counts with them.
      statement.safeIntegers?.(false)
      statements.set(text, statement)
    }
    return statement
  }
  kept.set(handle, sql)
  return sql
}
