/**
 * Bad days that a store must survive without a lost or repeated job, for jobs of a batch and for jobs with a
 * row each. The other bad days are in `npm run bench:bad-days`. See docs/internals/bad-days.md.
 */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { freshSchema } from '../../../../test/support/databases.ts'
import { closeGate, createGate, untilWaiting, urlWithGates } from '../../../../test/support/postgres/gate.ts'
import { isJobmillError } from '../../src/job/errors.ts'
import { postgres } from '../../src/postgres.ts'
import type { Lease } from '../../src/store/types/claim.ts'
import type { Finish, Finished } from '../../src/store/types/finish.ts'
import type { FullStore } from '../../src/store/store.ts'
import { aClaim, anInstance, someJobs } from '../../../conformance/src/factories.ts'

const url = inject('postgresUrl')
const schema = freshSchema(url, 'bad_days')
const admin = new pg.Client({ connectionString: url })

beforeAll(async () => {
  await admin.connect()
  await (await opened()).close()
  await createGate(admin, schema, 'INSERT ON attempt')
})
afterAll(() => admin.end())

const SIZE = 30
const KINDS_OF_ROWS = [
  ['jobs of a batch', 20, { running: 0, batches: 1 }],
  ['jobs with a row each', 1_000, { running: SIZE, batches: 0 }],
] as const

async function opened(at = url, batchFrom = 20): Promise<FullStore> {
  const store = postgres(at, { schema, notifier: false, batchFrom })
  await store.open()
  return store
}

async function openedForTest(at: string, batchFrom: number): Promise<FullStore> {
  const store = await opened(at, batchFrom)
  onTestFinished(() => store.close())
  return store
}

async function register(store: FullStore): Promise<string> {
  const me = anInstance({ leaseMs: 3_600_000 })
  await store.instances.register(me)
  return me.id
}

const claimFrom = (queue: string, instance: string) => aClaim(instance, { queues: [{ queue, room: 500 }] })
const jobsIn = (queue: string, count = SIZE) => someJobs(Array.from({ length: count }, () => ({ queue })))

async function rowsOf(ids: readonly string[]): Promise<unknown> {
  const { rows } = await admin.query<{ running: number; batches: number }>(
    `SELECT (SELECT count(*) FROM ${schema}.running WHERE id = ANY ($1))::int4 AS running,
            (SELECT count(*) FROM ${schema}.batch WHERE ids && $1)::int4 AS batches`,
    [ids],
  )
  return rows[0]
}

const done = ({ id, token }: Pick<Lease, 'id' | 'token'>): Finish => ({
  id,
  token,
  outcome: 'returned',
  transition: { to: 'done', result: '1' },
})
const release = ({ id, token }: Pick<Lease, 'id' | 'token'>): Finish => ({
  id,
  token,
  outcome: null,
  transition: { to: 'ready' },
})

/** A proxy that can close a connection instead of passing on the reply to its first claim. */
async function cuttingProxy(): Promise<{ readonly url: string; readonly cutClaimReply: () => void }> {
  const server = new URL(url)
  const sockets = new Set<Socket>()
  let cuts = false
  const proxy = createServer((client) => {
    const upstream = connect(Number(server.port), server.hostname)
    for (const socket of [client, upstream]) sockets.add(socket.on('error', () => {}))
    let cutsNext = false
    client.on('close', () => upstream.destroy())
    client.on('data', (data) => {
      cutsNext ||= cuts && data.includes('.claim(')
      upstream.write(data)
    })
    upstream.on('close', () => client.destroy())
    upstream.on('data', (data) => {
      if (!cutsNext) return void client.write(data)
      cuts = false
      client.destroy()
    })
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    proxy.close()
    for (const socket of sockets) socket.destroy()
  })
  const address = new URL(url)
  address.hostname = '127.0.0.1'
  address.port = String((proxy.address() as AddressInfo).port)
  return { url: address.href, cutClaimReply: () => void (cuts = true) }
}

