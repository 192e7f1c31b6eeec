/**
 * Plans for shared state at 100,000 rows in every table that can grow: jobs that wait for a limit, schedules
 * with a long history, metrics and events of a month, and keys of a limit. There are as many permits
 * as the limits allow.
 */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { freshSchema } from '../../../../test/support/databases.ts'
import { inFull } from '../../../../test/support/suite/in-full.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../src/job/queue/queue-settings.ts'
import type { TimelineQuery } from '../../src/store/types/metrics.ts'
import {
  aClaim,
  aDefinition,
  aJob,
  anInstance,
  aHeartbeat,
  aRetain,
  anAcquire,
  aTick,
} from '../../../conformance/src/factories.ts'
import { expectIndexes as expectUse, type Explained, explaining, plansOf } from './explaining.ts'

const ROWS = inFull(100_000, 50_000)
const url = inject('postgresUrl')
const schema = freshSchema(url, 'plans')
const alive = anInstance({ queues: ['slow', 'few'], kinds: ['known'], leaseMs: 3_600_000 })
const EACH = { type: 'rate', amount: 1, perMs: 1_000, burst: 1, perKey: true } as const
let store: Explained

/**
 * Inserts directly into the tables. Half of the ready jobs wait for each of two limits; these and others hold
 * 100 permits.
 */
async function fill(): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const run = (sql: string) => client.query(sql.replaceAll('jobmill.', `${schema}.`))
  try {
    await run(`CREATE TEMP TABLE made AS
      SELECT n, gen_random_uuid() AS id, n % 2 + 1 AS queue_id, n / ${ROWS} AS place,
        ('00000000-0000-4000-8000-' || lpad((n % 1000)::text, 12, '0'))::uuid AS instance FROM generate_series(0, ${ROWS} * 2 - 1) AS n`)
    await run(`INSERT INTO jobmill.job (id, queue_id, kind_id, priority, max_attempts, payload, enqueued_at)
      SELECT id, queue_id, 1, 0, 5, '{"a":1}', n FROM made`)
    await run(`INSERT INTO jobmill.ready (queue_id, priority, seq, id, ready_at, kind_id, tries, attempt, crashes, flags)
      SELECT queue_id, 0, n, id, n, 1, 0, 0, CASE WHEN n < 2 THEN 2 ELSE 0 END, 0 FROM made WHERE place = 0`)
    await run(`INSERT INTO jobmill.running (id, token, instance, seq, ready_at, started_at, queue_id, kind_id, tries, priority,
        attempt, crashes, flags)
      SELECT id, n, instance, n, n, n, queue_id, 1, 1, 0, 1, 0, 8 FROM made WHERE place = 1`)
    await run(`INSERT INTO jobmill.permit (limit_name, holder, instance, token, amount)
      SELECT CASE WHEN n % 1000 = 0 THEN 'few' ELSE 'other' || n % 1000 END, id, instance, n, 1 FROM made WHERE place = 1 AND n % 1000 < 20`)
    await run(
      `INSERT INTO jobmill.limit_waiter SELECT 'slow', '', id, 4000000000000 + n FROM made WHERE place = 0`,
    )
    await run(`INSERT INTO jobmill.limit (name, key, amount, per_ms, burst, look_at)
      SELECT 'each', 'k' || n, 1, 1000, 1, 4000000000000 + n FROM made WHERE place = 0`)
    await run(`INSERT INTO jobmill.slot SELECT gen_random_uuid(), n % 2 + 1, 1 FROM made WHERE place = 0`)
    await run(`INSERT INTO jobmill.schedule (name, overrides, paused, revision, created_at, planned, next_at)
      SELECT 's' || n, '{}', false, 1, 0, true, 4000000000000 + n FROM made WHERE place = 0`)
    await run(
      `INSERT INTO jobmill.tick SELECT 's' || n % 10, n, 'enqueued', id, 4000000000000 + n FROM made WHERE place = 0`,
    )
    await run(`INSERT INTO jobmill.recorded SELECT id, 1, 4000000000000 + n FROM made WHERE place = 0`)
    await run(`INSERT INTO jobmill.metric SELECT v.size, (4000000000000 / v.size + n / 10) * v.size, 'queue ' || n % 10, '{}'
        FROM made, (VALUES (10000), (60000), (3600000)) AS v(size) WHERE place = 0`)
    await run(
      `INSERT INTO jobmill.metric_delta (at, scope, data) SELECT n, 'queue 1', '{}' FROM made WHERE place = 0`,
    )
    await run(`INSERT INTO jobmill.event (at, type, source, queue, job_id, data)
      SELECT 4000000000000 + n, 'type' || n % 5000, instance, 'q' || n % 5000, CASE WHEN n % 3 = 0 THEN id END, '{}' FROM made WHERE place = 0`)
    await run(`SELECT setval('jobmill.seq', ${ROWS} * 10), setval('jobmill.token', ${ROWS} * 10)`)
    await run('ANALYZE')
  } finally {
    await client.end()
  }
}

