/**
 * Every adapter of `jobmill/orm` with the real library on a real database: enqueue, `complete` and
 * `step.transaction` are committed with the rows of the user, or rolled back with them.
 */
import Database from 'better-sqlite3'
import { sql } from 'drizzle-orm'
import { drizzle as drizzleOnSqlite } from 'drizzle-orm/better-sqlite3'
import { drizzle } from 'drizzle-orm/node-postgres'
import { drizzle as drizzleOnPostgresJs } from 'drizzle-orm/postgres-js'
import createKnex from 'knex'
import { Kysely, type KyselyPlugin, PostgresDialect, SqliteDialect, sql as kyselySql } from 'kysely'
import pg from 'pg'
import postgresJs from 'postgres'
import { DataSource } from 'typeorm'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { freshFile, freshSchema } from '../../../../test/support/databases.ts'
import { defineJob, type FullStore, type JobContext, jobmill, type Mill } from '../../src/index.ts'
import { fromDrizzle, fromKnex, fromKysely, fromPostgresJs, fromTypeorm } from '../../src/orm.ts'
import { postgres } from '../../src/postgres.ts'
import { sqlite } from '../../src/sqlite.ts'

class RolledBack extends Error {}

/** Inserts a row of the user in the transaction. */
type Insert = (name: string) => unknown
/** Must call both at once: a transaction of Drizzle on SQLite ends when its function returns. */
type Act<T> = (tx: never, insert: Insert) => Promise<T>

interface Way {
  readonly name: string
  /** Runs `act` in a transaction, and commits it, or rolls it back if `isUndone`. */
  transaction<T>(act: Act<T>, isUndone: boolean): Promise<T>
  /** The database handle of the library, which is no transaction. */
  readonly adaptHandle: () => unknown
}

interface Place {
  readonly store: () => FullStore<never>
  readonly rows: (name: string) => Promise<number>
  readonly ways: readonly Way[]
}

const url = inject('postgresUrl')
const schema = freshSchema(url, 'orm')
const insertInto = (name: string): string => `INSERT INTO ${schema}.account VALUES ('${name}')`
const pool = new pg.Pool({ connectionString: url, max: 4 })
const onPostgresJs = postgresJs(url, { max: 2, onnotice: () => {} })
const drizzled = drizzle(pool)
const drizzledJs = drizzleOnPostgresJs(onPostgresJs)
/** Renames the columns of every reply, as CamelCasePlugin renames some. */
const inCapitals: KyselyPlugin = {
  transformQuery: ({ node }) => node,
  transformResult: async ({ result }) => ({
    ...result,
    rows: result.rows.map((row) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name.toUpperCase(), value])),
    ),
  }),
}
const kysely = new Kysely<object>({
  dialect: new PostgresDialect({ pool }),
  plugins: [inCapitals],
})
const knex = createKnex({ client: 'pg', connection: url, pool: { min: 0, max: 2 } })
const typeorm = new DataSource({ type: 'postgres', url })

async function ended<T>(acting: Promise<T>, isUndone: boolean): Promise<T> {
  const result = await acting
  if (isUndone) throw new RolledBack()
  return result
}

