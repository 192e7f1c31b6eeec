/**
 * Plans of steps, events and children at 100,000 rows and more in each of their tables: no statement may scan
 * one, neither those of steps nor those that end, retry or delete other jobs.
 */
import pg from 'pg'
import { afterAll, beforeAll, describe, inject, test } from 'vitest'
import { freshSchema } from '../../../../test/support/databases.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../src/job/queue/queue-settings.ts'
import type { Lease } from '../../src/store/types/claim.ts'
import type { Transition } from '../../src/store/types/finish.ts'
import {
  aClaim,
  aFinish,
  aJob,
  anInstance,
  aRetain,
  only,
  someJobs,
} from '../../../conformance/src/factories.ts'
import { anEvent, aStep, aWait } from '../../../conformance/src/suite/steps/step-helpers.ts'
import { expectIndexes as expectUse, type Explained, explaining } from './explaining.ts'

/** A quarter of them have ended, and a quarter are scheduled. */
const ROWS = 400_000
const url = inject('postgresUrl')
const schema = freshSchema(url, 'plans')
const alive = anInstance({ queues: ['q'], kinds: ['known'], leaseMs: 3_600_000 })
let store: Explained

/** Inserts directly into the tables: parents with 100 children each, most of which are open. */
async function fill(): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const run = (sql: string) => client.query(sql.replaceAll('jobmill.', `${schema}.`))
  try {
    await run('SET session_replication_role = replica')
    await run(
      `CREATE TEMP TABLE parent AS SELECT n, gen_random_uuid() AS id FROM generate_series(0, ${ROWS} / 100 - 1) AS n`,
    )
    await run(`CREATE TEMP TABLE made AS
      SELECT m.n, gen_random_uuid() AS id, p.id AS parent FROM generate_series(0, ${ROWS} - 1) AS m(n) JOIN parent AS p ON p.n = m.n / 100`)
    await run(`INSERT INTO jobmill.job (id, queue_id, kind_id, priority, max_attempts, payload, enqueued_at)
      SELECT id, 1, 1, 0, 5, '1'::json, n FROM made UNION ALL SELECT id, 1, 1, 0, 5, '1'::json, n FROM parent`)
    await run(`INSERT INTO jobmill.later (due_at, id, queue_id, kind_id, tries, priority, attempt, crashes, flags)
      SELECT 4000000000000 + n, id, 1, 1, 0, 0, 0, 0, 32 FROM made WHERE n % 4 = 0`)
    await run(`INSERT INTO jobmill.attempt (job_id, token, started_at, ended_at, queue_id, attempt, spent, crashes, outcome, ended_as, tries)
      SELECT id, n, n, 4000000000000 + n, 1, 1, 1, 0, 0, 3 + n % 3, 1 FROM made WHERE n % 4 = 1`)
    await run(
      `INSERT INTO jobmill.child (id, parent_id, step, place, ended_as) SELECT id, parent, 'fan', n % 100, CASE WHEN n % 4 = 1 THEN 3 + n % 3 END FROM made`,
    )
    await run(
      `INSERT INTO jobmill.step (job_id, name, place, kind, token, started_at) SELECT id, 'fan', 0, 4, 1, 1 FROM parent UNION ALL SELECT id, 's', 0, 0, 1, 1 FROM made`,
    )
    await run(
      `INSERT INTO jobmill.job_event (job_id, id, name, payload, sent_at) SELECT id, gen_random_uuid(), 'e', '1', n FROM made`,
    )
    await run(`INSERT INTO jobmill.wake (job_id) SELECT id FROM parent, generate_series(1, 25)`)
    await run('ANALYZE')
  } finally {
    await client.end()
  }
}

beforeAll(async () => {
  store = await explaining(url, schema)
  await store.queues.declare([
    {
      name: 'q',
      settings: { ...DEFAULT_QUEUE_SETTINGS, retainDoneMs: 0, retainDeadMs: 0, retainCancelledMs: 0 },
    },
  ])
  await store.enqueue([aJob({ kind: 'known', queue: 'q', delay: '10h' })])
  await fill()
  await store.instances.register(alive)
}, 180_000)
afterAll(() => store.close())

const BIG = ['job', 'later', 'attempt', 'child', 'step', 'job_event', 'wake']
const expectIndexes = (verb: () => Promise<unknown>, ...indexes: string[]): Promise<void> =>
  expectUse(store, BIG, verb, indexes)

const claim = async (): Promise<Lease> =>
  only(await store.claim(aClaim(alive.id, { kinds: ['known'], queues: [{ queue: 'q', room: 1 }], limit: 1 })))

