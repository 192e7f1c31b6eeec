/** Tables on PostgreSQL: transactions of the caller, and a schema that is dropped while it is in use. */
import pg from 'pg'
import { expect, inject, onTestFinished, test, vi } from 'vitest'
import { type Database, openTables, sql, type Step } from 'jobmill-tables'
import { freshSchema } from '../../../test/support/databases.ts'

interface Schema {
  shop_order: { id: string }
}

const STEPS: readonly Step[] = [
  async (db, { table }) => {
    await sql`CREATE TABLE ${table('shop_order')} (id text PRIMARY KEY)`.execute(db)
  },
]

async function opened(): Promise<{ database: Database<Schema>; schema: string; client: pg.Client }> {
  const url = inject('postgresUrl')
  const schema = freshSchema(url, 'tables')
  const database = await openTables<Schema>(`${url}?schema=${schema}`, { app: 'shop', steps: STEPS })
  onTestFinished(() => database.tables.close())
  await database.tables.open()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  onTestFinished(async () => void (await client.query(`DROP SCHEMA IF EXISTS ${schema}_shop CASCADE`)))
  return { database, schema, client }
}

test('P10 a transaction of the caller returns columns under the names of the statement', async () => {
  const { database, client } = await opened()
  await client.query('BEGIN')
  const db = database.tables.within(client)
  await db.insertInto('shop_order').values({ id: 'a' }).execute()
  expect(await db.selectFrom('shop_order').select('id as orderId').execute()).toEqual([{ orderId: 'a' }])
  await client.query('ROLLBACK')
})

test('D3 a schema that is dropped is refused first, and created again later', async () => {
  const { database, schema, client } = await opened()
  const { tables } = database
  const put = (): Promise<unknown> => tables.db.insertInto('shop_order').values({ id: 'a' }).execute()
  await put()
  await client.query(`DROP SCHEMA ${schema}_shop CASCADE`)
  const missing = { code: 'STORE_UNAVAILABLE' }
  await expect(put()).rejects.toMatchObject(missing)
  // A restore must not find our tables.
  await expect(put()).rejects.toMatchObject(missing)
  await vi.waitFor(put, { timeout: 20_000, interval: 100 })
  expect(await tables.db.selectFrom('shop_order').select('id').execute()).toEqual([{ id: 'a' }])
}, 30_000)

test('N7 parsers that the application sets for pg do not change what the tables return', async () => {
  const { database } = await opened()
  const types = [16, 17, 19, 20, 21, 23, 25, 114, 701, 1043, 1700, 2950, 3802]
  for (const oid of types) {
    const before = pg.types.getTypeParser(oid) as (text: string) => unknown
    onTestFinished(() => pg.types.setTypeParser(oid, before))
    pg.types.setTypeParser(oid, (text: string) => ({ foreign: text }))
  }
  const { rows } = await sql`SELECT true AS bool, '\\x00ff'::bytea AS bytes, 1::int8 AS big, 2::int4 AS whole,
    'a'::text AS text, 0.5::float8 AS real, '[1]'::jsonb AS json`.execute(database.tables.db)
  expect(rows).toEqual([
    { bool: true, bytes: Buffer.from([0, 255]), big: 1, whole: 2, text: 'a', real: 0.5, json: [1] },
  ])
  await database.tables.open()
})