const onPostgres: Place = {
  store: () => postgres(url, { schema }),
  rows: async (name) =>
    (await pool.query(`SELECT name FROM ${schema}.account WHERE name = $1`, [name])).rows.length,
  ways: [
    {
      name: 'postgres: Drizzle on node-postgres',
      transaction: (act, isUndone) =>
        drizzled.transaction((trx) =>
          ended(
            act(fromDrizzle(trx) as never, (name) => trx.execute(sql.raw(insertInto(name)))),
            isUndone,
          ),
        ),
      adaptHandle: () => fromDrizzle(drizzled as never),
    },
    {
      name: 'postgres: Drizzle on postgres.js',
      transaction: (act, isUndone) =>
        drizzledJs.transaction((trx) =>
          ended(
            act(fromDrizzle(trx) as never, (name) => trx.execute(sql.raw(insertInto(name)))),
            isUndone,
          ),
        ),
      adaptHandle: () => fromDrizzle(drizzledJs as never),
    },
    {
      name: 'postgres: Kysely',
      transaction: (act, isUndone) =>
        kysely.transaction().execute((trx) =>
          ended(
            act(fromKysely(trx) as never, (name) => kyselySql.raw(insertInto(name)).execute(trx)),
            isUndone,
          ),
        ),
      adaptHandle: () => fromKysely(kysely),
    },
    {
      name: 'postgres: Knex',
      transaction: (act, isUndone) =>
        knex.transaction((trx) =>
          ended(
            act(fromKnex(trx) as never, (name) => trx.raw(insertInto(name))),
            isUndone,
          ),
        ),
      adaptHandle: () => fromKnex(knex as never),
    },
    {
      name: 'postgres: TypeORM',
      transaction: (act, isUndone) =>
        typeorm.transaction((manager) =>
          ended(
            act(fromTypeorm(manager) as never, (name) => manager.query(insertInto(name))),
            isUndone,
          ),
        ),
      adaptHandle: () => fromTypeorm(typeorm.manager)('SELECT $1', ['1']),
    },
    {
      name: 'postgres: postgres.js',
      transaction: (act, isUndone) =>
        onPostgresJs.begin((trx) =>
          ended(
            act(fromPostgresJs(trx) as never, (name) => trx.unsafe(insertInto(name))),
            isUndone,
          ),
        ) as Promise<never>,
      adaptHandle: () => fromPostgresJs(onPostgresJs as never),
    },
  ],
}

const file = freshFile()
const db = new Database(file)
const drizzledSqlite = drizzleOnSqlite({ client: db })
const kyselySqlite = new Kysely<object>({ dialect: new SqliteDialect({ database: db }) })

const onSqlite: Place = {
  store: () => sqlite(file),
  rows: async (name) => db.prepare('SELECT name FROM account WHERE name = ?').all(name).length,
  ways: [
    {
      name: 'sqlite: Drizzle',
      async transaction<T>(act: Act<T>, isUndone: boolean) {
        const { acting } = drizzledSqlite.transaction((trx) => {
          const started = act(fromDrizzle(trx) as never, (name) =>
            trx.run(sql.raw(`INSERT INTO account VALUES ('${name}')`)),
          )
          if (!isUndone) return { acting: started }
          // Its outcome is known to be lost.
          started.catch(() => {})
          throw new RolledBack()
        })
        return acting
      },
      adaptHandle: () => fromDrizzle(drizzledSqlite as never),
    },
    {
      name: 'sqlite: Kysely',
      transaction: (act, isUndone) =>
        kyselySqlite.transaction().execute((trx) =>
          ended(
            act(fromKysely(trx, db) as never, (name) =>
              kyselySql.raw(`INSERT INTO account VALUES ('${name}')`).execute(trx),
            ),
            isUndone,
          ),
        ),
      adaptHandle: () => fromKysely(kyselySqlite, db),
    },
  ],
}

beforeAll(async () => {
  for (const store of [onPostgres.store(), onSqlite.store()]) {
    await store.open()
    await store.close()
  }
  await pool.query(`CREATE TABLE ${schema}.account (name text PRIMARY KEY)`)
  // Also opens its other files, which are left open until the end of this test file.
  db.exec('CREATE TABLE account (name text PRIMARY KEY)')
  await typeorm.initialize()
})
afterAll(async () => {
  await typeorm.destroy()
  await knex.destroy()
  await onPostgresJs.end()
  await pool.end()
  db.close()
})

