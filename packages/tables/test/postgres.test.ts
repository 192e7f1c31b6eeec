/** Tables on PostgreSQL: transactions of the caller. */
import pg from 'pg'
import { expect, inject, onTestFinished, test } from 'vitest'
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
