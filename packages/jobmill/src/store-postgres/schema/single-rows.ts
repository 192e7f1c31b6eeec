/**
 * Tables with exactly one row. A TRUNCATE leaves none. A restore under a running process leaves two: the
 * process adds the row of an empty table before the restore does. A unique key would not help: it would make
 * the restore fail halfway. So readers accept several rows, and this restores the single row.
 */
import type { Connection, Query } from '../connection/connection.ts'
import { wasAnswered } from '../connection/errors.ts'
import { lockMigrations } from './migrate.ts'

/**
 * Processes compare versions with those they remember, so the versions must not restart at 1. The row that
 * stays is the one that readers use.
 */
const version = (table: string) => ({
  table,
  value: 'floor(extract(epoch FROM clock_timestamp()) * 1000)::int8',
  first: 'version DESC',
})
const TABLES = [
  version('settings'),
  version('members'),
  { table: 'secret', value: 'concat(gen_random_uuid(), gen_random_uuid())', first: 'value' },
]

const COUNTS = TABLES.map(
  ({ table }) =>
    `SELECT '${table}' AS name, count(*)::int4 AS count FROM jobmill.${table} HAVING count(*) <> 1`,
).join(' UNION ALL ')
const RESTORE = TABLES.flatMap(({ table, value, first }) => [
  `INSERT INTO jobmill.${table} SELECT ${value} WHERE NOT EXISTS (SELECT FROM jobmill.${table})`,
  `DELETE FROM jobmill.${table} WHERE ctid <> (SELECT ctid FROM jobmill.${table} ORDER BY ${first}, ctid LIMIT 1)`,
])

export interface RowCount {
  readonly name: string
  readonly count: number
}

/** The tables that have no row or several. */
export async function wrongRowCounts(query: Query, sql: (text: string) => string): Promise<RowCount[]> {
  return (await query(sql(COUNTS), [])) as unknown as RowCount[]
}

interface Target {
  readonly connection: Connection
  readonly schema: string
  readonly sql: (text: string) => string
}

/** Requires the lock of migrations. */
export async function restoreSingleRows(query: Query, sql: (text: string) => string): Promise<void> {
  for (const statement of RESTORE) await query(sql(statement), [])
}

/** At every start. If parts of the schema are missing, the calls that need them report it. */
export async function restoreSingleRowsIfWrong({ connection, schema, sql }: Target): Promise<void> {
  try {
    if ((await wrongRowCounts(connection.query, sql)).length === 0) return
    await connection.transaction(async (query) => {
      await lockMigrations(query, schema)
      await restoreSingleRows(query, sql)
    })
  } catch (error) {
    if (!wasAnswered(error)) throw error
  }
}
