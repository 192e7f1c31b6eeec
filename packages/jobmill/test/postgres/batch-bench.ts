/** A store with the jobs of one claim in a batch, for the tests of batches. */
import pg from 'pg'
import { expect, onTestFinished } from 'vitest'
import { postgres } from '../../src/postgres.ts'
import type { Lease } from '../../src/store/types/claim.ts'
import type { Finish, Transition } from '../../src/store/types/finish.ts'
import type { FullStore } from '../../src/store/store.ts'
import type { QueueCounts } from '../../src/store/types/queue-record.ts'
import { aClaim, anInstance, someJobs } from '../../../conformance/src/factories.ts'

export const SIZE = 30
const DONE: Transition = { to: 'done', result: '1' }
export const FORGOTTEN: Transition = { to: 'done', result: null, forget: true }
export const FAILED: Transition = { to: 'scheduled', delayMs: 60_000, refund: false }

export function finish({ id, token }: Lease, transition: Transition = DONE): Finish {
  return { id, token, outcome: transition.to === 'done' ? 'returned' : 'failed', transition }
}

export interface BatchBench {
  readonly store: FullStore
  readonly leases: Lease[]
  readonly instance: string
  readonly opened: () => Promise<FullStore>
  /** A session of the user. */
  readonly session: () => Promise<pg.Client>
  readonly sql: (text: string, values?: readonly unknown[]) => Promise<Record<string, unknown>[]>
  readonly counts: () => Promise<Partial<QueueCounts>>
  readonly accepted: (items: readonly Finish[], from?: FullStore) => Promise<boolean[]>
  /** Makes the instance look as if its process had died. */
  readonly expire: () => Promise<unknown>
  /** Resolves when that many sessions wait for a lock of this schema. */
  readonly waiting: (sessions: number) => Promise<void>
}

/** Claims new jobs at once. All that is opened is closed at the end of the test. */
export async function batchBench(url: string, schema: string, queue: string): Promise<BatchBench> {
  const opened = async (): Promise<FullStore> => {
    const one = postgres(url, { schema, notifier: false })
    await one.open()
    onTestFinished(() => one.close())
    return one
  }
  const session = async (): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    onTestFinished(() => client.end())
    return client
  }
  const store = await opened()
  const client = await session()
  const sql: BatchBench['sql'] = async (text, values = []) =>
    (await client.query<Record<string, unknown>>(text.replaceAll('jobmill.', `${schema}.`), [...values])).rows
  const me = anInstance({ leaseMs: 3_600_000 })
  await store.instances.register(me)
  await store.enqueue(someJobs(Array.from({ length: SIZE }, () => ({ queue }))))
  const leases = await store.claim(aClaim(me.id, { queues: [{ queue, room: 500 }] }))
  const rows = await sql('SELECT cardinality(ids) AS jobs FROM jobmill.batch WHERE token = $1', [
    leases[0]?.token,
  ])
  expect(rows).toEqual([{ jobs: SIZE }])
  return {
    store,
    leases,
    instance: me.id,
    opened,
    session,
    sql,
    counts: async () => (await store.counts()).find((one) => one.queue === queue) ?? {},
    accepted: async (items, from = store) => (await from.finish(items)).map(({ accepted }) => accepted),
    expire: () => sql('UPDATE jobmill.instance SET expires_at = 0 WHERE id = $1', [me.id]),
    async waiting(sessions) {
      const blocked = `SELECT count(*)::int4 AS n FROM pg_stat_activity
        WHERE wait_event_type = 'Lock' AND query LIKE '%${schema}%' AND pid <> pg_backend_pid()`
      await expect.poll(async () => (await sql(blocked))[0]?.['n'], { timeout: 20_000 }).toBe(sessions)
    },
  }
}
