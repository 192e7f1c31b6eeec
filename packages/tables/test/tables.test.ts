/** Rows and jobs in one database: concurrent opening, and writes that are atomic, on both stores. */
import { dirname, join } from 'node:path'
import Sqlite from 'better-sqlite3'
import pg from 'pg'
import { inject, describe, expect, onTestFinished, test } from 'vitest'
import { defineJob, jobmill } from 'jobmill'
import { checkPlace, openTables, sql, type Step } from 'jobmill-tables'
import { freshFile, freshSchema } from '../../../test/support/databases.ts'
import { silentProxy } from '../../../test/support/silent-proxy.ts'
import { statementsOf } from '../src/statements.ts'

interface Schema {
  shop_order: { id: string; paid_at: number; amount: number | null }
}

const STEPS: readonly Step[] = [
  async (db, { table }) => {
    await sql`CREATE TABLE ${table('shop_order')} (id text PRIMARY KEY, paid_at bigint NOT NULL)`.execute(db)
  },
  async (db, { table }) => {
    await sql`ALTER TABLE ${table('shop_order')} ADD COLUMN amount bigint`.execute(db)
  },
]

const PLACES = {
  sqlite: () => freshFile(),
  postgres: () => `${inject('postgresUrl')}?schema=${freshSchema(inject('postgresUrl'), 'tables')}`,
}

const receipt = defineJob({ kind: 'receipt', run: () => 'sent' })

const opened = (address: string, steps = STEPS, clock?: () => number) =>
  openTables<Schema>(address, { app: 'shop', steps, ...(clock === undefined ? {} : { clock }) })

describe.each(Object.entries(PLACES))('tables on %s', (_name, fresh) => {
  test('concurrent starts create the tables once, and a later release adds its step', async () => {
    const address = fresh()
    const first = await opened(address, STEPS.slice(0, 1))
    await first.tables.open()
    await first.tables.close()
    const all = await Promise.all([1, 2, 3].map(() => opened(address)))
    await Promise.all(all.map(({ tables }) => tables.open()))
    const [{ tables }] = all as [(typeof all)[0]]
    await tables.db
      .insertInto('shop_order')
      .values({ id: 'a', paid_at: 1, amount: 2 ** 40 })
      .execute()
    expect(await tables.db.selectFrom('shop_order').selectAll().execute()).toEqual([
      { id: 'a', paid_at: 1, amount: 2 ** 40 },
    ])
    await Promise.all(all.map((one) => one.tables.close()))
  })

  test('P10 rows and jobs are written in one transaction', async () => {
    const { store, tables } = await opened(fresh())
    await tables.open()
    const mill = jobmill({ store, jobs: [receipt], log: 'silent' })
    await mill.start()
    const buy = (id: string, fails: boolean) =>
      tables.transaction(async (db, tx) => {
        await db.insertInto('shop_order').values({ id, paid_at: tables.now, amount: null }).execute()
        const job = await mill.enqueue(receipt, { id }, { tx })
        if (fails) throw new Error('the card was refused')
        return job
      })
    await expect(buy('a', true)).rejects.toThrow('refused')
    const job = await buy('b', false)
    mill.wake()
    expect(await job.result()).toBe('sent')
    expect((await mill.list({})).jobs).toHaveLength(1)
    expect(await tables.db.selectFrom('shop_order').select('id').execute()).toEqual([{ id: 'b' }])
    await tables.close()
    await mill.stop()
  })

  test('transactions of several handles wait for each other, and lose nothing', async () => {
    const address = fresh()
    const handles = await Promise.all([1, 2, 3].map(() => opened(address)))
    for (const { tables } of handles) await tables.open()
    const [{ tables: one }] = handles as [(typeof handles)[0]]
    await one.db.insertInto('shop_order').values({ id: 'sum', paid_at: 0, amount: 0 }).execute()
    await Promise.all(
      handles.flatMap(({ tables }) =>
        Array.from({ length: 10 }, () =>
          tables.transaction(async (db) => {
            const row = await db
              .selectFrom('shop_order')
              .select('amount')
              .where('id', '=', 'sum')
              .$if(tables.type === 'postgres', (query) => query.forUpdate())
              .executeTakeFirstOrThrow()
            await db
              .updateTable('shop_order')
              .set({ amount: (row.amount ?? 0) + 1 })
              .execute()
          }),
        ),
      ),
    )
    expect(await one.db.selectFrom('shop_order').select('amount').execute()).toEqual([{ amount: 30 }])
    await Promise.all(handles.map(({ tables }) => tables.close()))
  })

  test("P9 now comes from the database clock, or from the test's clock", async () => {
    const { tables } = await opened(fresh())
    const { rows } = await sql<{ now: number }>`SELECT ${tables.now} AS now`.execute(tables.db)
    expect(Math.abs((rows[0]?.now ?? 0) - Date.now())).toBeLessThan(60_000)
    await tables.close()
    const fixed = await opened(fresh(), STEPS, () => 1_234)
    const result = await sql<{ now: number }>`SELECT ${fixed.tables.now} AS now`.execute(fixed.tables.db)
    expect(result.rows).toEqual([{ now: 1_234 }])
    await fixed.tables.close()
  })
})

