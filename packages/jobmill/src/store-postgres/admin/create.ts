/** Creates the database, through the maintenance database, and the schema in it. */
import type pg from 'pg'
import { JobmillError } from '../../job/errors.ts'
import { codeOf, toJobmillError } from '../connection/errors.ts'
import { schemaExists } from '../schema/migrate.ts'
import type { PostgresSettings } from '../options.ts'
import { loadPg, newClient } from '../connection/driver.ts'
import { inMaintenanceDatabase } from '../connection/server-address.ts'
import { ENCODING } from '../connection/server-version.ts'
import { withClient, withConnection, withConnectionIfThere, type Site } from './reach.ts'

/** duplicate_schema, or unique_violation if two processes create the schema at the same time. */
const ALREADY_EXISTS = ['42P06', '23505']

export async function create({ settings, schema, sql }: Site): Promise<boolean> {
  const isThere = await withConnectionIfThere(settings, ({ query }) => query('SELECT 1', []))
  const isNew = isThere === null && (await createDatabase(settings))
  return withConnection(settings, async ({ query }) => {
    if (await schemaExists(query, schema)) return isNew
    try {
      await query(`CREATE SCHEMA ${sql('jobmill.').slice(0, -1)}`, [])
      return true
    } catch (error) {
      // Another process was faster. IF NOT EXISTS does not prevent this race.
      if (ALREADY_EXISTS.includes(codeOf(error) ?? '')) return isNew
      throw error
    }
  })
}

/** Returns false if another process was faster. */
async function createDatabase(settings: PostgresSettings): Promise<boolean> {
  const { url, platform, deadlineMs: waitMs } = settings
  const name = newClient(url).database ?? ''
  const times = { connectionTimeoutMillis: waitMs, query_timeout: waitMs }
  try {
    // CREATE DATABASE cannot run in a transaction, and our connections may start one for every statement.
    const own = newClient(inMaintenanceDatabase(url), { application_name: 'jobmill', ...times })
    await withClient(own, { platform, waitMs }, async (client) => {
      const like = await likeTemplate(client)
      await client.query(`CREATE DATABASE ${loadPg().escapeIdentifier(name)}${like}`)
    })
    return true
  } catch (error) {
    if (['42P04', '23505'].includes(codeOf(error) ?? '')) return false
    if (codeOf(error) !== '42501') throw toJobmillError(error, { sent: true })
    throw new JobmillError('STORE_REFUSED', 'the database user may not create a database', {
      fix: 'Grant it the right (ALTER ROLE … CREATEDB), or create the database as another user',
      cause: error,
    })
  }
}

/** A new database is a copy of `template1`, unless that has an unsupported encoding. */
async function likeTemplate(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ encoding: string }>(
    `SELECT pg_encoding_to_char(encoding) AS encoding FROM pg_database WHERE datname = 'template1'`,
  )
  return rows[0]?.encoding === ENCODING ? '' : ` TEMPLATE template0 ENCODING '${ENCODING}' LOCALE 'C'`
}
