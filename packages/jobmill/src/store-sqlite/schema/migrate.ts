/** Applies missing migrations to a file. Safe when many processes open a new file at once. */
import { type AppliedMigration, checkApplied, type Migration, pending } from '../../store/admin/migrations.ts'
import { type SqliteHandle, statementsOf } from '../connection/handle.ts'
import { MIGRATIONS } from './migrations.ts'

const TABLE = `
  CREATE TABLE IF NOT EXISTS jobmill_migration (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT`
const EXISTS = `SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'jobmill_migration'`
const APPLIED = `SELECT number, name, checksum FROM jobmill_migration ORDER BY number`
const NOTE = `INSERT INTO jobmill_migration (number, name, checksum, applied_at) VALUES (?, ?, ?, ?)`

export function migrate(
  handle: SqliteHandle,
  now: number,
  migrations: readonly Migration[] = MIGRATIONS,
): void {
  // Reads first: on all but the first open there is nothing to do, so no process waits for the write lock.
  if (missing(handle, migrations).length === 0) return
  const sql = statementsOf(handle)
  sql('BEGIN IMMEDIATE').run()
  try {
    handle.exec(TABLE)
    // Another process may have migrated while this one waited for the lock.
    for (const migration of missing(handle, migrations)) {
      handle.exec(migration.sql)
      sql(NOTE).run(migration.number, migration.name, migration.checksum, now)
    }
    sql('COMMIT').run()
  } catch (error) {
    if (handle.inTransaction === true) sql('ROLLBACK').run()
    throw error
  }
}

/** What `migrate` runs on an empty file, as one script. */
export function schemaSql(): string {
  return [
    'BEGIN IMMEDIATE;',
    `${TABLE.trim()};`,
    ...MIGRATIONS.flatMap((one) => [
      `-- migration ${one.number}, ${one.name}`,
      one.sql.trim(),
      `INSERT INTO jobmill_migration (number, name, checksum, applied_at) VALUES (${one.number}, '${one.name}', '${one.checksum}', unixepoch() * 1000);`,
    ]),
    'COMMIT;',
  ].join('\n\n')
}

function missing(handle: SqliteHandle, migrations: readonly Migration[]): Migration[] {
  const applied = appliedMigrations(handle) ?? []
  checkApplied(applied, migrations)
  return pending(applied, migrations)
}

/** Null when the file has no Jobmill tables. */
export function appliedMigrations(handle: SqliteHandle): AppliedMigration[] | null {
  const sql = statementsOf(handle)
  return sql(EXISTS).get() === undefined ? null : (sql(APPLIED).all() as AppliedMigration[])
}