async function leased(): Promise<Lease> {
  await store.enqueue([aJob({ kind: 'known', queue: 'q' })])
  return claim()
}

async function parent(): Promise<{ parent: Lease; children: readonly string[] }> {
  const lease = await leased()
  const jobs = someJobs([
    { kind: 'known', queue: 'q' },
    { kind: 'known', queue: 'q', delay: '1h' },
  ])
  await store.steps.start([{ id: lease.id, token: lease.token, name: 'fan', place: 0, jobs }])
  return { parent: lease, children: jobs.map(({ id }) => id) }
}

const finish = (
  lease: Lease,
  to: Transition,
  outcome: 'parked' | 'returned' | 'failed' | 'cancelled' = 'returned',
) => store.finish([{ ...aFinish(lease, to), outcome }])

describe('postgres plans of steps', () => {
  test('start, wait, park and read', async () => {
    const lease = await leased()
    const jobs = someJobs([{ kind: 'known', queue: 'q', delay: '1h' }])
    await expectIndexes(() =>
      store.steps.start([{ id: lease.id, token: lease.token, name: 'fan', place: 0, jobs }]),
    )
    await expectIndexes(() => store.steps.record([aStep(lease, 's', { place: 1 })]))
    await expectIndexes(() => store.steps.wait([aWait(lease, 'fan', { forChildren: true })]))
    await expectIndexes(() => store.steps.wait([aWait(lease, 'e', { events: ['e'], place: 2 })]))
    await expectIndexes(() => store.steps.children(lease.id, { step: 'fan' }))
    await expectIndexes(() => store.steps.children(lease.id, { limit: 10 }))
    await expectIndexes(() => store.steps.parents([lease.id, only(jobs).id]))
    await expectIndexes(() => store.steps.read([lease.id]))
    await expectIndexes(() => store.steps.send([anEvent(lease.id, 'x')]))
    await expectIndexes(() => store.steps.send([{ ...anEvent(lease.id, 'y'), kind: 'another' }]))
    await expectIndexes(() => finish(lease, { to: 'parked' }, 'parked'))
  })

  test.each(['done', 'dead', 'cancelled'] as const)('a child and a parent that end as %s', async (to) => {
    const { parent: lease } = await parent()
    const child = await claim()
    const transition = (to === 'done' ? { to, result: '1' } : { to }) as Transition
    if (to === 'cancelled') await store.cancel([lease.id, child.id], 'stop')
    await expectIndexes(() =>
      finish(child, transition, to === 'done' ? 'returned' : to === 'dead' ? 'failed' : to),
    )
    await expectIndexes(() =>
      finish(lease, transition, to === 'done' ? 'returned' : to === 'dead' ? 'failed' : to),
    )
    await expectIndexes(() => store.steps.fork(lease.id, 1, aJob({ kind: 'known', queue: 'q', delay: '1h' })))
    await expectIndexes(() => store.steps.rewind(lease.id, 0))
    await expectIndexes(() => finish(lease, transition))
    await claim().then((one) => finish(one, { to: 'done', result: null }))
  })

  test('a parent that is forgotten', async () => {
    const { parent: lease } = await parent()
    await expectIndexes(() => finish(lease, { to: 'done', result: null, forget: true }))
    await claim().then((one) => finish(one, { to: 'done', result: null }))
  })

  test('cancel, retry and delete of parked parents and waiting children', async () => {
    const { parent: lease, children } = await parent()
    await finish(await claim(), { to: 'done', result: null })
    await store.steps.wait([aWait(lease, 'fan', { forChildren: true })])
    await finish(lease, { to: 'parked' }, 'parked')
    await expectIndexes(() => store.cancel([children[1] ?? ''], 'stop'))
    await expectIndexes(() => store.retry([children[1] ?? '']))
    await expectIndexes(() => store.cancel([lease.id], 'stop'))
    await expectIndexes(() => store.delete([lease.id, children[1] ?? '']))
  })

  test('stage with 100,000 wake-ups, and the children of cancelled jobs', async () => {
    // It looks whether there is a wake-up at all, which reads one row.
    const big = BIG.filter((table) => table !== 'wake')
    await expectUse(store, big, () => store.stage(1_000), ['wake_pkey', 'child_open'])
  })

  test('reap and retention', async () => {
    await expectIndexes(() => store.instances.reap({ crashesUntilDead: 1, limit: 100 }))
    await expectIndexes(() => store.retain(aRetain()))
  })
})
