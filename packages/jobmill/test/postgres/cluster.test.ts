/** Limits and schedules in races of two transactions, and with the fewest connections. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { freshSchema } from '../../../../test/support/databases.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../src/job/queue/queue-settings.ts'
import { systemPlatform } from '../../src/platform/platform.ts'
import { postgres, type Tx } from '../../src/postgres.ts'
import type { Lease } from '../../src/store/types/claim.ts'
import { limitUnknown } from '../../src/store/cluster-errors.ts'
import type { Finish } from '../../src/store/types/finish.ts'
import type { AcquireRequest } from '../../src/store/types/limit.ts'
import type { FullStore } from '../../src/store/store.ts'
import { connect, type Query } from '../../src/store-postgres/connection/connection.ts'
import {
  aClaim,
  aDefinition,
  aJob,
  anInstance,
  aRetain,
  anAcquire,
  aTick,
} from '../../../conformance/src/factories.ts'

const url = inject('postgresUrl')
const schema = freshSchema(url, 'cluster')
const store: FullStore<Tx> = postgres(url, { schema, notifier: false })
const me = anInstance({ leaseMs: 3_600_000 })
beforeAll(async () => {
  await store.open()
  await store.instances.register(me)
})
afterAll(() => store.close())

async function client(): Promise<pg.Client> {
  const one = new pg.Client({ connectionString: url })
  await one.connect()
  onTestFinished(() => one.end())
  return one
}

/**
 * Waits until a statement waits for a lock of this client. Inside a transaction, pg_stat_activity would not
 * change after the first read; pg_locks does.
 */
async function untilBlocked(by: pg.Client): Promise<void> {
  const blocked = `SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))`
  while ((await by.query(blocked)).rowCount === 0);
}

/** A running job in its own queue. */
async function running(queue: string): Promise<Lease> {
  await store.enqueue([aJob({ queue })])
  const [lease] = await store.claim(aClaim(me.id, { queues: [{ queue, room: 1 }] }))
  if (lease === undefined) throw new Error('nothing was claimed')
  return lease
}

function done({ id, token }: Lease): Finish {
  return { id, token, outcome: 'returned', transition: { to: 'done', result: null } }
}

function permitFor({ id, token }: Lease, limit: string): AcquireRequest {
  return anAcquire(limit, { holder: id, token, instance: me.id })
}

async function concurrency(name: string, most: number): Promise<void> {
  await store.limits.declare([{ name, settings: { type: 'concurrency', most } }])
}

async function held(name: string): Promise<number | undefined> {
  return (await store.limits.list()).find((limit) => limit.name === name)?.held
}

const ENDS: [string, (lease: Lease) => Promise<unknown>][] = [
  ['a finish', (lease) => store.finish([done(lease)])],
  ['a release', (lease) => store.finish([{ ...done(lease), outcome: null, transition: { to: 'ready' } }])],
]

test('P13 the first use of a key while its limit is being changed waits, and uses the new settings', async () => {
  const settings = { type: 'rate', amount: 1, perMs: 3_600_000, burst: 1, perKey: true } as const
  await store.limits.declare([{ name: 'keyed', settings }])
  const changing = await client()
  await changing.query(`BEGIN; UPDATE ${schema}.limit SET burst = 5 WHERE name = 'keyed'`)
  const taking = store.limits.acquire([anAcquire('keyed', { key: 'new', amount: 5 })])
  await untilBlocked(changing)
  await changing.query('COMMIT')
  expect(await taking).toMatchObject([{ outcome: 'granted' }])
  // A limit that is deleted at the same time is unknown.
  await changing.query(`BEGIN; DELETE FROM ${schema}.limit WHERE name = 'keyed'`)
  const late = store.limits.acquire([anAcquire('keyed', { key: 'another' })])
  await untilBlocked(changing)
  await changing.query('COMMIT')
  expect(await late).toEqual([{ outcome: 'unknown' }])
})