test('P1 what was committed on SQLite is there after a power cut: every commit is flushed', async () => {
  const { tables } = await opened(freshFile())
  onTestFinished(() => tables.close())
  const pragma = async (name: string): Promise<unknown> => {
    const { rows } = await sql<Record<string, unknown>>`PRAGMA ${sql.raw(name)}`.execute(tables.db)
    return rows[0]?.[name]
  }
  const FULL = 2
  expect(await pragma('synchronous')).toBe(FULL)
  expect(await pragma('journal_mode')).toBe('wal')
})

test('A an unknown option is refused', async () => {
  const options = { app: 'shop', steps: [], conections: 1 }
  await expect(openTables(freshFile(), options)).rejects.toMatchObject({ field: 'options.conections' })
})

test('an unknown database address is refused, and not shown', async () => {
  await expect(openTables('mysql://me:secret@here/x', { app: 'shop', steps: [] })).rejects.toThrow(
    /^(?!.*secret).*database/s,
  )
})

test('a statement that takes too long on PostgreSQL is cancelled, and its connection blocks no other statement', async () => {
  const url = inject('postgresUrl')
  const schema = freshSchema(url, 'tables')
  const address = `${url}?schema=${schema}`
  // Without a deadline, because the machine may be busy.
  const made = await openTables<Schema>(address, { app: 'shop', steps: STEPS })
  await made.tables.open()
  await made.tables.close()
  const options = { app: 'shop', steps: STEPS, connections: 1, deadlineMs: 1_000 }
  const { tables } = await openTables<Schema>(address, options)
  onTestFinished(() => tables.close())
  const other = new pg.Client({ connectionString: url })
  await other.connect()
  onTestFinished(() => other.end())
  await other.query(`BEGIN; LOCK TABLE ${schema}_shop.shop_order`)
  const order = { paid_at: 1, amount: null }
  const late = { code: 'OUTCOME_UNKNOWN', message: expect.stringContaining('within 1000 ms') as string }
  await expect(
    tables.db
      .insertInto('shop_order')
      .values({ id: 'a', ...order })
      .execute(),
  ).rejects.toMatchObject(late)
  await expect(
    tables.transaction((db) =>
      db
        .insertInto('shop_order')
        .values({ id: 'b', ...order })
        .execute(),
    ),
  ).rejects.toMatchObject(late)
  // The only connection works while the lock is still held.
  const one = async () => (await sql`SELECT 1 AS one`.execute(tables.db)).rows
  await expect.poll(one).toEqual([{ one: 1 }])
  const waiting = `SELECT count(*)::int AS n FROM pg_locks WHERE NOT granted AND relation = '${schema}_shop.shop_order'::regclass`
  await expect.poll(async () => (await other.query<{ n: number }>(waiting)).rows[0]?.n).toBe(0)
  await other.query('COMMIT')
  await expect.poll(() => tables.db.selectFrom('shop_order').selectAll().execute()).toEqual([])
})

async function onConnections() {
  const url = inject('postgresUrl')
  const { tables } = await openTables<Schema>(`${url}?schema=${freshSchema(url, 'tables')}`, {
    app: 'shop',
    steps: STEPS,
    connections: 2,
  })
  onTestFinished(() => tables.close())
  await tables.open()
  const admin = new pg.Client({ connectionString: url })
  await admin.connect()
  onTestFinished(() => admin.end())
  const pidOf = async (db: typeof tables.db): Promise<number> => {
    const { rows } = await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(db)
    return rows[0]?.pid ?? 0
  }
  async function end(pid: number): Promise<void> {
    await admin.query('SELECT pg_terminate_backend($1)', [pid])
    while ((await admin.query('SELECT 1 FROM pg_stat_activity WHERE pid = $1', [pid])).rowCount !== 0);
  }
  const write = (db: typeof tables.db, id: string) =>
    db.insertInto('shop_order').values({ id, paid_at: 1, amount: null }).execute()
  return { tables, pidOf, end, write }
}

