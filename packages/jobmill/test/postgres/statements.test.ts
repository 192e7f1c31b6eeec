/**
 * How many statements the frequent verbs send. A statement is a round trip, and on an idle cluster heartbeats
 * are all there is.
 */
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, onTestFinished, test } from 'vitest'
import { freshSchema } from '../../../../test/support/databases.ts'
import type { NewJob } from '../../src/job/enqueue/new-job.ts'
import type { LimitSettings } from '../../src/job/limit/limit.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../src/job/queue/queue-settings.ts'
import { postgres } from '../../src/postgres.ts'
import type { FullStore } from '../../src/store/store.ts'
import {
  aClaim,
  aDefinition,
  aJob,
  anInstance,
  aHeartbeat,
  anAcquire,
  aTick,
  someJobs,
} from '../../../conformance/src/factories.ts'

const url = inject('postgresUrl')
const schema = freshSchema(url, 'sent')
const store: FullStore = postgres(url, { schema, notifier: false })
const me = anInstance({ leaseMs: 3_600_000 })
const RATE: LimitSettings = { type: 'rate', amount: 1_000, perMs: 1_000, burst: 100 }
/** The first word of each statement. */
const sent: string[] = []
/** The size of the values of each statement. */
const sizes: number[] = []
/** The last of them. */
let last: pg.QueryConfig = { text: '' }
const idle = aHeartbeat(me.id, {
  queues: ['free', 'rate', 'permits'],
  duties: [{ name: 'reap', succeededAgoMs: null, failures: 0 }],
})

// oxlint-disable-next-line typescript/unbound-method -- it is called with its own client below
const original = pg.Client.prototype.query
beforeAll(async () => {
  await store.open()
  await store.limits.declare([
    { name: 'rate', settings: RATE },
    { name: 'permits', settings: { type: 'concurrency', most: 5 } },
  ])
  await store.queues.declare([
    { name: 'free', settings: DEFAULT_QUEUE_SETTINGS },
    ...['rate', 'permits'].map((name) => ({ name, settings: { ...DEFAULT_QUEUE_SETTINGS, limit: name } })),
  ])
  await store.instances.register(me)
  // So that every name is cached, and every duty has a leader.
  for (const queue of ['free', 'rate', 'permits']) await store.enqueue([aJob({ queue })])
  await store.claim(claimOf('free', 'rate', 'permits'))
  await store.instances.renew(idle)
  pg.Client.prototype.query = function counted(this: pg.Client, ...args: unknown[]): unknown {
    const [config, values] = args as [Partial<pg.QueryConfig>, unknown]
    // A transaction of the user is sent with separate values.
    sizes.push(JSON.stringify(config.values ?? values ?? []).length)
    const { text = '' } = config
    const [word = ''] = text.trim().split(/\s/)
    // Each handle reads the server settings once. Notifications are sent at most every 500 ms.
    if (!['', 'SHOW'].includes(word) && !text.includes('pg_notify')) {
      sent.push(word)
      last = { ...config, text }
    }
    return Reflect.apply(original, this, args)
  } as typeof original
})
afterAll(async () => {
  pg.Client.prototype.query = original
  await store.close()
})
beforeEach(() => void (sent.length = sizes.length = 0))

function claimOf(...queues: string[]): ReturnType<typeof aClaim> {
  return aClaim(me.id, { queues: queues.map((queue) => ({ queue, room: 10 })) })
}

/** 6 MiB. The characters are not escaped, so a size is their number and a little more. */
function large(): NewJob[] {
  return someJobs(Array.from({ length: 24 }, () => ({ queue: 'large', payload: 'x'.repeat(256 * 1_024) })))
}

/** BEGIN and COMMIT are round trips too. */
const inTransaction = (...statements: string[]): string[] => ['BEGIN', ...statements, 'COMMIT']