describe.each([...onPostgres.ways, ...onSqlite.ways])('$name', (way) => {
  const { store, rows } = onPostgres.ways.includes(way) ? onPostgres : onSqlite
  const rowNamed = (name: string): string => `${way.name}: ${name}`

  async function started(jobs: readonly unknown[]): Promise<Mill<never>> {
    const mill: Mill<never> = jobmill({ store: store(), jobs: jobs as never, log: 'silent', grace: 0 })
    onTestFinished(() => mill.stop().then(() => {}))
    await mill.start()
    return mill
  }

  test('P10 a job is enqueued with the rows of the user, or not at all', async () => {
    const greet = defineJob({ kind: 'greet', run: ({ payload }: JobContext<{ to: string }>) => payload.to })
    const mill = await started([greet])
    // A question mark is a placeholder of Knex, and a colon one of TypeORM and Drizzle.
    const payload = { to: `a "quoted" ? :name $1 \\ '${way.name}'` }
    const act =
      (row: string): Act<{ id: string }> =>
      async (tx, insert) =>
        (await Promise.all([mill.enqueue(greet, payload, { tx, dedupeKey: row }), insert(row)]))[0]

    const committed = rowNamed('enqueued')
    const { id } = await way.transaction(act(committed), false)
    mill.wake()
    expect(await mill.job(id).result()).toBe(payload.to)
    expect(await rows(committed)).toBe(1)

    const undone = rowNamed('not enqueued')
    await expect(way.transaction(act(undone), true)).rejects.toThrow(RolledBack)
    expect(await mill.holder(undone)).toBeNull()
    expect(await rows(undone)).toBe(0)
  })

  test('P10 complete ends the job with the rows of the user, or not at all', async () => {
    const row = rowNamed('completed')
    const attempts: string[] = []
    const book = defineJob({
      kind: 'book',
      backoff: { fixed: 0 },
      async run({ complete, attempt }: JobContext<null, string>) {
        const act: Act<unknown> = (tx, insert) => Promise.all([complete(tx, 'booked'), insert(row)])
        attempts.push(`${attempt}`)
        await way.transaction(act, attempt === 1)
      },
    })
    const mill = await started([book])
    expect(await (await mill.enqueue(book)).result()).toBe('booked')
    expect(attempts).toEqual(['1', '2'])
    expect(await rows(row)).toBe(1)
  })

  test('P17 step.transaction records its result with the rows of the user, once', async () => {
    const row = rowNamed('recorded')
    const runs: number[] = []
    const pay = defineJob({
      kind: 'pay',
      backoff: { fixed: 0 },
      async run({ step, attempt }: JobContext<null>) {
        const act: Act<string> = (tx, insert) =>
          step.transaction(tx, 'charge', () => {
            runs.push(attempt)
            const inserted = insert(row)
            // Statements of most libraries are sent when they are awaited.
            const isPending = 'then' in Object(inserted)
            return isPending ? Promise.resolve(inserted).then(() => 'charged') : 'charged'
          })
        const charged = await way.transaction(act, attempt === 1)
        if (attempt === 2) throw new Error('after the commit')
        return charged
      },
    })
    const mill = await started([pay])
    expect(await (await mill.enqueue(pay)).result()).toBe('charged')
    // The first transaction was rolled back. The third attempt reads the recorded result.
    expect(runs).toEqual([1, 2])
    expect(await rows(row)).toBe(1)
  })

  test('a handle without a transaction is refused', async () => {
    await expect(Promise.resolve().then(way.adaptHandle)).rejects.toMatchObject({
      code: 'TX_INVALID',
      field: 'tx',
      message: expect.stringMatching(/^tx: is not an open transaction\. Pass the argument of /) as string,
    })
  })
})

test('a transaction of Knex that has ended is refused, because its connection is in use elsewhere', async () => {
  const ended = await knex.transaction(async (trx) => fromKnex(trx))
  await expect(ended('SELECT $1', ['1'])).rejects.toMatchObject({ code: 'TX_INVALID' })
})

test.each([[undefined], [null], ['BEGIN'], [{}]])('%j is refused by every adapter', async (trx) => {
  const adapters = [fromDrizzle, fromKnex, fromKysely, fromPostgresJs, fromTypeorm]
  for (const adapter of adapters as ((trx: unknown) => unknown)[])
    await expect(
      (async () => {
        const tx = adapter(trx)
        return (tx as (text: string, values: unknown[]) => unknown)('SELECT $1', ['1'])
      })(),
    ).rejects.toMatchObject({ code: 'TX_INVALID' })
})
