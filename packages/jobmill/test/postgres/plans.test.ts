/**
 * Plans at many rows in every table: each statement of the hot path and of every list is explained just
 * before it runs, and none may scan a large table.
 */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { freshSchema } from '../../../../test/support/databases.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../src/job/queue/queue-settings.ts'
import type { Finish, Transition } from '../../src/store/types/finish.ts'
import type { JobFilter } from '../../src/store/types/job-list.ts'
import { aJob, anInstance, aHeartbeat, aRetain } from '../../../conformance/src/factories.ts'
import { expectIndexes as expectUse, type Explained, explaining, plansOf } from './explaining.ts'

const ROWS = 100_000
const url = inject('postgresUrl')
const schema = freshSchema(url, 'plans')
const alive = anInstance({ queues: ['q1', 'q2'], kinds: ['known'] })
let store: Explained

/** Inserts directly into the tables: 100,000 jobs in each state, half of them in each of two queues. */
async function fill(): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const run = (sql: string) => client.query(sql.replaceAll('jobmill.', `${schema}.`))
  try {
    // Without triggers: the rows are consistent.
    await run('SET session_replication_role = replica')
    await run(`CREATE TEMP TABLE made AS
      SELECT n, gen_random_uuid() AS id, n % 2 + 1 AS queue_id, n / ${ROWS} AS place FROM generate_series(0, ${ROWS} * 5 - 1) AS n`)
    await run(`INSERT INTO jobmill.job (id, queue_id, kind_id, priority, max_attempts, payload, enqueued_at, tags, order_key)
      SELECT id, queue_id, 1, 0, 5, '{"a":1}', n, CASE WHEN n % 100 = 0 THEN '{t}'::text[] END, 'key' FROM made`)
    await run(`INSERT INTO jobmill.job_tag SELECT 't', id FROM made WHERE n % 100 = 0`)
    await run(`INSERT INTO jobmill.later (due_at, id, queue_id, kind_id, tries, priority, attempt, crashes, flags)
      SELECT 4000000000000 + n, id, queue_id, 1, 0, 0, 0, 0, 0 FROM made WHERE place = 0`)
    await run(`INSERT INTO jobmill.ready (queue_id, priority, seq, id, ready_at, kind_id, tries, attempt, crashes, flags)
      SELECT queue_id, 0, n, id, n, 1, 0, 0, 0, 0 FROM made WHERE place = 1`)
    await run(`INSERT INTO jobmill.running (id, token, instance, seq, ready_at, started_at, queue_id, kind_id, tries, priority,
        attempt, crashes, flags)
      SELECT id, n, ('00000000-0000-4000-8000-' || lpad((n % 1000)::text, 12, '0'))::uuid, n, n, n, queue_id, 1, 1, 0, 1, 0, 0
        FROM made WHERE place = 2`)
    await run(`INSERT INTO jobmill.order_queue (queue_id, order_key, pos, id, due_at, kind_id, tries, priority, flags)
      SELECT queue_id, 'key', n, id, n, 1, 0, 0, 2 FROM made WHERE place = 3`)
    await run(`INSERT INTO jobmill.attempt (job_id, token, started_at, ended_at, queue_id, attempt, spent, crashes, outcome, ended_as, tries)
      SELECT id, n, n, 4000000000000 + n, queue_id, 1, 1, 0, 0, 3 + n % 3, 1 FROM made WHERE place = 4`)
    await run(`INSERT INTO jobmill.dedupe (key, job_id, expires_at)
      SELECT 'global ' || n, id, CASE WHEN n % 2 = 0 THEN 4000000000000 + n END FROM made WHERE place = 4`)
    await run(`SELECT setval('jobmill.seq', ${ROWS} * 10), setval('jobmill.token', ${ROWS} * 10)`)
    await run('ANALYZE')
  } finally {
    await client.end()
  }
}

beforeAll(async () => {
  store = await explaining(url, schema)
  await store.queues.declare([
    { name: 'q2', settings: DEFAULT_QUEUE_SETTINGS },
    { name: 'q1', settings: DEFAULT_QUEUE_SETTINGS },
  ])
  await store.enqueue([aJob({ kind: 'known', queue: 'q1', delay: '10h' })])
  await fill()
  await store.instances.register(alive)
}, 180_000)
afterAll(() => store.close())

const BIG = ['job', 'job_tag', 'later', 'ready', 'running', 'order_queue', 'attempt', 'dedupe']

const expectIndexes = (verb: () => Promise<unknown>, ...indexes: string[]): Promise<void> =>
  expectUse(store, BIG, verb, indexes)

