/**
 * Applies migrations in one transaction under one lock. Many processes can start at once: the first migrates,
 * the others wait and find it done. It does not block processes that are working.
 */
import { type AppliedMigration, checkApplied, type Migration, pending } from '../../store/admin/migrations.ts'
import { isJobmillError, JobmillError } from '../../job/errors.ts'
import type { Platform } from '../../platform/platform.ts'
import { sleep } from '../../platform/sleep.ts'
import { type Connection, type Query, recordsOf } from '../connection/connection.ts'
import { isLockTimeout } from '../connection/errors.ts'
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

export interface Target {
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
  await givingWay(target, async (query) => {
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

/**
 * Long enough for concurrent statements to end. Shorter than the server's deadlock_timeout of 1 s, so that in
 * a deadlock the migration aborts instead of a running statement.
 */
const WAIT_BRIEFLY = `SET LOCAL lock_timeout = '200ms'`

/**
 * The pause grows from the first value to the second, so that other statements have the tables most of the
 * time.
 */
const PAUSE_MS = 200
const LONGEST_PAUSE_MS = 4_000

/**
 * Runs `work` in one transaction and retries it until it gets its locks or the deadline passes. A waiting
 * exclusive lock blocks every later statement on the table. A migration that waited for an open user
 * transaction or a backup would stop all processes until their leases expired. It therefore waits briefly,
 * lets the queued statements run, and tries again.
 */
async function givingWay(
  { connection, platform, deadlineMs }: Target,
  work: (query: Query) => Promise<void>,
): Promise<void> {
  const began = platform.monotonic()
  for (let pauseMs = PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      return await connection.transaction((query) => work(query).catch(rethrowLockTimeout))
    } catch (error) {
      if (!isBlocked(error) || platform.monotonic() - began >= deadlineMs) throw error
    }
    await sleep(platform, (0.5 + platform.random() / 2) * pauseMs)
  }
}

/** Omits the cause, because the connection would retry a lock timeout immediately. */
function rethrowLockTimeout(error: unknown): never {
  if (!isLockTimeout(error)) throw error
  throw new JobmillError('STORE_BUSY', 'an open transaction blocks the migration of the tables', {
    fix: 'End that transaction (see pg_stat_activity), then start this process again or run jobmill db migrate. Running processes continue to work',
  })
}

function isBlocked(error: unknown): boolean {
  return isJobmillError(error) && error.code === 'STORE_BUSY' && error.cause === undefined
}

/** What `migrate` runs on an empty database, as one script. */
export function schemaSql(sql: (text: string) => string): string {
  const statements = MIGRATIONS.flatMap(({ number, name, checksum, sql: text }) => [
    `-- migration ${number}, ${name}`,
    text.trim(),
    `INSERT INTO jobmill.migration (number, name, checksum) VALUES (${number}, '${name}', '${checksum}');`,
  ])
  const schema = `CREATE SCHEMA IF NOT EXISTS ${sql('jobmill.').slice(0, -1)};`
  return ['BEGIN;', schema, sql(`${CREATE_LEDGER.trim()};`), ...statements.map(sql), 'COMMIT;'].join('\n\n')
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

/** A function that only the last migration creates. */
const LAST_FUNCTION = `
SELECT FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
 WHERE n.nspname = $1 AND p.proname = 'add_names_version'`

/**
 * TRUNCATE of all tables also empties the table of migrations. The last function shows that everything was
 * migrated.
 */
export async function restoreLedger(
  query: Query,
  { schema, sql }: Pick<Target, 'schema' | 'sql'>,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  if (migrations !== MIGRATIONS || (await ledger(query, sql)).length > 0) return
  if (!(await exists(query, LAST_FUNCTION, schema))) return
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
  return recordsOf(await query(sql(APPLIED), []))
}

/** Null if there are no Jobmill tables. */
export async function appliedMigrations(
  query: Query,
  { schema, sql }: Pick<Target, 'schema' | 'sql'>,
): Promise<AppliedMigration[] | null> {
  return (await ledgerExists(query, schema)) ? ledger(query, sql) : null
}

export function schemaExists(query: Query, schema: string): Promise<boolean> {
  return exists(query, `SELECT FROM pg_namespace WHERE nspname = $1`, schema)
}

function ledgerExists(query: Query, schema: string): Promise<boolean> {
  return exists(
    query,
    `SELECT FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
      WHERE n.nspname = $1 AND c.relname = 'migration'`,
    schema,
  )
}

async function exists(query: Query, rows: string, schema: string): Promise<boolean> {
  const [row] = await query(`SELECT EXISTS (${rows}) AS found`, [schema])
  return row?.['found'] === true
}
