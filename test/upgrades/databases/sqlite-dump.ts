/** Dumps a SQLite database as a script and restores it. */
import Database from 'better-sqlite3'

interface SchemaItem {
  readonly type: string
  readonly name: string
  readonly sql: string
}

export function dumpSqlite(path: string): string {
  const database = new Database(path, { readonly: true })
  try {
    const items = database
      .prepare(`SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid`)
      .all() as SchemaItem[]
    return [
      ...items.map(({ sql }) => `${sql};`),
      ...items.flatMap(({ type, name }) => (type === 'table' ? rowsOf(database, name) : [])),
      '',
    ].join('\n')
  } finally {
    database.close()
  }
}

function rowsOf(database: Database.Database, table: string): string[] {
  const columns = database.prepare(`SELECT name FROM pragma_table_info(?)`).pluck().all(table) as string[]
  const values = columns.map((column) => `quote(${column})`).join(` || ', ' || `)
  const rows = database.prepare(`SELECT ${values} FROM ${table} ORDER BY 1`).pluck().all() as string[]
  return rows.map((row) => `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${row});`)
}

export function restoreSqlite(path: string, script: string): void {
  const database = new Database(path)
  try {
    database.exec(`BEGIN; ${script} COMMIT;`)
  } finally {
    database.close()
  }
}