describe('postgres: statements', () => {
  test('P15 a heartbeat is one, even with duties to lead, limits and schedules', async () => {
    await store.instances.renew(idle)
    expect(sent).toEqual(['SELECT'])
  })

  test.each(['on its own', 'in a transaction of the user'])(
    'D7 P10 large follow-ups and jobs are written 1 MiB at a time, in one transaction: %s',
    async (how) => {
      // A handle of its own: it waits for the commit of the user's transaction with further statements.
      const own = postgres(url, { schema, notifier: false })
      await own.open()
      onTestFinished(() => own.close())
      const [first] = await own.enqueue([aJob({ queue: 'free' })])
      const [lease] = await own.claim(claimOf('free'))
      expect(lease?.id).toBe(first?.id)
      const done = {
        id: lease?.id ?? '',
        token: lease?.token ?? 0,
        outcome: 'returned',
        transition: { to: 'done', result: null },
        followUps: large(),
      } as const
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      onTestFinished(() => client.end())
      sent.length = sizes.length = 0
      await client.query('BEGIN')
      const tx = how === 'on its own' ? {} : { tx: client }
      const [reply] = await own.finish([done], tx)
      const more = await own.enqueue(large(), tx)
      await client.query('COMMIT')
      expect([reply?.followUps, more].map((replies) => replies?.length)).toEqual([24, 24])
      expect(sizes.filter((size) => size > 256 * 1_024)).toHaveLength(12)
      expect(Math.max(...sizes)).toBeLessThan(1.1 * 1_024 * 1_024)
    },
  )

  test('P15 the first heartbeat of a handle is one too, although limits are new to it', async () => {
    const other = postgres(url, { schema, notifier: false })
    await other.open()
    onTestFinished(() => other.close())
    sent.length = 0
    await other.instances.renew(idle)
    expect(sent.splice(0)).toEqual(['SELECT'])
  })

  test('P15 an idle heartbeat gets no transaction id, because it writes nothing', async () => {
    await store.instances.renew(idle)
    const heartbeat = last
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    onTestFinished(() => client.end())
    // The same statement in a transaction, where its effect can be read.
    await client.query('BEGIN')
    await client.query(heartbeat)
    const { rows } = await client.query('SELECT pg_current_xact_id_if_assigned()::text AS xid')
    await client.query('ROLLBACK')
    expect(rows).toEqual([{ xid: null }])
  })

  test('P15 a claim is one, whatever limits exist, while the limited queues are empty', async () => {
    await store.enqueue(someJobs([{ queue: 'free' }, { queue: 'free' }]))
    sent.length = 0
    expect(await store.claim(claimOf('free', 'rate', 'permits'))).toHaveLength(2)
    expect(sent).toEqual(['SELECT'])
  })

  test('P13 P15 a claim from a limited queue adds one transaction, and none while the budget is empty', async () => {
    await store.enqueue(someJobs([{ queue: 'rate' }, { queue: 'permits' }]))
    sent.length = 0
    expect(await store.claim(claimOf('rate'))).toHaveLength(1)
    // The lock, the claim, and the spent budget.
    expect(sent.splice(0)).toEqual(['SELECT', ...inTransaction('WITH', 'SELECT', 'WITH')])
    expect(await store.claim(claimOf('permits'))).toHaveLength(1)
    // The lock, the held permits, and the claim.
    expect(sent.splice(0)).toEqual(['SELECT', ...inTransaction('WITH', 'WITH', 'SELECT')])
    await store.enqueue([aJob({ queue: 'rate' })])
    await store.limits.drain('rate', 60_000)
    sent.length = 0
    expect(await store.claim(claimOf('rate'))).toHaveLength(0)
    expect(sent).toEqual(['SELECT'])
    await store.instances.deregister(me.id)
    await store.instances.register(me)
  })

  test('P13 P15 an acquire is a lock and a write in a transaction, and for permits a count of those held', async () => {
    await store.limits.change('rate', RATE)
    await store.limits.declare([{ name: 'fresh', settings: RATE }])
    sent.length = 0
    const takes = [anAcquire('fresh'), anAcquire('fresh')]
    expect(await store.limits.acquire(takes)).toMatchObject([{ outcome: 'granted' }, { outcome: 'granted' }])
    expect(sent.splice(0)).toEqual(inTransaction('WITH', 'WITH'))
    expect(await store.limits.acquire([anAcquire('permits', { instance: me.id })])).toMatchObject([
      { outcome: 'granted' },
    ])
    expect(sent.splice(0)).toEqual(inTransaction('WITH', 'WITH', 'WITH'))
  })

  test('P12 P15 a tick is a lock and a write in a transaction, and for a job a record and its enqueue', async () => {
    await store.schedules.create('s', aDefinition({ queue: 'free' }))
    sent.length = 0
    expect(await store.schedules.tick([aTick('s', { nextAt: 5 })])).toMatchObject([{ accepted: true }])
    expect(sent.splice(0)).toEqual(inTransaction('WITH', 'WITH'))
    const fires = [{ at: 5, job: aJob({ queue: 'free' }) }]
    expect(await store.schedules.tick([aTick('s', { from: 5, nextAt: 6, fires })])).toMatchObject([
      { accepted: true },
    ])
    expect(sent.splice(0)).toEqual(inTransaction('WITH', 'WITH', 'SELECT', 'WITH'))
  })

  test('P15 a recording is one, and a finish is one, with permits or without', async () => {
    const events = [{ type: 'a', agoMs: 0, queue: null, job: null, data: '{}' }]
    await store.metrics.record({ source: me.id, seq: 1, deltas: [], own: [], events })
    expect(sent.splice(0)).toEqual(['WITH'])
    await store.enqueue(someJobs([{ queue: 'free' }, { queue: 'permits' }]))
    const leases = await store.claim(claimOf('free', 'permits'))
    sent.length = 0
    await store.finish(
      leases.map(({ id, token }) => ({
        id,
        token,
        outcome: 'returned',
        transition: { to: 'done', result: null },
      })),
    )
    expect(sent).toEqual(['SELECT'])
  })

  test('P15 without limits an enqueue, a claim and a finish are one call each, even with direct dispatch and without retention', async () => {
    const other = postgres(url, { schema, notifier: false })
    await other.open()
    onTestFinished(() => other.close())
    await other.enqueue([aJob({ queue: 'plain' })])
    await other.claim(claimOf('plain'))
    sent.length = 0
    await other.enqueue(someJobs([{ queue: 'plain' }, { queue: 'plain', tags: ['t'], timeout: '1m' }]))
    const directDispatch = { instance: me.id, queues: [{ queue: 'plain', room: 5 }], kinds: ['work'] }
    await other.enqueue([aJob({ queue: 'plain' })], { directDispatch })
    const leases = await other.claim(claimOf('plain'))
    expect(leases).toHaveLength(3)
    for (const forget of [true, false])
      await other.finish(
        leases.splice(0, 1).map(({ id, token }) => ({
          id,
          token,
          outcome: 'returned',
          transition: { to: 'done', result: null, forget },
        })),
      )
    expect(sent).toEqual(['SELECT', 'SELECT', 'SELECT', 'SELECT', 'SELECT'])
  })
})
