/**
 * An open transaction of the user must not block other work: other calls skip its rows. A call that waited
 * for it would run into the timeout of its test.
 */
import { createServer, type Socket } from 'node:net'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { freshSchema } from '../../../../test/support/databases.ts'
import { ON_DEAD_QUEUE, onDeadJob, onDeadKind } from '../../src/job/attempt/on-dead.ts'
import { overlapKey } from '../../src/job/schedule/schedule.ts'
import { postgres, type Tx } from '../../src/postgres.ts'
import type { Finish } from '../../src/store/types/finish.ts'
import type { FullStore } from '../../src/store/store.ts'
import { aClaim, aDefinition, aJob, anInstance, someJobs } from '../../../conformance/src/factories.ts'

const url = inject('postgresUrl')
const schema = freshSchema(url, 'open')
const store: FullStore<Tx> = postgres(url, { schema, notifier: false })
beforeAll(() => store.open())
afterAll(() => store.close())

/** A client inside a transaction that stays open until the end of the test. */
async function openTransaction(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('BEGIN')
  onTestFinished(async () => {
    await client.query('ROLLBACK')
    await client.end()
  })
  return client
}

function done({ id, token }: { readonly id: string; readonly token: number }): Finish {
  return { id, token, outcome: 'returned', transition: { to: 'done', result: null } }
}

/** A worker with its own queue, so that tests do not interfere. */
async function workerOf(queue: string): Promise<ReturnType<typeof aClaim>> {
  const instance = anInstance({ queues: [queue], leaseMs: 600_000 })
  await store.instances.register(instance)
  return aClaim(instance.id, { queues: [{ queue, room: 500 }] })
}

describe('postgres: an open user transaction', () => {
  test('that got a duplicate does not block the finish of the key holder', async () => {
    const tx = await openTransaction()
    const dedupe = { key: 'met' }
    await store.enqueue([aJob({ queue: 'met', dedupe }), aJob({ queue: 'met' })])
    const leases = await store.claim(await workerOf('met'))
    const [reply] = await store.enqueue([aJob({ queue: 'met', dedupe })], { tx })
    expect(reply?.outcome).toBe('duplicate')
    expect(await store.finish(leases.map(done))).toMatchObject([{ state: 'done' }, { state: 'done' }])
  })

  test('that has locked a ready job does not block a claim of the others', async () => {
    const tx = await openTransaction()
    const [locked, free] = [aJob({ queue: 'locked' }), aJob({ queue: 'locked' })]
    await store.enqueue([locked, free])
    await tx.query(`SELECT FROM ${schema}.ready WHERE id = $1 FOR UPDATE`, [locked.id])
    expect(await store.claim(await workerOf('locked'))).toMatchObject([{ id: free.id }])
  })

  test('that is finishing a job does not block the reaper', async () => {
    const tx = await openTransaction()
    await store.enqueue([aJob({ queue: 'hung' }), aJob({ queue: 'other' })])
    const [mine] = await store.claim(await workerOf('hung'))
    const [other] = await store.claim(await workerOf('other'))
    await store.finish(mine === undefined ? [] : [done(mine)], { tx })
    // An hour later by the database clock.
    const later = postgres(url, { schema, notifier: false, clock: () => Date.now() + 3_600_000 })
    await later.open()
    onTestFinished(() => later.close())
    const reapedIds = (await later.instances.reap({ crashesUntilDead: 3, limit: 100 })).jobs.map(
      ({ id }) => id,
    )
    expect(reapedIds).toContain(other?.id)
    expect(reapedIds).not.toContain(mine?.id)
  })

  test('that replaced the first job of one order queue does not block the others', async () => {
    const tx = await openTransaction()
    const dedupe = { key: 'head', onConflict: 'replace' as const }
    await store.enqueue([
      aJob({ queue: 'line', orderKey: 'one', dedupe }),
      aJob({ queue: 'line', orderKey: 'one' }),
      aJob({ queue: 'line', orderKey: 'two' }),
    ])
    await store.enqueue([aJob({ queue: 'line', payload: 'new', dedupe })], { tx })
    await store.stage(100)
    const leases = await store.claim(await workerOf('line'))
    // No job overtakes the locked head of its order queue.
    expect(leases.map(({ orderKey }) => orderKey)).toEqual(['two'])
  })

  test('leaves the first job of its order queue next once it ends', async () => {
    const dedupe = { key: 'held', onConflict: 'replace' as const }
    await store.enqueue([aJob({ queue: 'held', orderKey: 'one', payload: 1, dedupe })])
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query('BEGIN')
    await store.enqueue([aJob({ queue: 'held', payload: 2, dedupe })], { tx: client })
    await store.stage(100)
    await client.query('COMMIT')
    await client.end()
    await store.stage(100)
    expect(await store.claim(await workerOf('held'))).toMatchObject([{ payload: '2' }])
  })
})

