/**
 * What a process that died had is others' when its lease is over. Tests give it a long one, so that a process that lives does not lose it on a busy machine,
 * and end it once the process is dead.
 */
import Database from 'better-sqlite3'
import { openTables } from 'jobmill-tables'
import pg from 'pg'
import type { Schema } from '../../src/sessions/steps.ts'

/** Of every process on this database but this one. */
export async function leasesAreOver(database: string, living = ''): Promise<void> {
  const { tables } = await openTables<Schema>(database, { app: 'telegram', steps: [] })
  await tables.db.updateTable('telegram_update').set({ until: 1 }).where('state', '=', 'running').execute()
  await tables.close()
  if (!database.startsWith('postgres')) {
    const file = new Database(database)
    file.prepare('UPDATE jobmill_instance SET expires_at = 1 WHERE id <> ? AND ended_at IS NULL').run(living)
    file.prepare('UPDATE jobmill_duty SET expires_at = 1 WHERE leader <> ?').run(living)
    file.close()
    return
  }
  const { searchParams } = new URL(database)
  const schema = pg.escapeIdentifier(searchParams.get('schema') ?? '')
  const client = new pg.Client({ connectionString: database })
  await client.connect()
  await client.query(`UPDATE ${schema}.instance SET expires_at = 1 WHERE id <> $1 AND ended_at IS NULL`, [
    living,
  ])
  await client.query(`UPDATE ${schema}.duty SET expires_at = 1 WHERE leader <> $1`, [living])
  await client.end()
}
