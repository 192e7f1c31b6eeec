/**
 * Diagnostics of a PostgreSQL database, each with the real problem. On its own server, because some problems
 * affect a whole server.
 */
import pg from 'pg'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { startPgbouncer } from '../../../../test/support/postgres/pgbouncer.ts'
import { startPostgres } from '../../../../test/support/postgres/postgres-server.ts'
import { postgres, type PostgresOptions } from '../../src/postgres.ts'
import { systemPlatform } from '../../src/platform/platform.ts'
import type { Diagnostic } from '../../src/store/admin/admin.ts'
import { versionProblem } from '../../src/store-postgres/connection/server-version.ts'
import { queryAt } from './sites.ts'

const settings: Record<string, string> = {
  max_prepared_transactions: '2',
  wal_level: 'logical',
  max_connections: '30',
  // No autovacuum while a test counts dead rows.
  autovacuum_naptime: '1d',
  fsync: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
}
const server = await startPostgres({ binaries: 'current', settings })
afterAll(() => server.stop())
const setUpBadly = await postgres(server.url, { notifier: false }).tools.diagnose()
// The settings of a healthy server.
Object.assign(settings, { fsync: 'on', full_page_writes: 'on', autovacuum: 'on' })
await server.restart()
const pooler = await startPgbouncer({ url: server.url })
afterAll(() => pooler?.stop())
const sessions = await startPgbouncer({ url: server.url, settings: { pool_mode: 'session' } })
afterAll(() => sessions?.stop())
if (pooler === null)
  console.warn('\n*** PgBouncer is not installed: what examine says behind it is SKIPPED ***\n')

/** A migrated schema, and its problems. */
interface Place {
  readonly schema: string
  /** Substitutes the schema in `jobmill.job`. */
  readonly sql: (text: string) => string
  readonly run: (text: string) => Promise<unknown>
  readonly troubles: (options?: PostgresOptions, openForMs?: number, url?: string) => Promise<Diagnostic[]>
}

let schemas = 0

// Schemas instead of databases: at a restart the server would have to sync thousands of files.
function place(): Place {
  schemas += 1
  const schema = `place_${schemas}`
  const sql = (text: string): string => text.replaceAll('jobmill.', `"${schema}".`)
  return {
    schema,
    sql,
    run: (text) => queryAt(server.url, sql(text)),
    async troubles(options = {}, openForMs = 300_000, url = server.url) {
      const diagnostics = await postgres(url, { ...options, schema }).tools.diagnose({ openForMs })
      return diagnostics.filter(({ level }) => level !== 'ok')
    },
  }
}

async function migrated(): Promise<Place> {
  const made = place()
  const store = postgres(server.url, { schema: made.schema, notifier: false })
  await store.open()
  await store.close()
  return made
}

/** For tests that change nothing. */
const sound = await migrated()

/** Ends with the test. */
async function client(application = 'test'): Promise<pg.Client> {
  const one = new pg.Client({ connectionString: server.url, application_name: application })
  await one.connect()
  onTestFinished(() => one.end())
  return one
}

/** On a clock with this offset. */
const off = (ms: number): PostgresOptions => ({
  platform: { ...systemPlatform, now: () => systemPlatform.now() + ms },
})

const containing = (text: string): string => expect.stringContaining(text) as string

