/**
 * Applies migrations in one transaction under one lock. Many processes can start at once: the first migrates,
 * the others wait and find it done. It does not block processes that are working; see give-way.ts.
 */
import { type AppliedMigration, checkApplied, type Migration, pending } from '../../store/admin/migrations.ts'
import type { Platform } from '../../platform/platform.ts'
import type { Connection, Query } from '../connection/connection.ts'
import { migrateGivingWay, WAIT_BRIEFLY } from './give-way.ts'
import { MIGRATIONS } from './migrations.ts'

const CREATE_LEDGER = `
CREATE TABLE IF NOT EXISTS jobmill.migration (
  number int4 PRIMARY KEY,
  name text NOT NULL,
  checksum text NOT NULL,
  applied_at int8 NOT NULL DEFAULT floor(extract(epoch FROM clock_timestamp()) * 1000)::int8
)`
const APPLIED = `SELECT number, name, checksum FROM jobmill.migration ORDER BY number`
const RECORD = `INSERT INTO jobmill.migration (number, name, checksum) VALUES ($1, $2, $3)`

interface Target {
  readonly connection: Connection
  readonly schema: string
  /** Rewrites a statement for the schema of this store. */
  readonly sql: (text: string) => string
  /** How long to keep trying. */
  readonly deadlineMs: number
  readonly platform: Platform
}

export async function migrate(target: Target, migrations: readonly Migration[] = MIGRATIONS): Promise<void> {
  const { schema, sql } = target
  // A normal start finds everything migrated and takes no lock.
  if (await isMigrated(target, migrations)) return
  await migrateGivingWay(target, async (query) => {
    await lockMigrations(query, schema)
    await query(WAIT_BRIEFLY, [])
    if (!(await schemaExists(query, schema))) await query(`CREATE SCHEMA ${sql('jobmill.').slice(0, -1)}`, [])
    await query(sql(CREATE_LEDGER), [])
    await restoreLedger(query, target, migrations)
    for (const migration of await missing(query, sql, migrations)) {
      await query(sql(migration.sql), [])
      await query(sql(RECORD), [migration.number, migration.name, migration.checksum])
    }
  })
}

export async function isMigrated(
  { connection, schema, sql }: Pick<Target, 'connection' | 'schema' | 'sql'>,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<boolean> {
  return (
    (await ledgerExists(connection.query, schema)) &&
    (await missing(connection.query, sql, migrations)).length === 0
  )
}

/**
 * TRUNCATE of all tables also empties the ledger. A function that only the last migration creates shows that
 * everything was migrated.
 */
export async function restoreLedger(
  query: Query,
  { schema, sql }: Pick<Target, 'schema' | 'sql'>,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  if (migrations !== MIGRATIONS || (await ledger(query, sql)).length > 0) return
  const [row] = await query(
    `SELECT EXISTS (SELECT FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
                     WHERE n.nspname = $1 AND p.proname = 'add_names_version') AS found`,
    [schema],
  )
  if (row?.['found'] !== true) return
  for (const { number, name, checksum } of migrations) await query(sql(RECORD), [number, name, checksum])
}

/** Until the transaction ends, no other process creates or drops objects in the schema. */
export async function lockMigrations(query: Query, schema: string): Promise<void> {
  await query(`SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, [`jobmill migrations of ${schema}`])
}

async function missing(
  query: Query,
  sql: (text: string) => string,
  known: readonly Migration[],
): Promise<Migration[]> {
  const applied = await ledger(query, sql)
  checkApplied(applied, known)
  return pending(applied, known)
}

async function ledger(query: Query, sql: (text: string) => string): Promise<AppliedMigration[]> {
  return (await query(sql(APPLIED), [])).map((row) => ({
    number: Number(row['number']),
    name: String(row['name']),
    checksum: String(row['checksum']),
  }))
}

/** Null if there are no Jobmill tables. */
export async function appliedMigrations(
  query: Query,
  { schema, sql }: Pick<Target, 'schema' | 'sql'>,
): Promise<AppliedMigration[] | null> {
  return (await ledgerExists(query, schema)) ? ledger(query, sql) : null
}

export async function schemaExists(query: Query, schema: string): Promise<boolean> {
  const [row] = await query(`SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1) AS found`, [schema])
  return row?.['found'] === true
}

async function ledgerExists(query: Query, schema: string): Promise<boolean> {
  const [row] = await query(
    `SELECT EXISTS (SELECT FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
                     WHERE n.nspname = $1 AND c.relname = 'migration') AS found`,
    [schema],
  )
  return row?.['found'] === true
}