describe('postgres: one connection is enough', () => {
  test('for a finish that needs a transaction, on a handle with an empty name cache', async () => {
    await store.enqueue([aJob({ queue: 'single' })])
    const [lease] = await store.claim(await workerOf('single'))
    const single = postgres(url, { schema, notifier: false, connections: 1, deadline: '5s' })
    await single.open()
    onTestFinished(() => single.close())
    const item = {
      ...done(lease ?? { id: '', token: 0 }),
      transition: { to: 'scheduled', delayMs: 0, refund: false } as const,
    }
    expect(await single.finish([{ ...item, outcome: 'throttled', cool: { forMs: 1 } }])).toMatchObject([
      { accepted: true },
    ])
  })

  test('P5 for a reap that enqueues follow-ups, on a handle with an empty name cache; and it notifies', async () => {
    const [queue, kind] = ['fatal', 'fatal.kind']
    const instance = anInstance({ queues: [queue], kinds: [kind], onDead: [kind], leaseMs: 600_000 })
    await store.instances.register(instance)
    const job = aJob({ queue, kind })
    await store.enqueue([job])
    await store.claim(aClaim(instance.id, { queues: [{ queue, room: 1 }], kinds: [kind] }))
    const at = Date.now() + 3_600_000
    const single = postgres(url, { schema, notifier: false, connections: 1, deadline: '5s', clock: () => at })
    await single.open()
    onTestFinished(() => single.close())
    const wakeUps = single.notifier.wait({ queues: [ON_DEAD_QUEUE], timeoutMs: 15_000 })
    await single.instances.reap({ crashesUntilDead: 1, limit: 100 })
    expect(await wakeUps).toMatchObject([{ queue: ON_DEAD_QUEUE, jobs: 1 }])
    const error = 'its process crashed or stopped responding (crash 1)'
    const followUp = onDeadJob({ id: job.id, kind, queue, orderKey: null, error, at })
    expect(await single.get([followUp.id])).toMatchObject([{ kind: onDeadKind(kind), state: 'ready' }])
  })
})

describe('postgres: close', () => {
  test('P16 waits for every call in flight, even those that wait for a connection', async () => {
    const other = postgres(url, { schema, notifier: false, connections: 2 })
    await other.open()
    const calls = Array.from({ length: 50 }, () => other.enqueue([aJob({ queue: 'closing' })]))
    await other.close()
    const settled = await Promise.allSettled(calls)
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(50)
  })

  test('P16 does not wait for a notifier whose server does not answer', async () => {
    const sockets: Socket[] = []
    const silent = createServer((socket) => void sockets.push(socket))
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      silent.close()
      for (const socket of sockets) socket.destroy()
    })
    const address = silent.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const other = postgres(url, { schema, notifier: `postgres://x@127.0.0.1:${port}/x` })
    await other.open()
    await other.enqueue(someJobs([{}]))
    await other.close()
    await expect(other.counts()).rejects.toMatchObject({ code: 'STORE_CLOSED' })
  })
})