describe('connections to PostgreSQL that the server ends', () => {
  const broken = {
    code: 'OUTCOME_UNKNOWN',
    message: expect.stringContaining('connection was lost') as string,
  }

  test('P10 in a transaction: it rejects with a JobmillError, nothing is written, and the pool recovers', async () => {
    const { tables, pidOf, end, write } = await onConnections()
    for (const moment of ['before a statement', 'before the commit', 'before the rollback'])
      await expect(
        tables.transaction(async (db) => {
          await write(db, 'lost')
          await end(await pidOf(db))
          if (moment === 'before a statement') await write(db, 'lost too')
          if (moment === 'before the rollback') throw new Error('the card was refused')
        }),
      ).rejects.toMatchObject(moment === 'before the rollback' ? { message: 'the card was refused' } : broken)
    expect(await tables.db.selectFrom('shop_order').selectAll().execute()).toEqual([])
    await tables.transaction((db) => write(db, 'kept'))
    expect(await tables.db.selectFrom('shop_order').select('id').execute()).toEqual([{ id: 'kept' }])
  })

  test('during a statement, and while the connection is idle', async () => {
    const { tables, pidOf, end, write } = await onConnections()
    await expect(sql`SELECT pg_terminate_backend(pg_backend_pid())`.execute(tables.db)).rejects.toMatchObject(
      broken,
    )
    await end(await pidOf(tables.db))
    // The server closed the connection before the pool noticed, so the pool may hand it out once more.
    const noticed = await pidOf(tables.db).catch((error: unknown) => error)
    expect([expect.any(Number), expect.objectContaining(broken)]).toContainEqual(noticed)
    await write(tables.db, 'kept')
    expect(await tables.db.selectFrom('shop_order').select('id').execute()).toEqual([{ id: 'kept' }])
  })
})

test('D9 close does not wait for the deadline of a statement that PostgreSQL does not answer', async () => {
  const url = new URL(PLACES.postgres())
  const { port, goSilent, dropped } = await silentProxy(Number(url.port))
  url.port = String(port)
  const { tables } = await openTables<Schema>(String(url), {
    app: 'shop',
    steps: STEPS,
    deadlineMs: 3_600_000,
  })
  await tables.open()
  goSilent()
  const query = tables.db.selectFrom('shop_order').selectAll().execute()
  const failed = query.catch((error: unknown) => error)
  await dropped(1)
  await tables.close(0)
  expect(await failed).toMatchObject({ code: 'OUTCOME_UNKNOWN' })
})

test.each(['LATIN1', 'SQL_ASCII'])(
  'D8 a %s database is refused, and nothing is created',
  async (encoding) => {
    const server = new pg.Client({ connectionString: inject('postgresUrl') })
    await server.connect()
    const name = freshSchema(inject('postgresUrl'), 'encoding')
    await server.query(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING '${encoding}' LOCALE 'C'`)
    onTestFinished(async () => {
      await server.query(`DROP DATABASE ${name} WITH (FORCE)`)
      await server.end()
    })
    const url = Object.assign(new URL(inject('postgresUrl')), { pathname: `/${name}` }).href
    const refused = { code: 'STORE_UNSUPPORTED', field: 'server_encoding', value: `"${encoding}"` }
    const { tables } = await opened(url)
    await expect(tables.open()).rejects.toMatchObject(refused)
    await tables.close()
    await expect(checkPlace(url)).rejects.toMatchObject(refused)
    const there = new pg.Client({ connectionString: url })
    await there.connect()
    const { rows } = await there.query(`SELECT FROM pg_namespace WHERE nspname LIKE 'jobmill%'`)
    await there.end()
    expect(rows).toEqual([])
  },
)

test('an unreachable database is reported with a reason and a fix', async () => {
  const nowhere = await opened('postgres://127.0.0.1:1/x')
  await expect(nowhere.tables.open()).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
    fix: 'Check the database URL, and that the server is running',
  })
  await nowhere.tables.close()
  const file = freshFile()
  await expect(opened(join(file, 'x', 'y.db'))).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
    fix: 'Create the folder, or change the path',
  })
  await expect(opened(dirname(file))).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
    field: dirname(file),
  })
})

test('statements on SQLite are prepared once; the cache is bounded and skips schema changes', () => {
  const handle = new Sqlite(':memory:')
  onTestFinished(() => void handle.close())
  const prepared = statementsOf(handle)
  const often = prepared('SELECT 0 AS n')
  for (let n = 1; n <= 500; n += 1) {
    prepared(`SELECT ${n} AS n`)
    expect(prepared('SELECT 0 AS n')).toBe(often)
  }
  const early = prepared('SELECT 1 AS n')
  expect(prepared('SELECT 1 AS n')).toBe(early)
  for (let n = 2; n <= 500; n += 1) prepared(`SELECT ${n} AS n`)
  expect(prepared('SELECT 1 AS n')).not.toBe(early)
  const table = 'CREATE TABLE IF NOT EXISTS t (n)'
  expect(prepared(table)).not.toBe(prepared(table))
})
