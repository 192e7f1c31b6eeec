/**
 * Enqueues jobs in a transaction of a query builder or ORM: an adapter of jobmill/orm, here for Kysely. Needs
 * DATABASE_URL.
 */
import { defineJob, type JobContext, jobmill } from 'jobmill'
import { fromKysely } from 'jobmill/orm'
import { postgres } from 'jobmill/postgres'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'

const url = process.env['DATABASE_URL']
if (url === undefined) {
  console.error('Set DATABASE_URL, for example to postgres://postgres@localhost:5432/postgres')
  process.exit(1)
}

interface Tables {
  example_account: { email: string }
}
const db = new Kysely<Tables>({
  dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url }) }),
})
await db.schema.createTable('example_account').ifNotExists().addColumn('email', 'text').execute()

const sendWelcome = defineJob({
  kind: 'welcome.send',
  run: ({ payload }: JobContext<{ to: string }>) => ({ sent: payload.to }),
})
const mill = jobmill({ store: postgres(url), jobs: [sendWelcome], log: 'silent' })
await mill.start()

async function signUp(email: string, isAllowed: boolean) {
  return db.transaction().execute(async (trx) => {
    await trx.insertInto('example_account').values({ email }).execute()
    const job = await mill.enqueue(sendWelcome, { to: email }, { tx: fromKysely(trx) })
    console.log(
      `enqueued     ${email}, not visible before the commit: ${JSON.stringify(await mill.get(job.id))}`,
    )
    if (!isAllowed) throw new Error(`${email} may not sign up`)
    return job
  })
}

const job = await signUp('ada@example.com', true)
mill.wake()
console.log(`committed    ${JSON.stringify(await job.result())}`)

await signUp('blocked@example.com', false).catch((error: unknown) =>
  console.log(`rolled back  ${String(error)}`),
)
const blocked = db.selectFrom('example_account').selectAll().where('email', '=', 'blocked@example.com')
console.log(`not stored   accounts: ${(await blocked.execute()).length}`)

await mill.stop()
await db.destroy()