describe('postgres: the same id sent with two dedupe keys at once', () => {
  test('P11 is one job with the first key, and the other key stays free', async () => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query('BEGIN')
    const job = aJob({ queue: 'two-keys', dedupe: { key: 'first key' } })
    await store.enqueue([job], { tx: client })
    const again = store.enqueue(
      [{ ...job, dedupe: { key: 'global second key', holdMs: 0, holdAfter: 'done', onConflict: 'keep' } }],
      { mayRepeat: true },
    )
    // Wait until it is blocked by this transaction and has taken its own key: only then is there a key to
    // release.
    const blocked = `SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))`
    while ((await client.query(blocked)).rowCount === 0);
    await client.query('COMMIT')
    await client.end()
    expect(await again).toEqual([{ id: job.id, outcome: 'enqueued' }])
    const [first, second] = await store.enqueue([
      aJob({ queue: 'two-keys', dedupe: { key: 'first key' } }),
      aJob({ queue: 'two-keys', dedupe: { key: 'second key' } }),
    ])
    expect(first).toEqual({ id: job.id, outcome: 'duplicate' })
    expect(second?.outcome).toBe('enqueued')
  })
})

describe('postgres: an enqueue of a debounced job that waits for an open transaction', () => {
  test.each(['enqueued', 'replaced'] as const)('changes the job that the transaction %s', async (outcome) => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const request = { queue: 'debounced', debounce: { key: outcome, wait: '1h', maxWait: '3h' } }
    const first = aJob({ ...request, payload: 'first' })
    if (outcome === 'replaced') await store.enqueue([first])
    await client.query('BEGIN')
    const inside = outcome === 'enqueued' ? first : aJob({ ...request, payload: 'inside' })
    expect(await store.enqueue([inside], { tx: client })).toEqual([{ id: first.id, outcome }])
    const debounce = { ...request.debounce, wait: '2h' }
    const last = store.enqueue([aJob({ ...request, debounce, payload: 'last', tags: ['last'] })])
    const blocked = `SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))`
    while ((await client.query(blocked)).rowCount === 0);
    await client.query('COMMIT')
    await client.end()
    expect(await last).toEqual([{ id: first.id, outcome: 'replaced' }])
    const [job] = await store.get([first.id])
    expect(job).toMatchObject({ state: 'scheduled', payload: '"last"', tags: ['last'] })
    // Its key moved along: the wait of this call is shorter than that of the last one.
    expect((job?.dueAt ?? 0) - (job?.enqueuedAt ?? 0)).toBeGreaterThanOrEqual(7_200_000)
    expect(await store.enqueue([aJob(request)])).toEqual([{ id: first.id, outcome: 'replaced' }])
  })
})

describe('postgres: an open transaction that ends a job of a schedule with overlap: skip', () => {
  test('P12 delays that schedule, and no other', async () => {
    const tx = await openTransaction()
    const definition = aDefinition({ overlap: 'skip', queue: 'kept' })
    await store.schedules.declare([{ name: 'kept', version: 1, definition }])
    const job = aJob({ queue: 'kept', dedupe: { key: 'kept' } })
    const keyed = {
      ...job,
      dedupe: { key: overlapKey('kept'), holdMs: 0, holdAfter: 'done', onConflict: 'keep' },
    } as const
    const [record] = await store.schedules.list()
    const at = (record?.readAt ?? 0) + 1
    const planned = { schedule: 'kept', revision: 1, missed: 0 }
    await store.schedules.tick([{ ...planned, from: null, nextAt: at, fires: [] }])
    await store.schedules.tick([{ ...planned, from: at, nextAt: at + 1, fires: [{ at, job: keyed }] }])
    const [lease] = await store.claim(await workerOf('kept'))
    await store.finish(lease === undefined ? [] : [done(lease)], { tx })
    const next = { ...keyed, id: aJob().id }
    const waits = store.schedules.tick([
      { ...planned, from: at + 1, nextAt: at + 2, fires: [{ at: at + 1, job: next }] },
    ])
    await expect(waits).rejects.toMatchObject({ code: 'STORE_BUSY' })
    expect((await store.schedules.list())[0]).toMatchObject({ nextAt: at + 1 })
  })
})