describe('postgres plans', () => {
  const claim = {
    instance: alive.id,
    queues: [
      { queue: 'q1', room: 10 },
      { queue: 'q2', room: 10 },
    ],
    kinds: ['known'],
    limit: 20,
  }

  test('P15 a claim walks the primary key of ready', () =>
    expectIndexes(() => store.claim({ ...claim, quarantined: 'skip' }), 'ready_pkey', 'job_pkey'))
  test('P15 a claim of quarantined jobs reads their partial index', () =>
    expectIndexes(() => store.claim({ ...claim, quarantined: 'only' }), 'ready_quarantined'))
  test('P15 stage reads the due times, and the first job of each order queue with a check', () =>
    expectIndexes(() => store.stage(500), 'later_pkey', 'order_queue_pkey'))
  test('P4 reap finds expired instances by their index and their jobs by the instance', () =>
    expectIndexes(() => store.instances.reap({ crashesUntilDead: 3, limit: 10 }), 'running_instance'))
  test('P15 retention walks the ended attempts from their old end, by age and by number', async () => {
    await expectIndexes(() => store.retain(aRetain({ limit: 500 })), 'attempt_ended', 'dedupe_expiry')
    // More than there are, so that the jobs of other tests stay.
    await store.queues.change('q1', { settings: { keepDone: 2 * ROWS }, coolMs: null })
    await expectIndexes(() => store.retain(aRetain({ limit: 500 })), 'attempt_ended')
  })
  test('P15 a heartbeat uses a few index probes', () =>
    expectIndexes(
      () => store.instances.renew(aHeartbeat(alive.id, { queues: ['q1', 'q2'], kinds: ['known'] })),
      'ready_pkey',
      'later_pkey',
    ))
  test('a finish deletes by the primary key of running', async () => {
    const leases = await store.claim({ ...claim, quarantined: 'skip' })
    const items = leases.map(
      ({ id, token }) =>
        ({ id, token, outcome: 'returned', transition: { to: 'done', result: null } }) as const,
    )
    await expectIndexes(() => store.finish(items), 'running_pkey')
  })
  test('a finish of failed and forgotten jobs, some sent twice, uses the primary keys', async () => {
    const leases = await store.claim({ ...claim, quarantined: 'skip' })
    const items = leases.map(({ id, token }, at): Finish => {
      const failed: Transition = { to: 'scheduled', delayMs: 60_000, refund: false }
      const forgotten: Transition = { to: 'done', result: null, forget: true }
      return { id, token, outcome: 'failed', transition: at % 2 === 0 ? failed : forgotten }
    })
    await expectIndexes(() => store.finish(items.slice(2)), 'running_pkey', 'job_pkey')
    await expectIndexes(() => store.finish(items), 'running_pkey', 'attempt_pkey')
  })
  test.each(['keep', 'replace'] as const)(
    'an enqueue with a key, to %s its holder, probes the key',
    (onConflict) =>
      expectIndexes(
        () => store.enqueue([aJob({ kind: 'known', queue: 'q1', dedupe: { key: '7', onConflict } })]),
        'dedupe_pkey',
      ),
  )
  test('operators find a job by its id, in any table', async () => {
    const ids = (await store.list({ state: 'ready' }, { limit: 2 })).jobs.map(({ id }) => id)
    await expectIndexes(() => store.get(ids))
    await expectIndexes(() => store.results(ids), 'attempt_pkey', 'running_pkey', 'ready_id_key')
    await expectIndexes(() => store.inspect.failures(ids), 'attempt_pkey')
    await expectIndexes(() => store.inspect.runs(ids, 0), 'attempt_pkey')
    const [waits] = (await store.list({ state: 'scheduled' }, { limit: 1 })).jobs
    const blocker = () => store.inspect.blocker(waits?.id ?? '')
    await expectIndexes(blocker, 'order_queue_id_key', 'order_queue_pkey')
    await expectIndexes(() => store.cancel(ids, 'test'))
    await expectIndexes(() => store.retry(ids))
    // As before: cancelled jobs. The statements find each row by its id.
    await store.cancel(ids, 'test')
    const ended = await store.get(ids)
    const payloads = ended.map((job) => ({ payload: '1', entries: [], endedAt: job?.endedAt ?? 0 }))
    await expectIndexes(() => store.retry(ids, payloads))
    await expectIndexes(() => store.runNow(ids))
    await expectIndexes(() => store.delete(ids))
    await expectIndexes(() => store.history(ids[0] ?? ''), 'attempt_pkey')
  })

  const listings: [string, JobFilter, string][] = [
    ['everything', {}, 'job_pkey'],
    ['a tag', { tags: ['t'] }, 'job_tag_pkey'],
    ['a tag in one state', { tags: ['t', 'u'], byTag: true, state: 'dead' }, 'job_tag_pkey'],
    ['a tag of retries', { tags: ['t'], byTag: true, state: 'scheduled', retrying: true }, 'job_tag_pkey'],
    ['a text in the payload', { payloadText: 'nowhere' }, 'job_pkey'],
    ['a value in the payload', { payloadAt: [{ path: ['b', '0'], value: '1' }] }, 'job_pkey'],
    ['a text in the error', { errorText: 'nowhere', state: 'dead' }, 'attempt_ended'],
    ['scheduled', { state: 'scheduled' }, 'later_pkey'],
    ['ready', { state: 'ready' }, 'ready_pkey'],
    ['ready of one queue', { state: 'ready', queue: 'q1' }, 'ready_pkey'],
    [
      'ready of some queues and kinds',
      { state: 'ready', queue: ['q1', 'q2'], kind: ['k', 'l'] },
      'ready_pkey',
    ],
    ['retrying', { state: 'scheduled', retrying: true }, 'later_pkey'],
    ['done', { state: 'done' }, 'attempt_ended'],
    [
      'done at a time',
      { state: 'done', endedFrom: 1, endedBefore: 7e12, queue: ['q1', 'q2'] },
      'attempt_ended',
    ],
    ['dead of one queue', { state: 'dead', queue: 'q2' }, 'attempt_ended'],
    ['what failed in a range', { state: 'dead', failedFrom: 1, failedBefore: 7e12 }, 'attempt_ended'],
    ['what failed, in any state', { failedFrom: 1, failedBefore: 7e12 }, 'job_pkey'],
    ['retries of what failed', { state: 'scheduled', retrying: true, failedFrom: 1 }, 'later_pkey'],
    ['what started, in any state', { startedFrom: 1, startedBefore: 7e12 }, 'job_pkey'],
    ['done that started', { state: 'done', startedFrom: 1 }, 'attempt_ended'],
    ['a version, in any state', { version: '1.0' }, 'job_pkey'],
    ['dead of some versions', { state: 'dead', version: ['1.0', '2.0'] }, 'attempt_ended'],
    ['an order key', { orderKey: 'key' }, 'job_pkey'],
    ['a dedupe key', { dedupeKey: 'nowhere' }, 'job_pkey'],
  ]
  test.each(listings)('a list of %s walks the index of its order', async (_, filter, index) => {
    const first = await store.list(filter, { limit: 50 })
    await expectIndexes(() => store.list(filter, { limit: 50, cursor: first.next ?? undefined }), index)
  })
  test('a list of old failures starts at its range, not at the newest job', async () => {
    const last = 4_000_000_000_000 + 4 * ROWS + ROWS / 2
    for (const range of [{ failedFrom: 1, failedBefore: last }, { failedFrom: last + ROWS }]) {
      const page = await store.list({ state: 'dead', ...range }, { limit: 5 })
      expect(page.scanned).toBeLessThanOrEqual(5)
    }
  })
  test('a search for a text that does not occur stops at the budget, and the page says where to continue', async () => {
    const page = await store.list({ payloadText: 'nowhere' }, { limit: 50 })
    expect(page).toMatchObject({ jobs: [], complete: false })
    expect(page.scanned).toBeLessThanOrEqual(50_000)
    const next = await store.list({ payloadText: 'nowhere' }, { limit: 50, cursor: page.next ?? '' })
    expect(next.next).not.toBe(page.next)
  })
  test('a list of running jobs sorts the one table that is never large', async () => {
    const plans = await plansOf(store, () => store.list({ state: 'running' }, { limit: 50 }))
    expect(
      plans.flatMap((plan) => plan.seqScans).filter((table) => table !== 'running' && BIG.includes(table)),
    ).toEqual([])
  })
  test('counts read the totals, and hop over the priorities of ready', () =>
    expectIndexes(() => store.counts(), 'ready_pkey'))
  test('a caller that awaits a job reads no batch', async () => {
    const ids = (await store.list({}, { limit: 100 })).jobs.map(({ id }) => id)
    const plans = await plansOf(store, () => store.results(ids))
    expect(plans.flatMap(({ seqScans }) => seqScans)).not.toContain('batch')
    expect(plans.flatMap(({ indexes }) => indexes)).not.toContain('batch_pkey')
  })
  test('a finish that may have emptied a batch reads only the attempts of its jobs', async () => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    onTestFinished(() => client.end())
    const run = (sql: string) => client.query<{ read: string }>(sql.replaceAll('jobmill.', `${schema}.`))
    await run('BEGIN')
    await run(`INSERT INTO jobmill.batch (token, queue_id, instance, started_at, ids, seqs, ready_ats)
      SELECT 5, 1, '${alive.id}', 0, array_agg(j.id), array_agg(0), array_agg(0)
        FROM (SELECT id FROM jobmill.job WHERE queue_id = 1 ORDER BY id LIMIT 30) AS j`)
    await run(`SELECT jobmill.finish(NULL, b.ids[:1], '{5}', '{NULL}', '', false, NULL, 32, '{5}', '{5}')
      FROM (SELECT ids FROM jobmill.batch WHERE token = 5) AS b`)
    const { rows } = await run(
      `SELECT pg_stat_get_xact_tuples_returned('jobmill.attempt_pkey'::regclass) AS read FROM jobmill.batch WHERE token = 5`,
    )
    await run('ROLLBACK')
    expect(rows).toHaveLength(1)
    expect(Number(rows[0]?.read)).toBeLessThan(200)
  })
  test('the search for kinds without a worker reads the front of each queue in order', async () => {
    await expectIndexes(() => store.inspect.unservedKinds(), 'ready_pkey')
    const [plan] = await plansOf(store, () => store.inspect.unservedKinds())
    // In index order; otherwise the whole queue would be read and sorted first.
    expect(plan?.nodes).not.toContain('Bitmap Index Scan')
  })
})
