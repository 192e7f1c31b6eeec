// A transaction that somebody leaves open keeps a migration from the tables that it changes. It must not keep anybody else from them: whoever came after a migration
// that simply waited would wait with it.
import { join } from 'node:path'
import { type Platform, type Store, systemPlatform } from 'jobmill'
import { postgres } from 'jobmill/postgres'
import { aClaim, aJob, anInstance } from 'jobmill/testing'
import pg from 'pg'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { freshSchema } from '../support/databases.ts'
import { earlier, keptSchemas, RELEASES } from './release.ts'

const url = inject('postgresUrl')

/** A client in the midst of a transaction that has looked at the queues, as an enqueue of its own would, and at the limits, where there are any. */
async function openTransaction(schema: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  await client.query(`BEGIN; SELECT FROM ${schema}.queue`)
  const { rows } = await client.query(`SELECT WHERE to_regclass('${schema}.limit') IS NOT NULL`)
  if (rows.length > 0) await client.query(`SELECT FROM ${schema}.limit`)
  return client
}

/** Counts how often a migration has given way: before each pause it draws how long that is. */
function watched(): { readonly platform: Platform; readonly times: () => number } {
  let times = 0
  const random = (): number => {
    times += 1
    return systemPlatform.random()
  }
  return { platform: { ...systemPlatform, random }, times: () => times }
}

/** From the enqueue to the end, by the code of an earlier release. */
async function runOne(store: Store<never>, instance: string): Promise<void> {
  await store.enqueue([aJob()])
  const [lease] = await store.claim(aClaim(instance, { limit: 1 }))
  const { id = '', token = 0 } = lease ?? {}
  const [ended] = await store.finish([
    { id, token, outcome: 'returned', transition: { to: 'done', result: null } },
  ])
  expect(ended).toMatchObject({ accepted: true })
}

describe('migrations that give way, on postgres', () => {
  const [first = 0] = keptSchemas()
  /** The last one after which a migration changes a table: one that only brings a function waits for nobody. */
  const last = 5

  test.each([first, last])(
    'P16 processes of schema %i go on while a migration waits for a transaction to end',
    async (release) => {
      const schema = freshSchema(url, 'give_way')
      const { storeAt } = await earlier(join(RELEASES, String(release)))
      const old = await storeAt({ store: 'postgres', at: url, schema })
      onTestFinished(() => old.close())
      await old.open()
      const { onDead, ...instance } = anInstance({ leaseMs: 600_000 })
      await old.register({ ...instance, ...(release > 1 && { onDead }) } as ReturnType<typeof anInstance>)
      await runOne(old, instance.id)

      const client = await openTransaction(schema)
      const { platform, times } = watched()
      const store = postgres(url, { schema, doorbell: false, platform })
      onTestFinished(() => store.close())
      const opening = store.open()
      let jobs = 1
      // It comes back after it has given way. Behind one that simply waited, this would never end.
      for (; times() < 2; jobs += 1) await runOne(old, instance.id)
      await client.query('COMMIT')
      await opening
      await runOne(old, instance.id)
      expect(await store.counts()).toMatchObject([{ done: jobs + 1 }])
    },
  )

  test('P16 a migration that finds the tables taken for too long is refused, and says what to do', async () => {
    const schema = freshSchema(url, 'give_way')
    const { storeAt } = await earlier(join(RELEASES, String(last)))
    const old = await storeAt({ store: 'postgres', at: url, schema })
    onTestFinished(() => old.close())
    await old.open()
    const client = await openTransaction(schema)
    const { platform, times } = watched()
    // After the first time that it gave way, an hour has passed.
    const monotonic = (): number => systemPlatform.monotonic() + times() * 3_600_000
    const store = postgres(url, { schema, doorbell: false, platform: { ...platform, monotonic } })
    await expect(store.open()).rejects.toMatchObject({
      code: 'STORE_BUSY',
      fix: expect.stringContaining('pg_stat_activity') as string,
    })
    await client.query('COMMIT')
    await store.open()
    await store.close()
  })
})