describe('postgres: permits', () => {
  test.each(ENDS)('P13 of an acquire that %s had to wait for are released too', async (how, end) => {
    const name = how.replace(' ', '-')
    await concurrency(name, 5)
    const lease = await running(name)
    const tx = await client()
    // The steps of an acquire by hand: the finish starts before the permit is committed, with a snapshot too
    // old to see it.
    await tx.query('BEGIN')
    await tx.query(`UPDATE ${schema}.running SET flags = flags | 8 WHERE id = $1`, [lease.id])
    await tx.query(`INSERT INTO ${schema}.permit VALUES ($1, $2, $3, $4, 1)`, [
      name,
      lease.id,
      me.id,
      lease.token,
    ])
    const ending = end(lease)
    await untilBlocked(tx)
    await tx.query('COMMIT')
    await ending
    expect(await held(name)).toBe(0)
  })

  test('P15 of a job are deleted when it continues, so that they cost nothing more', async () => {
    await concurrency('forgotten', 5)
    const ends = [
      { to: 'ready' },
      { to: 'scheduled', delayMs: 0, refund: false },
      { to: 'scheduled', delayMs: 60_000, refund: false },
    ] as const
    const leases = await Promise.all(ends.map((_, n) => running(`forgotten-${n}`)))
    await store.limits.acquire(leases.map((lease) => permitFor(lease, 'forgotten')))
    const items = leases.map((lease, n) => ({ ...done(lease), transition: ends[n] ?? ends[0] }))
    await store.finish(items.map((item, n) => (n === 0 ? { ...item, outcome: null } : item)))
    const one = await client()
    const flags = await one.query(
      `SELECT flags FROM ${schema}.ready WHERE id = ANY ($1) UNION ALL SELECT flags FROM ${schema}.later WHERE id = ANY ($1)`,
      [leases.map(({ id }) => id)],
    )
    expect(flags.rows).toEqual([{ flags: 0 }, { flags: 0 }, { flags: 0 }])
  })

  test('P13 an acquire for a job that a user transaction is finishing waits, without blocking other calls', async () => {
    await concurrency('finishing', 2)
    const [mine, other] = [await running('finishing'), await running('finishing')]
    const tx = await client()
    await tx.query('BEGIN')
    await store.finish([done(mine)], { tx })
    const waits = store.limits.acquire([permitFor(mine, 'finishing')])
    await untilBlocked(tx)
    expect(await store.limits.acquire([permitFor(other, 'finishing')])).toMatchObject([
      { outcome: 'granted' },
    ])
    await tx.query('ROLLBACK')
    expect(await waits).toMatchObject([{ outcome: 'granted' }])
  })

  test('P13 of jobs that were deleted with SQL are deleted by retention, and others are not', async () => {
    await concurrency('stray', 5)
    const [gone, runs] = [await running('stray'), await running('stray')]
    await store.limits.acquire([gone, runs].map((lease) => permitFor(lease, 'stray')))
    await store.limits.acquire([anAcquire('stray', { instance: me.id })])
    const other = await client()
    await other.query(`DELETE FROM ${schema}.running WHERE id = $1`, [gone.id])
    expect(await held('stray')).toBe(3)
    await store.retain(aRetain())
    expect(await held('stray')).toBe(2)
  })

  test('P13 a limit that is being deleted cannot be attached to a queue', async () => {
    await concurrency('going', 1)
    const tx = await client()
    await tx.query('BEGIN')
    await tx.query(`SELECT FROM ${schema}.limit WHERE name = 'going' FOR UPDATE`)
    const settings = { ...DEFAULT_QUEUE_SETTINGS, limit: 'going' }
    // Catch it now: it may be refused before the commit is answered.
    const refused = store.queues.declare([{ name: 'late', settings }]).catch((error: unknown) => error)
    await untilBlocked(tx)
    await tx.query(`DELETE FROM ${schema}.limit WHERE name = 'going'`)
    await tx.query('COMMIT')
    expect(await refused).toMatchObject({ code: 'LIMIT_UNKNOWN', field: 'limit' })
  })
})

