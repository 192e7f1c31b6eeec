/**
 * Expires the leases of dead processes. Tests use long leases, so that a live process does not lose them on a
 * busy machine. A process reaps only after one lease in contact with the database, so this also returns the
 * jobs.
 */
import Database from 'better-sqlite3'
import { jobmill, type Mill } from 'jobmill'
import { openTables } from 'jobmill-tables'
import pg from 'pg'
import type { Schema } from '../../src/sessions/steps.ts'

const NOBODY = '00000000-0000-0000-0000-000000000000'

/** Expires every process on this database except that of this mill, which then returns the jobs. */
export async function leasesAreOver(database: string, living?: Mill<never>): Promise<void> {
  const { tables, store } = await openTables<Schema>(database, { app: 'telegram', steps: [] })
  await tables.close()
  await (database.startsWith('postgres') ? inSchema : inFile)(database, living?.instance.id ?? NOBODY)
  if (living !== undefined) return void (await living.recover())
  const mill = jobmill({ store, log: 'silent' })
  await mill.recover()
  await mill.stop()
}

async function inFile(path: string, living: string): Promise<void> {
  const file = new Database(path)
  file.prepare('UPDATE jobmill_instance SET expires_at = 1 WHERE id <> ?').run(living)
  file
    .prepare(
      `UPDATE jobmill_duty SET expires_at = 1 WHERE instance_pk NOT IN (SELECT pk FROM jobmill_instance WHERE id = ?)`,
    )
    .run(living)
  file.close()
}

async function inSchema(database: string, living: string): Promise<void> {
  const { searchParams } = new URL(database)
  const schema = pg.escapeIdentifier(searchParams.get('schema') ?? '')
  const client = new pg.Client({ connectionString: database })
  await client.connect()
  try {
    for (const [table, whose] of [
      ['instance', 'id'],
      ['duty', 'leader'],
    ])
      await client.query(`UPDATE ${schema}.${table} SET expires_at = 1 WHERE ${whose} <> $1`, [living])
  } finally {
    await client.end()
  }
}
