/**
 * Tables with exactly one row. A TRUNCATE leaves none. A restore under a running process leaves two: the
 * process adds the row of an empty table before the restore does. A unique key would not help: it would make
 * the restore fail halfway. So readers accept several rows, and this restores the single row. The table of
 * migrations has a key, but a restore creates it last, and fails to do so if a migration is then listed
 * twice.
 */
import { type Query, recordsOf } from '../connection/connection.ts'
import { lockMigrations, type Target } from './migrate.ts'

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

const LEDGER = 'migration'

const COUNTS = [
  ...TABLES.map(
    ({ table }) =>
      `SELECT '${table}' AS name, count(*)::int4 AS count, 1 AS wanted FROM jobmill.${table} HAVING count(*) <> 1`,
  ),
  `SELECT '${LEDGER}', count(*)::int4, count(DISTINCT number)::int4 FROM jobmill.${LEDGER} HAVING count(*) <> count(DISTINCT number)`,
].join(' UNION ALL ')
const RESTORE = [
  ...TABLES.flatMap(({ table, value, first }) => [
    `INSERT INTO jobmill.${table} SELECT ${value} WHERE NOT EXISTS (SELECT FROM jobmill.${table})`,
    `DELETE FROM jobmill.${table} WHERE ctid <> (SELECT ctid FROM jobmill.${table} ORDER BY ${first}, ctid LIMIT 1)`,
  ]),
  // Rows with different contents stay: the store does not open a database that has them.
  `DELETE FROM jobmill.${LEDGER} AS m USING jobmill.${LEDGER} AS other
    WHERE other.number = m.number AND other.checksum = m.checksum AND other.ctid < m.ctid`,
]

interface RowCount {
  readonly name: string
  readonly count: number
  readonly wanted: number
}

/** The tables that have no row or several, and the table of migrations if it lists one twice. */
export async function wrongRowCounts(query: Query, sql: Target['sql']): Promise<RowCount[]> {
  return recordsOf(await query(sql(COUNTS), []))
}

/** Requires the lock of migrations. */
export async function restoreSingleRows(query: Query, sql: Target['sql']): Promise<void> {
  for (const statement of RESTORE) await query(sql(statement), [])
}

export async function restoreSingleRowsIfWrong({ connection, schema, sql }: Target): Promise<void> {
  if ((await wrongRowCounts(connection.query, sql)).length === 0) return
  await connection.transaction(async (query) => {
    await lockMigrations(query, schema)
    await restoreSingleRows(query, sql)
  })
}
