/**
 * Tables that were recreated before a backup was restored into them: the restore of `queue` and `kind` fails
 * on their keys, that of `job` does not.
 */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { freshSchema } from '../../../../test/support/databases.ts'
import { postgres } from '../../src/postgres.ts'
import type { ToolStore } from '../../src/store/store.ts'
import { aClaim, aJob, anInstance } from '../../../conformance/src/factories.ts'

const url = inject('postgresUrl')
const admin = new pg.Client({ connectionString: url })
beforeAll(() => admin.connect())
afterAll(() => admin.end())

async function opened(schema: string): Promise<ToolStore<never>> {
  const store = postgres(url, { schema, notifier: false })
  onTestFinished(() => store.close())
  await store.open()
  return store
}

describe('recreated tables', () => {
  test('D2 P1 never give the ids of restored jobs to other names', async () => {
    const schema = freshSchema(url, 'recreated')
    const first = await opened(schema)
    await first.enqueue([aJob({ kind: 'wipe', queue: 'danger' })])
    await first.close()
    for (const table of ['job', 'ready'])
      await admin.query(`CREATE TEMP TABLE backup_${table} AS TABLE ${schema}.${table}`)
    await admin.query(`DROP SCHEMA ${schema} CASCADE`)

    const store = await opened(schema)
    const own = aJob({ kind: 'mail', queue: 'post' })
    await store.enqueue([own])
    for (const table of ['job', 'ready'])
      await admin.query(`INSERT INTO ${schema}.${table} SELECT * FROM backup_${table}`)
    const instance = anInstance()
    await store.instances.register(instance)
    const mail = { queues: [{ queue: 'post', room: 10 }], kinds: ['mail'] }
    const claimed = await store.claim(aClaim(instance.id, { ...mail, limit: 10 }))
    expect(claimed.map(({ id }) => id)).toEqual([own.id])
    const names = (await store.tools.diagnose()).find(({ check }) => check === 'names')
    expect(names?.message).toMatch(/^1 jobs refer to deleted rows of kind \(ids \d+\) and queue \(ids \d+\)/)
  })
})
