/**
 * Checks server settings that violate a guarantee: acknowledged writes must be on disk, and dead rows must be
 * cleaned up.
 */
import { broken, type Diagnostic, ok } from '../../store/admin/admin.ts'
import { loadPg } from '../connection/driver.ts'
import { recordsOf } from '../connection/connection.ts'
import { ourTables } from './expected.ts'
import type { Look } from './reach.ts'

/** The effective values for our session, and where they were set. */
const SETTINGS = `
SELECT name, setting, source, current_user AS role, current_database() AS database FROM pg_settings
 WHERE setting = 'off' AND name = ANY ($1)`

interface Setting {
  readonly name: string
  readonly source: string
  readonly role: string
  readonly database: string
}

const DURABLE: Readonly<Record<string, string>> = {
  fsync: 'a crash of the machine may corrupt the whole database',
  full_page_writes: 'a crash of the machine may leave half-written pages',
  synchronous_commit: 'acknowledged jobs may be lost when the server crashes',
}

const CLEANING: Readonly<Record<string, string>> = {
  autovacuum: 'dead rows of finished jobs accumulate, and every claim gets slower',
  track_counts: 'autovacuum cannot tell which tables need it',
}

export async function durability(look: Look): Promise<Diagnostic[]> {
  const off = await settingsOff(look, 'durability', DURABLE)
  return off.length > 0 ? off : [ok('durability', 'a commit is on disk before it is acknowledged')]
}

/** Lists the tables that turn off autovacuum for themselves. */
const TABLES_OFF = `
SELECT relname AS name FROM pg_class
 WHERE relnamespace = to_regnamespace($1) AND relname = ANY ($2) AND relkind = 'r'
   AND EXISTS (SELECT FROM unnest(reloptions) AS o WHERE lower(o) IN ('autovacuum_enabled=false', 'autovacuum_enabled=off',
                 'autovacuum_enabled=0', 'autovacuum_enabled=no')) ORDER BY 1`

export async function autovacuum(look: Look): Promise<Diagnostic[]> {
  const off = await settingsOff(look, 'autovacuum', CLEANING)
  const rows = await look.query(TABLES_OFF, [look.schema, ourTables()])
  const tables = rows.map((row) =>
    broken(
      'autovacuum',
      `autovacuum is off for the table ${String(row['name'])}, so it grows and gets slower`,
      `Turn it on: ALTER TABLE ${look.sql(`jobmill.${String(row['name'])}`)} RESET (autovacuum_enabled)`,
    ),
  )
  return off.length + tables.length > 0 ? [...off, ...tables] : [ok('autovacuum', 'autovacuum is on')]
}

async function settingsOff(
  { query }: Look,
  check: string,
  meaning: Readonly<Record<string, string>>,
): Promise<Diagnostic[]> {
  const rows = recordsOf<Setting>(await query(SETTINGS, [Object.keys(meaning)]))
  return rows.map((row) =>
    broken(check, `${row.name} is off: ${meaning[row.name]}`, `Turn it on: ${statementToTurnOn(row)}`),
  )
}

/** A setting must be changed where it was turned off. */
function statementToTurnOn({ name, source, role, database }: Setting): string {
  const { escapeIdentifier } = loadPg()
  const [ofRole, ofDatabase] = [escapeIdentifier(role), escapeIdentifier(database)]
  if (source === 'database') return `ALTER DATABASE ${ofDatabase} RESET ${name}`
  if (source === 'user') return `ALTER ROLE ${ofRole} RESET ${name}`
  if (source === 'database user') return `ALTER ROLE ${ofRole} IN DATABASE ${ofDatabase} RESET ${name}`
  if (source === 'command line') return `start the server without ${name}=off`
  if (source === 'client') return `remove ${name} from the database URL or from PGOPTIONS`
  return `ALTER SYSTEM SET ${name} = on; SELECT pg_reload_conf()`
}
