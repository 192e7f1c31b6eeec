/** A database of an earlier release is brought forward when it is opened, and what was in it goes on. */
import pg from 'pg'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { freshSchema } from '../../../../test/support/databases.ts'
import { systemPlatform } from '../../src/platform/platform.ts'
import { postgres } from '../../src/postgres.ts'
import { type Connection, connect } from '../../src/store-postgres/connection.ts'
import { migrate, MIGRATIONS } from '../../src/store-postgres/migrate.ts'
import { aJob, anInstance } from '../../src/testing/factories.ts'

const url = inject('postgresUrl')
const PATIENCE = { deadlineMs: 10_000, platform: systemPlatform }
const [job, instance] = [aJob(), anInstance()]

/** One running job with an attempt behind it, as the first release wrote them. */
const ROWS = [
  `INSERT INTO jobmill.queue (name, paused, backoff_enabled, backoff_base_ms, backoff_max_ms) VALUES ('default', false, true, 1, 1)`,
  `INSERT INTO jobmill.kind (name) VALUES ('work')`,
  `INSERT INTO jobmill.instance (id, queues, kinds, capacity, started_at, renewed_at, expires_at)
   VALUES ('${instance.id}', '{default}', '{work}', 1, 0, 0, 4000000000000)`,
  `INSERT INTO jobmill.job (id, queue_id, kind_id, priority, max_attempts, payload, enqueued_at) VALUES ('${job.id}', 1, 1, 0, 5, '1', 0)`,
  `INSERT INTO jobmill.running (id, token, instance, seq, ready_at, started_at, queue_id, kind_id, tries, priority, attempt, crashes, flags)
   VALUES ('${job.id}', 7, '${instance.id}', 1, 0, 0, 1, 1, 2, 0, 2, 0, 0)`,
  `INSERT INTO jobmill.attempt (job_id, token, ended_at, queue_id, attempt, spent, crashes, outcome, tries)
   VALUES ('${job.id}', 6, 0, 1, 1, 1, 0, 1, 1)`,
]

async function firstRelease(connection: Connection, schema: string): Promise<void> {
  const sql = (text: string): string => text.replaceAll('jobmill.', `${schema}.`)
  await migrate({ connection, schema, sql, ...PATIENCE }, MIGRATIONS.slice(0, 1))
  for (const row of ROWS) await connection.query(sql(row), [])
}

describe('postgres migrations, forward', () => {
  test('P3 a database of the first release is brought forward with what is in it, and its work goes on', async () => {
    const schema = freshSchema(url, 'forward')
    const connection = connect({ url, connections: 1, ...PATIENCE })
    onTestFinished(() => connection.close())
    await firstRelease(connection, schema)
    const store = postgres(url, { schema, doorbell: false })
    onTestFinished(() => store.close())
    await store.open()
    const applied = await connection.query(`SELECT number FROM ${schema}.migration ORDER BY number`, [])
    expect(applied.map(({ number }) => number)).toEqual(MIGRATIONS.map(({ number }) => number))
    expect(await store.instances()).toMatchObject([{ id: instance.id, onDead: [], state: 'alive' }])
    expect(await store.get([job.id])).toMatchObject([{ state: 'running', log: null }])
    const lease = { id: job.id, token: 7 }
    expect(await store.progress([{ ...lease, log: 'after' }])).toEqual([true])
    await store.finish([{ ...lease, outcome: 'returned', transition: { to: 'done', result: null } }])
    expect((await store.history(job.id)).map(({ log }) => log)).toEqual([null, 'after'])
    expect(await store.queues()).toMatchObject([{ keepDone: null, limit: null }])
  })

  test('P16 what is at work has every table while a migration waits for the one that it changes', async () => {
    const schema = freshSchema(url, 'forward')
    const connection = connect({ url, connections: 1, ...PATIENCE })
    onTestFinished(() => connection.close())
    const sql = (text: string): string => text.replaceAll('jobmill.', `${schema}.`)
    await migrate({ connection, schema, sql, ...PATIENCE }, MIGRATIONS.slice(0, 2))
    const work = new pg.Client({ connectionString: url })
    await work.connect()
    onTestFinished(() => work.end())
    // A claim in the middle: it has the queues, and needs the rest without a wait.
    await work.query(`SET lock_timeout = '500ms'`)
    await work.query(`BEGIN; SELECT FROM ${schema}.queue`)
    const migrated = migrate({ connection, schema, sql, ...PATIENCE })
    const blocked = `SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))`
    while ((await work.query(blocked)).rowCount === 0);
    for (const table of ['instance', 'ready', 'running', 'settings', 'tally', 'job', 'attempt'])
      await work.query(`DELETE FROM ${schema}.${table} WHERE false`)
    await work.query('COMMIT')
    await expect(migrated).resolves.toBeUndefined()
  })
})