beforeAll(async () => {
  store = await explaining(url, schema)
  await store.limits.declare([
    { name: 'slow', settings: { type: 'rate', amount: 1_000, perMs: 1_000, burst: 1_000 } },
    { name: 'few', settings: { type: 'concurrency', most: 1_000 } },
    { name: 'each', settings: EACH },
    { name: 'some', settings: EACH },
  ])
  await store.queues.declare(
    ['slow', 'few'].map((name) => ({ name, settings: { ...DEFAULT_QUEUE_SETTINGS, limit: name } })),
  )
  await store.enqueue([aJob({ kind: 'known', queue: 'slow', delay: '10h' })])
  await fill()
  await store.instances.register(alive)
}, 180_000)
afterAll(() => store.close())

const BIG = [
  'job',
  'ready',
  'running',
  'permit',
  'limit_waiter',
  'limit',
  'slot',
  'schedule',
  'tick',
  'recorded',
  'metric',
  'event',
]
const expectIndexes = (verb: () => Promise<unknown>, ...indexes: string[]): Promise<void> =>
  expectUse(store, BIG, verb, indexes)

/** A claimed job of the limited queue. */
async function claimed(queue: string): ReturnType<Explained['claim']> {
  return store.claim(aClaim(alive.id, { queues: [{ queue, room: 1 }], kinds: ['known'], limit: 1 }))
}

describe('postgres plans: limits', () => {
  test('P13 P15 a heartbeat reads the front of limited queues, the permits of their limits, and the next schedule', () => {
    const duties = ['a', 'b'].map((name) => ({ name, succeededAgoMs: 5, failures: 0 }))
    return expectIndexes(
      () =>
        store.instances.renew(aHeartbeat(alive.id, { queues: ['slow', 'few'], kinds: ['known'], duties })),
      'ready_pkey',
      'permit_pkey',
      'schedule_next',
      'slot_pkey',
    )
  })
  test('P13 P15 a claim from a queue with a rate walks the primary key of ready', () =>
    expectIndexes(() => claimed('slow'), 'ready_pkey', 'job_pkey'))
  test('P13 P15 a claim from a queue with permits counts those that are held', () =>
    expectIndexes(() => claimed('few'), 'ready_pkey', 'permit_pkey'))
  test.each(['slow', 'few'])(
    'P5 P15 a quarantined job of the queue %s is found by its partial index',
    async (queue) => {
      const claim = aClaim(alive.id, { queues: [{ queue, room: 1 }], kinds: ['known'], quarantined: 'only' })
      const plans = await plansOf(store, async () => expect(await store.claim(claim)).toHaveLength(1))
      const claims = plans.filter(({ statement }) => statement.includes('.claim('))
      // The first claim finds no queue without a limit.
      expect(claims.map(({ indexes }) => indexes.includes('ready_quarantined'))).toEqual([true, true])
      expect(claims[1]?.indexes).not.toContain('ready_pkey')
    },
  )
  test('P13 a finish finds the permits of its jobs by the holder', async () => {
    const items = (await claimed('few')).map(
      ({ id, token }) =>
        ({ id, token, outcome: 'returned', transition: { to: 'done', result: null } }) as const,
    )
    await expectIndexes(() => store.finish(items), 'running_pkey', 'permit_holder')
  })
  test('P13 an acquire finds the waiter row, the job and the permit of its holder by their keys', async () => {
    await expectIndexes(() => store.limits.acquire([anAcquire('slow')]), 'limit_waiter_pkey')
    const [lease] = await claimed('few')
    const take = anAcquire('few', { holder: lease?.id ?? '', token: lease?.token ?? 0, instance: alive.id })
    await expectIndexes(() => store.limits.acquire([take]), 'running_pkey', 'permit_pkey')
    await expectIndexes(() => store.limits.release([take]), 'permit_holder')
  })
  test('P13 keys are found by their names, and do not slow down reads of limits', async () => {
    const takes = ['k1', 'k2', 'new'].map((key) => anAcquire('each', { key }))
    await expectIndexes(() => store.limits.acquire(takes), 'limit_pkey', 'limit_waiter_pkey')
    await expectIndexes(() => store.limits.drain('each', 5, 'another'), 'limit_pkey')
    await expectIndexes(() => store.limits.list(), 'limit_own', 'limit_pkey')
    await store.limits.acquire(['a', 'b'].map((key) => anAcquire('some', { key })))
    // Nearly all waiters are of one limit here, so the planner scans them; an operator runs this only now and
    // then.
    const big = BIG.filter((table) => table !== 'limit_waiter')
    await expectUse(store, big, () => store.limits.change('some', { ...EACH, burst: 2 }), ['limit_pkey'])
    await expectUse(store, big, () => store.limits.delete('some'), ['limit_pkey'])
    await expectIndexes(() => store.limits.declare([{ name: 'some', settings: EACH }]))
  })
  test('P4 P6 the end of an instance finds its jobs by the instance', async () => {
    const other = anInstance()
    await store.instances.register(other)
    await expectIndexes(
      () => store.instances.deregister(other.id),
      'slot_pkey',
      'permit_instance',
      'running_instance',
    )
  })
  test('assigning workers reads no more slots than it writes', () =>
    expectIndexes(
      () => store.instances.assign([{ instance: alive.id, queue: 'slow', workers: 3 }]),
      'slot_pkey',
    ))
})

