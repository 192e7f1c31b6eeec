/** Reads one value from an existing database, without creating or changing anything. */
import Sqlite from 'better-sqlite3'
import pg from 'pg'
import { withClient } from './check-place.ts'
import { placeOf } from './place.ts'

const BUSY_MS = 5_000

export interface Peek {
  readonly app: string
  readonly table: string
  readonly column: string
}

/** The value from the first row; null if the table does not exist or is empty. */
export async function peek(address: string, { app, table, column }: Peek): Promise<unknown> {
  const place = placeOf(address)
  const name = pg.escapeIdentifier(column)
  if (place.type === 'sqlite')
    return inFile(place.file, table, `SELECT ${name} FROM ${pg.escapeIdentifier(table)}`)
  const from = [`${place.schema}_${app}`, table].map((part) => pg.escapeIdentifier(part)).join('.')
  return withClient(place.url, async (client) => {
    const { rows: found } = await client.query<{ is: boolean }>('SELECT to_regclass($1) IS NOT NULL AS is', [
      from,
    ])
    if (found[0]?.is !== true) return null
    const { rows } = await client.query<Record<string, unknown>>(`SELECT ${name} FROM ${from} LIMIT 1`)
    return rows[0]?.[column] ?? null
  })
}

/** Opens the file read-write: a read-only connection could not remove the WAL files that SQLite creates. */
async function inFile(file: string, table: string, statement: string): Promise<unknown> {
  const { refuseOldLogs, sqliteError } = await import('jobmill/sqlite')
  let handle: Sqlite.Database | null = null
  try {
    refuseOldLogs(file)
    handle = new Sqlite(file, { fileMustExist: true, timeout: BUSY_MS })
    const isThere = handle.prepare('SELECT 1 FROM sqlite_master WHERE name = ?').get(table) !== undefined
    return isThere ? (handle.prepare(statement).pluck().get() ?? null) : null
  } catch (error) {
    throw sqliteError(error, file)
  } finally {
    handle?.close()
  }
}