describe('diagnose on postgres', () => {
  test('a healthy database passes every check', async () => {
    const { schema } = sound
    const diagnostics = await postgres(server.url, { schema }).tools.diagnose()
    expect(diagnostics.map(({ check, level, fix }) => [check, level, fix])).toEqual(
      [
        'schema',
        'drift',
        'index',
        'sequences',
        'rows',
        'names',
        'keys',
        'durability',
        'autovacuum',
        'horizon',
        'bloat',
        'notifier',
        'encoding',
        'clock',
        'connections',
        'server',
      ].map((check) => [check, 'ok', null]),
    )
  })

  test('reports a missing database, and an empty one', async () => {
    const url = new URL(server.url)
    url.pathname = '/nowhere'
    const { troubles } = place()
    expect(await troubles({}, 0, url.href)).toEqual([
      {
        check: 'schema',
        level: 'error',
        message: 'the database nowhere does not exist',
        fix: 'Run jobmill db create',
      },
    ])
    expect(await troubles()).toMatchObject([{ check: 'schema', fix: containing('db migrate') }])
  })

  test('D8 reports a database that cannot hold every text; no store opens it, and create never makes one', async () => {
    const address = (name: string): string =>
      Object.assign(new URL(server.url), { pathname: `/${name}` }).href
    await queryAt(server.url, `CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'`)
    const [diagnostic] = (await postgres(address('latin')).tools.diagnose()).filter(
      ({ check }) => check === 'encoding',
    )
    const fix = containing("ENCODING 'UTF8'")
    expect(diagnostic).toMatchObject({ level: 'error', message: containing('LATIN1'), fix })
    const opening = postgres(address('latin'), { notifier: false }).open()
    await expect(opening).rejects.toMatchObject({
      code: 'STORE_UNSUPPORTED',
      field: 'server_encoding',
      value: '"LATIN1"',
      fix,
    })
    // Where a new database would have that encoding too.
    const template = (encoding: string): Promise<unknown> =>
      queryAt(
        server.url,
        `UPDATE pg_database SET encoding = pg_char_to_encoding('${encoding}') WHERE datname = 'template1'`,
      )
    onTestFinished(async () => void (await template('UTF8')))
    await template('LATIN1')
    const made = postgres(address('made'), { notifier: false })
    expect(await made.tools.create()).toBe(true)
    await made.open()
    await made.close()
  })

  test('reports missing migrations, and those of a newer release', async () => {
    const { run, troubles } = await migrated()
    await run('DELETE FROM jobmill.migration WHERE number = 1')
    expect(await troubles()).toMatchObject([
      { check: 'schema', level: 'warning', message: 'not applied yet: migration 1 (0.1.0)' },
    ])
    await run(`INSERT INTO jobmill.migration VALUES (99, 'later', 'x')`)
    expect(await troubles()).toMatchObject([
      { check: 'schema', level: 'error', fix: containing('Install the release') },
    ])
  })

  test('reports missing, different and invalid indexes, and the fix repairs them', async () => {
    const { run, troubles, sql } = await migrated()
    await run(
      `DROP INDEX jobmill.ready_quarantined; ALTER TABLE jobmill.order_lock DROP CONSTRAINT order_lock_pkey; DROP INDEX jobmill.recorded_time;
       DROP INDEX jobmill.tick_served; CREATE INDEX tick_served ON jobmill.tick (at)`,
    )
    // A failed concurrent build leaves an invalid index.
    const [holder, builder] = [await client(), await client()]
    await holder.query(sql('BEGIN; LOCK TABLE jobmill.recorded IN ROW EXCLUSIVE MODE'))
    await builder.query(`SET lock_timeout = '50ms'`)
    await expect(
      builder.query(sql('CREATE INDEX CONCURRENTLY recorded_time ON jobmill.recorded (recorded_at)')),
    ).rejects.toThrow('lock timeout')
    await holder.query('ROLLBACK')
    const problems = await troubles()
    expect(problems.every(({ check, level }) => check === 'index' && level === 'error')).toBe(true)
    expect(problems).toMatchObject([
      { message: 'the index order_lock.order_lock_pkey is missing', fix: containing('ADD CONSTRAINT') },
      {
        message: 'the index ready.ready_quarantined is missing',
        fix: containing('CREATE INDEX CONCURRENTLY'),
      },
      { message: 'the index tick.tick_served differs from its migration' },
      {
        message: 'the index recorded.recorded_time is invalid, so queries do not use it',
        fix: sql('Rebuild it: REINDEX INDEX CONCURRENTLY jobmill.recorded_time'),
      },
    ])
    for (const { fix } of problems) {
      const statements = String(fix).replace(/^[^:]+: /, '')
      for (const statement of statements.split('; ')) await run(statement)
    }
    expect(await troubles()).toEqual([])
  })

  test('S low the fix of a different index drops the constraint that it belongs to, and repairs it', async () => {
    const { run, troubles, sql } = await migrated()
    await run(
      `ALTER TABLE jobmill.order_lock DROP CONSTRAINT order_lock_pkey; ALTER TABLE jobmill.order_lock ADD CONSTRAINT order_lock_pkey UNIQUE (order_key, queue_id);
       DROP INDEX jobmill.tick_served; ALTER TABLE jobmill.tick ADD CONSTRAINT tick_served UNIQUE (at)`,
    )
    const problems = await troubles()
    expect(problems).toMatchObject([
      {
        message: 'the index order_lock.order_lock_pkey differs from its migration',
        fix: containing(sql('ALTER TABLE jobmill.order_lock DROP CONSTRAINT order_lock_pkey; ALTER TABLE')),
      },
      {
        message: 'the index tick.tick_served differs from its migration',
        fix: containing(
          sql('ALTER TABLE jobmill.tick DROP CONSTRAINT tick_served; CREATE INDEX CONCURRENTLY'),
        ),
      },
    ])
    for (const { fix } of problems) {
      const statements = String(fix).replace(/^[^:]+: /, '')
      for (const statement of statements.split('; ')) await run(statement)
    }
    expect(await troubles()).toEqual([])
  })

  test('reports missing, different and foreign columns, a missing table, and functions', async () => {
    const { run, troubles } = await migrated()
    await run(
      `ALTER TABLE jobmill.attempt DROP COLUMN log; ALTER TABLE jobmill.event DROP COLUMN data; ALTER TABLE jobmill.later ALTER COLUMN priority TYPE int4;
       ALTER TABLE jobmill.kind ADD COLUMN mine text; DROP TABLE jobmill.slot; DROP FUNCTION jobmill.next_due;
       DROP SEQUENCE jobmill.token; ALTER FUNCTION jobmill.unpack RESET jit`,
    )
    expect(await troubles()).toMatchObject([
      {
        level: 'error',
        message: 'the function next_due(bigint) is missing',
        fix: containing('CREATE OR REPLACE'),
      },
      { level: 'error', message: 'the sequence token is missing', fix: containing('backup') },
      {
        level: 'error',
        message: 'the column attempt.log is missing',
        fix: containing('ADD COLUMN log text'),
      },
      // It is required and has no default, so the server would refuse to add it to a table with rows.
      {
        level: 'error',
        message: 'the column event.data is missing',
        fix: containing('Restore a backup'),
      },
      { level: 'error', message: 'the table slot is missing', fix: containing('backup') },
      {
        level: 'error',
        message: containing('the function unpack(bigint[], uuid[], uuid[]) differs'),
      },
      {
        level: 'error',
        message: 'the column later.priority differs from its migration',
        fix: containing('priority back to: smallint NOT NULL'),
      },
      {
        level: 'warning',
        message: 'the column kind.mine does not belong to Jobmill',
        fix: containing('DROP COLUMN mine'),
      },
    ])
  })

  test('reports commits that do not wait for the disk, by role or by database, and the fix repairs it', async () => {
    const { run, troubles } = sound
    onTestFinished(async () => {
      for (const whose of ['ROLE postgres', 'DATABASE postgres', 'ROLE postgres IN DATABASE postgres'])
        await run(`ALTER ${whose} RESET synchronous_commit`)
    })
    for (const set of [
      'ALTER ROLE postgres SET synchronous_commit = off',
      'ALTER DATABASE postgres SET synchronous_commit = off',
      'ALTER ROLE postgres IN DATABASE postgres SET synchronous_commit = off',
    ]) {
      await run(set)
      const problems = await troubles()
      expect(problems).toMatchObject([
        {
          check: 'durability',
          level: 'error',
          message: containing('synchronous_commit is off: acknowledged jobs'),
        },
      ])
      await run(String(problems[0]?.fix).replace('Turn it on: ', ''))
      expect(await troubles()).toEqual([])
    }
  })

  test('reports autovacuum that is off for a table of ours, not for others', async () => {
    const { run, troubles } = await migrated()
    await run(
      `ALTER TABLE jobmill.ready SET (autovacuum_enabled = off);
       CREATE TABLE jobmill.mine (id int) WITH (autovacuum_enabled = false)`,
    )
    expect(await troubles()).toMatchObject([
      {
        check: 'autovacuum',
        level: 'error',
        message: containing('autovacuum is off for the table ready'),
        fix: containing('.ready RESET (autovacuum_enabled)'),
      },
    ])
  })

  test('reports a transaction that stays open, with its session and its statement', async () => {
    const { troubles } = sound
    const forgotten = await client('report of ada')
    await forgotten.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
    await forgotten.query(`SELECT 'the long one', ${'1 + '.repeat(50)} 1`)
    const { rows } = await forgotten.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
    await forgotten.query(`SELECT 'the\nlast', ${'1 + '.repeat(50)} 1`)
    const pid = rows[0]?.pid ?? 0
    // It may be open for five minutes.
    expect(await troubles()).toEqual([])
    const [problem, ...others] = await troubles({}, 0)
    expect(others).toEqual([])
    expect(problem).toMatchObject({
      check: 'horizon',
      level: 'warning',
      message: containing(
        `session ${pid} (report of ada, postgres, idle in transaction) has had a transaction open`,
      ),
      fix: containing(`pg_terminate_backend(${pid})`),
    })
    expect(problem?.message).toMatch(/Last statement: SELECT 'the last', [1 +]+…$/)
    await forgotten.query('ROLLBACK')
    expect(await troubles({}, 0)).toEqual([])
  })

  test('reports an abandoned prepared transaction', async () => {
    const { troubles } = sound
    const other = await client()
    await other.query('BEGIN')
    await other.query('CREATE TABLE mine (id int)')
    await other.query(`PREPARE TRANSACTION 'ada''s'`)
    onTestFinished(async () => void (await queryAt(server.url, `ROLLBACK PREPARED 'ada''s'`)))
    expect(await troubles({}, 0)).toMatchObject([
      {
        check: 'horizon',
        level: 'warning',
        message: containing(`transaction 'ada''s' of postgres was prepared`),
        fix: containing(`ROLLBACK PREPARED 'ada''s'`),
      },
    ])
  })

  test('reports an inactive replication slot', async () => {
    const { run, troubles } = sound
    await run(`SELECT pg_create_logical_replication_slot('left_behind', 'pgoutput')`)
    onTestFinished(async () => void (await run(`SELECT pg_drop_replication_slot('left_behind')`)))
    const problems = await troubles()
    expect(problems).toMatchObject([
      {
        check: 'horizon',
        level: 'warning',
        message: containing('the replication slot left_behind is inactive and retains'),
        fix: containing(`pg_drop_replication_slot('left_behind')`),
      },
    ])
  })

  test('reports dead rows, and a bloated hot table', async () => {
    const { troubles, sql } = await migrated()
    const one = await client()
    await one.query(sql('INSERT INTO jobmill.tally SELECT 1, 1, 2, n FROM generate_series(1, 50001) AS n'))
    await one.query(sql('DELETE FROM jobmill.tally'))
    await one.query('SELECT pg_stat_force_next_flush()')
    expect(await troubles()).toMatchObject([
      {
        check: 'bloat',
        level: 'warning',
        message: sql('jobmill.tally has 50001 dead rows and 0 live rows. It was never vacuumed'),
        fix: containing(sql('VACUUM jobmill.tally')),
      },
    ])
    await one.query(sql('VACUUM jobmill.tally'))
    expect(await troubles()).toEqual([])
    await one.query(sql('ALTER TABLE jobmill.metric_delta ALTER COLUMN data SET STORAGE external'))
    await one.query(
      sql(`INSERT INTO jobmill.metric_delta (at, scope, data)
           SELECT n, 'x', to_json(repeat('x', 100000)) FROM generate_series(1, 350) AS n`),
    )
    await one.query(sql('DELETE FROM jobmill.metric_delta'))
    await one.query(sql('VACUUM (TRUNCATE false) jobmill.metric_delta'))
    expect(await troubles()).toMatchObject([
      {
        check: 'bloat',
        level: 'warning',
        message: expect.stringMatching(/\.metric_delta takes 3\d(?:\.\d)? MiB for only 0 rows/) as string,
        fix: containing(sql('VACUUM FULL jobmill.metric_delta')),
      },
    ])
  })

  test('reports a clock that is ahead of that of the server, or behind', async () => {
    const { troubles } = sound
    expect(await troubles(off(600_900))).toMatchObject([
      {
        check: 'clock',
        level: 'warning',
        message: containing('the clock of the server is 10 min behind this machine'),
        fix: containing('NTP'),
      },
    ])
    expect(await troubles(off(-600_900))).toMatchObject([{ message: containing('10 min ahead of') }])
  })

  test('reports connections that are nearly used up', async () => {
    const { troubles } = sound
    await Promise.all(Array.from({ length: 22 }, () => client()))
    expect(await troubles({ notifier: false })).toMatchObject([
      {
        check: 'connections',
        level: 'warning',
        message: expect.stringMatching(/^2\d of 27 connections are in use/) as string,
        fix: containing('max_connections'),
      },
    ])
  })

  test('reports a notifier that cannot connect, and one that is turned off', async () => {
    const { troubles } = sound
    expect(await troubles({ notifier: 'postgres://x@127.0.0.1:1/x' })).toMatchObject([
      {
        check: 'notifier',
        level: 'warning',
        message: containing('cannot listen'),
        fix: containing('option notifier'),
      },
    ])
    expect(await troubles({ notifier: false })).toEqual([])
  })

  test('a check without privileges is reported, and the others still run', async () => {
    const { run, troubles, schema } = await migrated()
    await run(
      `CREATE ROLE blind LOGIN; GRANT SELECT ON jobmill.migration TO blind; REVOKE SELECT ON pg_prepared_xacts FROM public;
       GRANT USAGE ON SCHEMA ${schema} TO blind`,
    )
    onTestFinished(async () => void (await run('GRANT SELECT ON pg_prepared_xacts TO public')))
    const blind = new URL(server.url)
    blind.username = 'blind'
    expect(await troubles({}, 0, blind.href)).toMatchObject(
      ['sequences', 'rows', 'names', 'keys', 'horizon'].map((check) => ({
        check,
        level: 'warning',
        message: containing('the check could not run: the database user lacks'),
      })),
    )
  })
})