describe('postgres plans: schedules, metrics and events', () => {
  test('P12 a tick finds its schedule and its instants by their keys', async () => {
    await store.schedules.create('new', aDefinition({ kind: 'known', queue: 'slow' }))
    const fires = [{ at: 5, job: aJob({ kind: 'known', queue: 'slow' }) }]
    await expectIndexes(
      () => store.schedules.tick([aTick('new', { fires, nextAt: 4_000_000_000_000 })]),
      'schedule_pkey',
    )
    await expectIndexes(() => store.schedules.ticks('s1', 10), 'tick_pkey')
  })
  test('a recording finds its source by its key, and a roll-up its buckets', async () => {
    const source = alive.id
    const data = { counters: { done: 1 } }
    const deltas = [{ scope: 'queue 1', agoMs: 0, data }]
    const own = [{ scope: 'instance', resolution: 10_000, agoMs: 0, data } as const]
    const events = [{ type: 'a', agoMs: 0, queue: null, job: null, data: '{}' }]
    await expectIndexes(() => store.metrics.record({ source, seq: 1, deltas, own, events }))
    await expectIndexes(() => store.metrics.rollUp(100), 'metric_delta_pkey', 'metric_pkey')
  })
  test('metrics read a range of the primary key', async () => {
    // Roll up first: metrics that wait for it are read with a sequential scan.
    while ((await store.metrics.rollUp(10_000)) > 0);
    const from = 4_000_000_000_000
    await expectIndexes(
      () => store.metrics.read({ resolution: 60_000, from, before: from + 3_600_000, scopes: ['queue 1'] }),
      'metric_pkey',
    )
  })

  const questions: [string, Omit<TimelineQuery, 'limit'>, string][] = [
    ['all', {}, 'event_pkey'],
    ['a page', { beforeN: 50_000 }, 'event_pkey'],
    ['a job', { job: alive.id }, 'event_job'],
    ['a queue', { queue: 'q7' }, 'event_queue'],
    ['types', { types: ['type3', 'type4', 'none'] }, 'event_type'],
    ['a moment', { from: 4_000_000_000_000, before: 4_000_000_000_100 }, 'event_at'],
  ]
  test.each(questions)('the timeline of %s walks the index of its order', (_, query, index) =>
    expectIndexes(() => store.metrics.timeline({ limit: 50, ...query }), index),
  )

  test('P15 retention walks the indexes on age, and compares the permits with the running jobs', () =>
    expectUse(
      store,
      BIG.filter((table) => table !== 'permit'),
      () => store.retain(aRetain({ limit: 500 })),
      [
        'tick_served',
        'event_at',
        'metric_pkey',
        'limit_waiter_since',
        'limit_look',
        'recorded_time',
        'running_pkey',
      ],
    ))
})
