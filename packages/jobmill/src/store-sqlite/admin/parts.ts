/**
 * Lists the tables, columns and indexes of a file, and those that the migrations create in an empty in-memory
 * database.
 */
import type { Parts } from '../../store/admin/drift.ts'
import type { Migration } from '../../store/admin/migrations.ts'
import { loadSqlite } from '../connection/driver.ts'
import { type SqliteHandle, statementsOf } from '../connection/handle.ts'
import { migrate } from '../schema/migrate.ts'
import { MIGRATIONS } from '../schema/migrations.ts'

const TABLES = `SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'jobmill_*' ORDER BY name`
const COLUMNS = `
  SELECT m.name AS "table", c.name AS name, c.type || iif(c."notnull", ' NOT NULL', '') ||
    ifnull(' DEFAULT ' || c.dflt_value, '') || iif(c.pk > 0, ' PRIMARY KEY (' || c.pk || ')', '') AS made
  FROM sqlite_schema AS m JOIN pragma_table_xinfo(m.name) AS c
  WHERE m.type = 'table' AND m.name GLOB 'jobmill_*' ORDER BY m.name, c.cid`
// Indexes without SQL belong to a key of their table.
const INDEXES = `
  SELECT tbl_name AS "table", name, sql AS made FROM sqlite_schema
  WHERE type = 'index' AND tbl_name GLOB 'jobmill_*' AND sql IS NOT NULL ORDER BY name`

interface PartRow {
  readonly table: string
  readonly name: string
  readonly made: string
}

export function partsIn(handle: SqliteHandle): Parts {
  const sql = statementsOf(handle)
  const rows = (text: string): PartRow[] => sql(text).all() as PartRow[]
  return new Map([
    ...tablesIn(handle).map((name) => [`table ${name}`, ''] as const),
    ...rows(COLUMNS).map(({ table, name, made }) => [`column ${table}.${name}`, made] as const),
    ...rows(INDEXES).map(({ table, name, made }) => [`index ${table}.${name}`, oneLine(made)] as const),
  ])
}

export function tablesIn(handle: SqliteHandle): string[] {
  return (statementsOf(handle)(TABLES).all() as { name: string }[]).map(({ name }) => name)
}

/** Applies these migrations to an empty database and inspects it. */
export function afterMigrations<T>(
  look: (handle: SqliteHandle) => T,
  migrations: readonly Migration[] = MIGRATIONS,
): T {
  return inMemory((handle) => {
    migrate(handle, 0, migrations)
    return look(handle)
  })
}

export function inMemory<T>(use: (handle: SqliteHandle) => T): T {
  const handle = new (loadSqlite())(':memory:')
  try {
    return use(handle)
  } finally {
    handle.close()
  }
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ')
}
