/** Jobs without steps pay nothing for steps: no statement, and no row that is read or written. */
import pg from 'pg'
import { expect, inject, onTestFinished, test } from 'vitest'
import { freshSchema } from '../../../../test/support/databases.ts'
import { postgres } from '../../src/postgres.ts'
import { sqlite } from '../../src/sqlite.ts'
import type { FullStore } from '../../src/store/store.ts'
import {
  aClaim,
  aFinish,
  anInstance,
  DEAD,
  DONE,
  later,
  someJobs,
} from '../../../conformance/src/factories.ts'
import { aStep } from '../../../conformance/src/suite/steps/step-helpers.ts'
import { countStatements } from './counted-statements.ts'

const JOBS = 40

/** Jobs that are enqueued, claimed, finished in several ways, retried and cancelled. */
async function lifeOfJobs(store: FullStore, act: 'steps' | 'none'): Promise<void> {
  const me = anInstance({ leaseMs: 3_600_000 })
  await store.instances.register(me)
  const jobs = someJobs(Array.from({ length: JOBS }, () => ({})))
  await store.enqueue(jobs)
  const leases = await store.claim(aClaim(me.id, { queues: [{ queue: 'default', room: JOBS }] }))
  expect(leases).toHaveLength(JOBS)
  if (act === 'steps') await store.steps.record(leases.map((lease) => aStep(lease, 's')))
  const ends = [DONE, DEAD, later(1), { to: 'ready' } as const]
  await store.finish(leases.map((lease, n) => aFinish(lease, ends[n % ends.length] ?? DONE)))
  await store.retry(jobs.map(({ id }) => id))
  const cancelled = await store.cancel(
    jobs.map(({ id }) => id),
    'over',
  )
  expect(cancelled.filter(({ state }) => state === 'cancelled')).toHaveLength((JOBS * 3) / 4)
}

const ACTS = [
  ['none', false],
  ['steps', true],
] as const

test.each(ACTS)('P15 on sqlite: jobs with %s', async (act, touches) => {
  const { texts } = countStatements()
  const store = sqlite(':memory:')
  onTestFinished(() => store.close())
  await store.open()
  texts.length = 0
  await lifeOfJobs(store, act)
  expect(texts.some((text) => /jobmill_(?:step|job_event|child)/.test(text))).toBe(touches)
})

test.each(ACTS)('P15 on postgres: jobs with %s', async (act, touches) => {
  const url = inject('postgresUrl')
  const schema = freshSchema(url, 'without')
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  const TOUCHED = `
    SELECT coalesce(sum(coalesce(seq_tup_read, 0) + coalesce(idx_scan, 0) + n_tup_ins), 0)::int AS n
      FROM pg_stat_user_tables WHERE schemaname = $1 AND relname IN ('step', 'job_event', 'wake', 'child')`
  const touched = async (): Promise<number> =>
    (await client.query<{ n: number }>(TOUCHED, [schema])).rows[0]?.n ?? -1
  const store = postgres(url, { schema, notifier: false, connections: 2 })
  await store.open()
  await lifeOfJobs(store, act)
  // A session reports what it did at the latest when it ends.
  await store.close()
  const sessions = async (): Promise<number> =>
    (
      await client.query(
        `SELECT FROM pg_stat_activity WHERE application_name LIKE 'jobmill%' AND query LIKE $1`,
        [`%${schema}%`],
      )
    ).rowCount ?? 0
  await expect.poll(sessions).toBe(0)
  expect((await touched()) > 0).toBe(touches)
})
