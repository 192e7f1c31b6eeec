/** A migration of a database in use. */
import pg from 'pg'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { freshSchema } from '../../../../test/support/databases.ts'
import { NEXT_MIGRATIONS } from '../../../../test/upgrades/releases/next-release.ts'
import { systemPlatform } from '../../src/platform/platform.ts'
import { connect } from '../../src/store-postgres/connection/connection.ts'
import { migrate } from '../../src/store-postgres/schema/migrate.ts'
import { MIGRATIONS } from '../../src/store-postgres/schema/migrations.ts'

const url = inject('postgresUrl')
const PATIENCE = { deadlineMs: 10_000, platform: systemPlatform }
describe('postgres migrations, forward', () => {
  test('P16 a claim in progress can use every table while a migration waits for the table that it changes', async () => {
    const schema = freshSchema(url, 'forward')
    const connection = connect({ url, connections: 1, ...PATIENCE })
    onTestFinished(() => connection.close())
    const sql = (text: string): string => text.replaceAll('jobmill.', `${schema}.`)
    await migrate({ connection, schema, sql, ...PATIENCE }, MIGRATIONS)
    const work = new pg.Client({ connectionString: url })
    await work.connect()
    onTestFinished(() => work.end())
    // A claim in progress: it has locked the queues, and needs the rest without waiting.
    await work.query(`SET lock_timeout = '500ms'`)
    await work.query(`BEGIN; SELECT FROM ${schema}.queue`)
    const migrated = migrate({ connection, schema, sql, ...PATIENCE }, NEXT_MIGRATIONS.postgres)
    const blocked = `SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))`
    while ((await work.query(blocked)).rowCount === 0);
    for (const table of ['instance', 'ready', 'running', 'settings', 'tally', 'job', 'attempt'])
      await work.query(`DELETE FROM ${schema}.${table} WHERE false`)
    await work.query('COMMIT')
    await expect(migrated).resolves.toBeUndefined()
  })
})