describe.skipIf(pooler === null)('diagnose on postgres behind PgBouncer', () => {
  test('in transaction mode reports that notifications are dropped, with the fix', async () => {
    const { troubles } = sound
    expect(await troubles({}, 60_000, pooler?.url)).toMatchObject([
      {
        check: 'notifier',
        level: 'warning',
        message: containing('a pooler drops notifications'),
        fix: containing('the URL of the server itself'),
      },
    ])
    expect(await troubles({ notifier: server.url }, 60_000, pooler?.url)).toEqual([])
  })

  test('in session mode finds that notifications arrive', async () => {
    const { troubles } = sound
    expect(await troubles({}, 60_000, sessions?.url)).toEqual([])
  })
})

test('diagnose on postgres names every server setting that violates a guarantee', () => {
  expect(setUpBadly.filter(({ level }) => level !== 'ok')).toMatchObject([
    { check: 'schema' },
    {
      check: 'durability',
      level: 'error',
      message: containing('fsync is off'),
      fix: containing('without fsync=off'),
    },
    { check: 'durability', level: 'error', message: containing('full_page_writes is off') },
    { check: 'autovacuum', level: 'error', message: containing('autovacuum is off: dead rows') },
  ])
})

test('diagnose on postgres reports a server that is too old', () => {
  expect(versionProblem(130_023)).toBe('PostgreSQL 13 is not supported (minimum 14)')
  expect(versionProblem(140_000)).toBeNull()
})
