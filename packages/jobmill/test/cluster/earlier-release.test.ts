// A process of the previous release ended an instance without releasing its permits and slots: they are found
// and removed.
import Database from 'better-sqlite3'
import pg from 'pg'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { freshFile, freshSchema } from '../../../../test/support/databases.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../src/job/queue/queue-settings.ts'
import { postgres } from '../../src/postgres.ts'
import { sqlite } from '../../src/sqlite.ts'
import type { FullStore } from '../../src/store/store.ts'
import { aClaim, aJob, anInstance, aRetain } from '../../../conformance/src/index.ts'

interface Place {
  readonly store: FullStore
  /** How that release reaps an instance: it is marked, and its jobs are ready again. */
  readonly reapedBefore: (instance: string) => Promise<void>
}

const places: [string, () => Place][] = [
  [
    'sqlite',
    () => {
      const path = freshFile()
      return {
        store: sqlite(path),
        async reapedBefore(instance) {
          const database = new Database(path)
          database.prepare(`UPDATE jobmill_job SET state = 1, instance_pk = NULL WHERE state = 2`).run()
          database.prepare(`UPDATE jobmill_instance SET state = 1, ended_at = 1 WHERE id = ?`).run(instance)
          database.close()
        },
      }
    },
  ],
  [
    'postgres',
    () => {
      const url = inject('postgresUrl')
      const schema = freshSchema(url, 'earlier')
      return {
        store: postgres(url, { schema, notifier: false }),
        async reapedBefore(instance) {
          const client = new pg.Client({ connectionString: url })
          await client.connect()
          await client.query(`
            WITH gone AS (DELETE FROM ${schema}.running RETURNING *)
            INSERT INTO ${schema}.ready (queue_id, priority, seq, id, ready_at, kind_id, tries, attempt, crashes, flags)
            SELECT queue_id, priority, seq, id, ready_at, kind_id, tries, attempt, crashes, flags FROM gone`)
          const mark = `UPDATE ${schema}.instance SET ended_at = 1, lost = true WHERE id = $1`
          await client.query(mark, [instance])
          await client.end()
        },
      }
    },
  ],
]

describe.each(places)('leftovers of an earlier release, on %s', (_, fresh) => {
  test('P13 permits of its jobs and of others, and slots, are deleted by the next retention', async () => {
    const { store, reapedBefore } = fresh()
    onTestFinished(() => store.close())
    await store.open()
    await store.limits.declare([{ name: 'db', settings: { type: 'concurrency', most: 2 } }])
    const settings = { ...DEFAULT_QUEUE_SETTINGS, limit: 'db', workers: 5 }
    await store.queues.declare([{ name: 'default', settings }])
    const instance = anInstance()
    await store.instances.register(instance)
    await store.instances.assign([{ instance: instance.id, queue: 'default', workers: 5 }])
    await store.enqueue([aJob()])
    expect(await store.claim(aClaim(instance.id))).toHaveLength(1)
    const outside = { limit: 'db', amount: 1, holder: anInstance().id, token: null, waitUpToMs: 0 }
    await store.limits.acquire([{ ...outside, instance: instance.id }])
    expect((await store.limits.list())[0]).toMatchObject({ held: 2, available: 0 })
    await reapedBefore(instance.id)
    await store.retain(aRetain())
    expect((await store.limits.list())[0]).toMatchObject({ held: 0, available: 2 })
    expect(await store.instances.slots()).toEqual([])
  })
})