describe.each(KINDS_OF_ROWS)('postgres: bad days, %s', (_, batchFrom, rows) => {
  const name = (text: string): string => `${text}-${batchFrom}`

  test('P3 P16 a claim whose reply is lost: the jobs are running, are found, and run after their release', async () => {
    const proxy = await cuttingProxy()
    const store = await openedForTest(proxy.url, batchFrom)
    const me = await register(store)
    const jobs = jobsIn(name('lost'))
    const ids = jobs.map(({ id }) => id)
    await store.enqueue(jobs)
    proxy.cutClaimReply()
    await expect(store.claim(claimFrom(name('lost'), me))).rejects.toMatchObject({ retryable: true })
    expect(await store.claim(claimFrom(name('lost'), me))).toEqual([])
    expect(await rowsOf(ids)).toEqual(rows)
    const held = await store.instances.held(me)
    expect(held.map(({ id }) => id)).toEqual(ids.toSorted())
    await store.finish(held.map(release))
    const leases = await store.claim(claimFrom(name('lost'), me))
    // In the order of the enqueue, as their first attempt.
    expect(leases.map(({ id, attempt, crashes }) => [id, attempt, crashes])).toEqual(
      ids.map((id) => [id, 1, 0]),
    )
    const replies = await store.finish([...held, ...leases].map(done))
    expect(replies.map(({ accepted }) => accepted)).toEqual([...ids.map(() => false), ...ids.map(() => true)])
    expect(await rowsOf(ids)).toEqual({ running: 0, batches: 0 })
  })

  test.each(['finish', 'reap'] as const)(
    'P2 P5 an instance is reaped while it finishes, and the %s comes first',
    async (first) => {
      const queue = name(`reaped-${first}`)
      const store = await openedForTest(urlWithGates(url), batchFrom)
      const other = await openedForTest(urlWithGates(url), batchFrom)
      const me = await register(store)
      await store.enqueue(jobsIn(queue))
      const leases = await store.claim(claimFrom(queue, me))
      const ids = leases.map(({ id }) => id)
      expect(await rowsOf(ids)).toEqual(rows)
      await admin.query(`UPDATE ${schema}.instance SET expires_at = 0 WHERE id = $1`, [me])

      const gate = await closeGate(admin, schema)
      let finishing: Promise<Finished[]> | undefined
      const finish = (): Promise<unknown> => (finishing = store.finish(leases.map(done)))
      let reaping: ReturnType<FullStore['instances']['reap']> | undefined
      const reap = (): Promise<unknown> =>
        (reaping = other.instances.reap({ crashesUntilDead: 3, limit: 100 }))
      for (const [at, act] of (first === 'finish' ? [finish, reap] : [reap, finish]).entries())
        await untilWaiting(admin, schema, at + 1, act())
      await gate.open()

      const isFinished = first === 'finish'
      expect(((await finishing) ?? []).map(({ accepted }) => accepted)).toEqual(ids.map(() => isFinished))
      const reaped = (await reaping)?.jobs.map(({ id }) => id).filter((id) => ids.includes(id))
      expect(reaped).toEqual(isFinished ? [] : ids.toSorted())
      expect(await rowsOf(ids)).toEqual({ running: 0, batches: 0 })
      for (const job of await store.get(ids))
        expect(job).toMatchObject(isFinished ? { state: 'done', crashes: 0 } : { state: 'ready', crashes: 1 })
      expect(await store.history(ids[0] ?? '')).toHaveLength(1)
      const counts = (await store.counts()).find((one) => one.queue === queue)
      expect(counts).toMatchObject({
        running: 0,
        done: isFinished ? SIZE : 0,
        ready: isFinished ? 0 : SIZE,
      })
    },
  )
})

/** Repeats a call whose statement the server rolled back. */
async function eventually<T>(
  call: () => Promise<T>,
  mayRepeat = (error: unknown): boolean => isJobmillError(error) && error.retryable,
): Promise<T> {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (!mayRepeat(error)) throw error
    }
  }
}
const isDeadlock = (error: unknown): boolean => (error as { code?: string }).code === '40P01'

/** The tables that claims and finishes write, and those that they read. */
const TABLES = ['ready', 'batch', 'running', 'attempt', 'tally', 'job', 'queue', 'instance', 'names']
const REBUILDS = ['VACUUM (FULL)', 'REINDEX TABLE', 'REINDEX TABLE CONCURRENTLY']

describe('postgres: bad days', () => {
  test('P2 P3 VACUUM FULL and REINDEX during load: each job is done once', async () => {
    const times = new Map<string, number>()
    const sent: string[] = []
    const over = new AbortController()
    const producer = await openedForTest(url, 20)
    const produce = async (): Promise<void> => {
      for (let n = 0; !over.signal.aborted; n += 1) {
        // Enough jobs for a batch, or too few.
        const jobs = jobsIn('rebuilt', n % 2 === 0 ? 45 : 5)
        await eventually(() => producer.enqueue(jobs, { mayRepeat: true }))
        sent.push(...jobs.map(({ id }) => id))
      }
    }
    const producing = produce()
    const work = async (): Promise<void> => {
      const store = await openedForTest(url, 20)
      const me = await register(store)
      for (let n = 0; ; n += 1) {
        const isLast = over.signal.aborted
        if (isLast) await producing
        const leases = await eventually(() => store.claim(claimFrom('rebuilt', me)))
        if (isLast && leases.length === 0) break
        const returned = isLast ? 0 : n % 3
        await eventually(() => store.finish(leases.slice(0, returned).map(release)))
        const replies = await eventually(() => store.finish(leases.slice(returned).map(done)))
        for (const { id, accepted } of replies) if (accepted) times.set(id, (times.get(id) ?? 0) + 1)
      }
    }
    const rebuild = async (): Promise<void> => {
      // REINDEX and a claim can wait for each other. Of the two, let this session give up, and soon.
      await admin.query(`SET deadlock_timeout = '20ms'`)
      for (const how of REBUILDS)
        for (const table of TABLES)
          await eventually(() => admin.query(`${how} ${schema}.${table}`), isDeadlock)
      over.abort()
    }
    await Promise.all([rebuild(), work(), work()])
    // Returned by one of them after the last claim of the other.
    await work()
    expect([...times].filter(([, n]) => n !== 1)).toEqual([])
    expect([...times.keys()].toSorted()).toEqual(sent.toSorted())
    const counts = (await producer.counts()).find(({ queue }) => queue === 'rebuilt')
    expect(counts).toMatchObject({ ready: 0, running: 0, done: sent.length })
  })
})