describe('postgres: a claim from queues with and without a limit', () => {
  test('P2 P16 returns the jobs that it has claimed from other queues if the limit is locked', async () => {
    await concurrency('stuck', 5)
    const settings = { ...DEFAULT_QUEUE_SETTINGS, limit: 'stuck' }
    await store.queues.declare([{ name: 'stuck', settings }])
    const [free, limited] = [aJob({ queue: 'free' }), aJob({ queue: 'stuck' })]
    await store.enqueue([free, limited])
    const tx = await client()
    await tx.query('BEGIN')
    await tx.query(`SELECT FROM ${schema}.limit WHERE name = 'stuck' FOR UPDATE`)
    const hasty = postgres(url, { schema, notifier: false, deadline: '1s' })
    await hasty.open()
    onTestFinished(() => hasty.close())
    const claim = (...queues: string[]) =>
      hasty.claim(aClaim(me.id, { queues: queues.map((queue) => ({ queue, room: 1 })) }))
    expect((await claim('stuck', 'free')).map(({ id }) => id)).toEqual([free.id])
    await expect(claim('stuck')).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' })
    await tx.query('ROLLBACK')
    expect((await claim('stuck', 'free')).map(({ id }) => id)).toEqual([limited.id])
  })
})

async function pid(query: Query): Promise<unknown> {
  return (await query('SELECT pg_backend_pid() AS pid', []))[0]
}

describe('postgres: a refusal between two statements', () => {
  test('P16 rolls back what was written before it, and leaves the connection usable', async () => {
    const connection = connect({ url, connections: 1, deadlineMs: 10_000, platform: systemPlatform })
    onTestFinished(() => connection.close())
    let before: unknown
    const refused = connection.transaction(async (query) => {
      before = await pid(query)
      await query(`INSERT INTO ${schema}.kind (name) VALUES ('refused')`, [])
      throw limitUnknown('nobody')
    })
    await expect(refused).rejects.toMatchObject({ code: 'LIMIT_UNKNOWN' })
    expect(await pid(connection.query)).toEqual(before)
    expect(await connection.query(`SELECT FROM ${schema}.kind WHERE name = 'refused'`, [])).toEqual([])
  })
})

describe('postgres: a tick whose last statement fails', () => {
  test('P12 leaves neither the job nor the tick, and is accepted when it is sent again', async () => {
    await store.schedules.create('failing', aDefinition())
    const owner = await client()
    await owner.query(`
      CREATE FUNCTION ${schema}.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$;
      CREATE TRIGGER refuse BEFORE UPDATE ON ${schema}.schedule FOR EACH ROW EXECUTE FUNCTION ${schema}.refuse()`)
    const job = aJob()
    const tick = aTick('failing', { fires: [{ at: 1, job }] })
    await expect(store.schedules.tick([tick])).rejects.toThrow('refused')
    expect([await store.get([job.id]), await store.schedules.ticks('failing', 10)]).toEqual([[null], []])
    await owner.query(`DROP FUNCTION ${schema}.refuse() CASCADE`)
    expect(await store.schedules.tick([tick])).toMatchObject([
      { accepted: true, fired: [{ at: 1, job: job.id }] },
    ])
  })
})

async function single(): Promise<FullStore<Tx>> {
  const one = postgres(url, { schema, notifier: false, connections: 1, deadline: '5s' })
  await one.open()
  onTestFinished(() => one.close())
  return one
}

describe('postgres: one connection is enough', () => {
  test('P13 for a claim from limited queues, on a handle with an empty name cache', async () => {
    await concurrency('one', 1)
    const settings = { ...DEFAULT_QUEUE_SETTINGS, limit: 'one' }
    await store.queues.declare([{ name: 'single', settings }])
    await store.enqueue([aJob({ queue: 'single' })])
    const claim = aClaim(me.id, { queues: [{ queue: 'single', room: 5 }] })
    expect(await (await single()).claim(claim)).toMatchObject([{ queue: 'single' }])
  })

  test('P12 for a tick whose job goes to a new queue', async () => {
    await store.schedules.create('single', aDefinition())
    const job = aJob({ queue: 'brand-new', kind: 'brand.new' })
    const ticked = await (await single()).schedules.tick([aTick('single', { fires: [{ at: 1, job }] })])
    expect(ticked).toMatchObject([{ accepted: true, fired: [{ job: job.id }] }])
    expect(await store.get([job.id])).toMatchObject([{ queue: 'brand-new', state: 'ready' }])
  })
})
