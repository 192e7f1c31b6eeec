// An open transaction blocks a migration from the tables that it changes. The migration must not block other
// clients at the same time: all clients behind a migration that waits for a lock would wait too.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Platform, FullStore } from 'jobmill'
import { systemPlatform } from 'jobmill/store'
import { postgres } from 'jobmill/postgres'
import { aClaim, aJob, anInstance } from 'jobmill-conformance'
import pg from 'pg'
import { beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { freshSchema } from '../support/databases.ts'
import { atFileEnd } from '../support/suite/file-end.ts'
import { buildNextRelease } from './releases/next-release.ts'

const url = inject('postgresUrl')

/** The store of the release after the current one. */
let next: typeof postgres
beforeAll(async () => {
  const folder = await buildNextRelease(atFileEnd)
  next = ((await import(pathToFileURL(join(folder, 'postgres.mjs')).href)) as { postgres: typeof postgres })
    .postgres
})

/** Opens a transaction that has read the queues and the limits, as an enqueue inside it would. */
async function openTransaction(schema: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  await client.query(`BEGIN; SELECT FROM ${schema}.queue; SELECT FROM ${schema}.limit`)
  return client
}

/** Counts how often a migration has backed off: before each pause it draws a random delay. */
function watchBackOff(): { readonly platform: Platform; readonly times: () => number } {
  let times = 0
  const random = (): number => {
    times += 1
    return systemPlatform.random()
  }
  return { platform: { ...systemPlatform, random }, times: () => times }
}

/** Runs one job from enqueue to finish with the code of an earlier release. */
async function runOne(store: FullStore<never>, instance: string): Promise<void> {
  await store.enqueue([aJob()])
  const [lease] = await store.claim(aClaim(instance, { limit: 1 }))
  const { id = '', token = 0 } = lease ?? {}
  const [reply] = await store.finish([
    { id, token, outcome: 'returned', transition: { to: 'done', result: null } },
  ])
  expect(reply).toMatchObject({ accepted: true })
}

async function olderStore(schema: string): Promise<FullStore<never>> {
  const old = postgres(url, { schema, notifier: false })
  onTestFinished(() => old.close())
  await old.open()
  return old
}

describe('migrations that give way, on postgres', () => {
  test('P16 processes keep working while a migration waits for an open transaction', async () => {
    const schema = freshSchema(url, 'give_way')
    const old = await olderStore(schema)
    const instance = anInstance({ leaseMs: 600_000 })
    await old.instances.register(instance)
    await runOne(old, instance.id)

    const client = await openTransaction(schema)
    const { platform, times } = watchBackOff()
    const store = next(url, { schema, notifier: false, platform })
    onTestFinished(() => store.close())
    const opening = store.open()
    let jobs = 1
    // The migration retries after it has backed off. Behind one that keeps its place in the lock queue, this
    // loop would never end.
    for (; times() < 2; jobs += 1) await runOne(old, instance.id)
    await client.query('COMMIT')
    await opening
    await runOne(old, instance.id)
    expect(await store.counts()).toMatchObject([{ done: jobs + 1 }])
  })

  test('P16 a migration that cannot lock its tables in time fails, and says what to do', async () => {
    const schema = freshSchema(url, 'give_way')
    await olderStore(schema)
    const client = await openTransaction(schema)
    const { platform, times } = watchBackOff()
    // After the first back-off, an hour has passed.
    const monotonic = (): number => systemPlatform.monotonic() + times() * 3_600_000
    const store = next(url, { schema, notifier: false, platform: { ...platform, monotonic } })
    await expect(store.open()).rejects.toMatchObject({
      code: 'STORE_BUSY',
      fix: expect.stringContaining('pg_stat_activity') as string,
    })
    await client.query('COMMIT')
    await store.open()
    await store.close()
  })
})
