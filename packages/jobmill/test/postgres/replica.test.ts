/** Reads on a replica, with a real standby: which reads go there, and when the primary answers instead. */
import { readFileSync } from 'node:fs'
import pg from 'pg'
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { startPostgres } from '../../../../test/support/postgres/postgres-server.ts'
import { jobmill, type Mill } from '../../src/index.ts'
import { systemPlatform } from '../../src/platform/platform.ts'
import { postgres, type PostgresOptions } from '../../src/postgres.ts'
import { storeAt, usualStore } from '../../src/cli/config/choose-store.ts'
import { hasReached, replicaProblem, type Position } from '../../src/store-postgres/connection/replica.ts'
import type { ToolStore } from '../../src/store/store.ts'
import { MAY_LAG } from '../../src/store/types/job-list.ts'
import { aJob } from '../../../conformance/src/factories.ts'

const primary = await startPostgres({ binaries: 'current' })
afterAll(() => primary.stop())
await primary.shutDown()
const standby = await startPostgres({
  binaries: 'current',
  // Replay waits for no query, so that a conflict cancels the query at once.
  settings: { wal_retrieve_retry_interval: '50ms', max_standby_streaming_delay: '0', log_statement: 'all' },
  copy: { data: primary.data, follows: `host=127.0.0.1 port=${primary.port} user=postgres` },
})
afterAll(() => standby.stop())
await primary.restart()

/** Ends with the test. */
async function session(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

/** Added to the time of the stores. */
let laterMs = 0
const platform = { ...systemPlatform, monotonic: () => systemPlatform.monotonic() + laterMs }

/** Ends with the test. */
async function opened(options: PostgresOptions = {}): Promise<ToolStore> {
  const store = postgres(primary.url, { notifier: false, platform, ...options })
  await store.open()
  onTestFinished(() => store.close())
  return store
}

function millOn(store: ToolStore): Mill {
  const mill = jobmill({ store, log: 'silent' })
  onTestFinished(async () => void (await mill.stop()))
  return mill
}

const onReplica = { readUrl: standby.url }
const listed = async (store: ToolStore): Promise<number> =>
  (await store.list({}, { limit: 10 }, MAY_LAG)).jobs.length

const listsOnReplica = (): number => readFileSync(standby.log, 'utf8').split('AS scanned').length

/** Waits until reads go to the replica. */
async function readsReplica(store: ToolStore): Promise<void> {
  const before = listsOnReplica()
  await expect.poll(() => listed(store).then(listsOnReplica), { timeout: 10_000 }).toBeGreaterThan(before)
}

/** The replica has nothing new until the returned function is called, or the test ends. */
async function pauseReplay(): Promise<() => Promise<void>> {
  const client = await session(standby.url)
  const resume = async (): Promise<void> => void (await client.query('SELECT pg_wal_replay_resume()'))
  await client.query('SELECT pg_wal_replay_pause()')
  const isPaused = async (): Promise<unknown> =>
    (await client.query(`SELECT pg_get_wal_replay_pause_state() AS state`)).rows[0]
  await expect.poll(isPaused).toEqual({ state: 'paused' })
  onTestFinished(resume)
  return resume
}

function warnings(): string[] {
  const texts: string[] = []
  const add = ({ message, name }: Error): void => {
    if (name === 'JobmillWarning') texts.push(message)
  }
  process.on('warning', add)
  onTestFinished(() => void process.off('warning', add))
  return texts
}

/** Without a replica. */
const other = postgres(primary.url, { notifier: false })
await other.open()
afterAll(() => other.close())

beforeEach(async () => {
  laterMs = 0
  const { jobs } = await other.list({}, { limit: 100 })
  await other.delete(jobs.map(({ id }) => id))
})

describe('reads on a replica of postgres', () => {
  test('lists, counts and metrics come from there; what a program acts on comes from the primary', async () => {
    const store = await opened(onReplica)
    await readsReplica(store)
    const resume = await pauseReplay()
    const mill = millOn(store)
    const job = aJob({ tags: ['seen'] })
    await other.enqueue([job])
    const source = systemPlatform.id()
    const event = { type: 'audit', agoMs: 0, queue: null, job: null, data: '{"what":"x"}' }
    await other.metrics.record({ source, seq: 1, deltas: [], own: [], events: [event] })
    expect((await mill.list()).jobs).toEqual([])
    expect((await mill.list({}, { include: ['payload'] })).jobs).toEqual([])
    expect(await mill.count()).toMatchObject({ jobs: 0 })
    expect(await mill.count({ tags: ['seen'] })).toMatchObject({ jobs: 0 })
    expect((await mill.counts()).map(({ ready }) => ready)).toEqual((await mill.counts()).map(() => 0))
    expect((await mill.timeline()).events).toEqual([])
    expect(await mill.unservedKinds()).toEqual([])
    expect((await mill.errors()).looked).toBe(0)
    expect(await mill.prometheus()).not.toMatch(/jobmill_queue_jobs\{.*state="ready".*\} 1/)
    // The primary answers, and from then on the replica must have the same.
    expect(await mill.get(job.id)).toMatchObject({ id: job.id })
    expect((await mill.list()).jobs).toMatchObject([{ id: job.id }])
    await resume()
  })

  test('a program sees in its lists what it wrote before, whatever the lag', async () => {
    const store = await opened(onReplica)
    await readsReplica(store)
    await pauseReplay()
    const mill = millOn(store)
    const { id } = await mill.enqueue('work', null)
    expect((await mill.list()).jobs).toMatchObject([{ id, state: 'ready' }])
    await mill.cancel(id)
    expect((await mill.list({ state: 'cancelled' })).jobs).toMatchObject([{ id }])
    expect((await mill.counts()).reduce((sum, { cancelled }) => sum + cancelled, 0)).toBe(1)
  })

  test('a replica that is down or came back: the primary answers in between, with one warning', async () => {
    const heard = warnings()
    const store = await opened(onReplica)
    await readsReplica(store)
    await standby.shutDown()
    await other.enqueue([aJob()])
    expect(await listed(store)).toBe(1)
    expect(await listed(store)).toBe(1)
    const [down] = await check(store)
    expect(down).toMatchObject({ level: 'warning', check: 'replica' })
    expect(down?.message).toMatch(/the replica .* cannot be read: .*ECONNREFUSED/)
    const diagnostics = await millOn(store).diagnostics()
    expect(diagnostics.filter(({ check: name }) => name === 'replica')).toHaveLength(1)
    await standby.restart()
    laterMs += 6_000
    await readsReplica(store)
    await expect.poll(() => heard).toEqual([expect.stringMatching(/the replica of readUrl cannot be read: /)])
    expect(await check(store)).toMatchObject([{ level: 'ok' }])
  })

  test('a replica that is more than 10 s behind is not read', async () => {
    const heard = warnings()
    const store = await opened(onReplica)
    await readsReplica(store)
    const resume = await pauseReplay()
    await other.enqueue([aJob()])
    expect(await listed(store)).toBe(0)
    laterMs += 11_000
    expect(await listed(store)).toBe(1)
    laterMs += 11_000
    await expect.poll(() => heard).toEqual([expect.stringContaining('is more than 10 s behind the primary')])
    expect(await listed(store)).toBe(1)
    await resume()
    laterMs += 6_000
    await readsReplica(store)
    expect(heard).toHaveLength(1)
  })

  test('a read that conflicts with replay is sent to the primary', async () => {
    const heard = warnings()
    const store = await opened(onReplica)
    await readsReplica(store)
    const [first, second, third] = [
      await session(primary.url),
      await session(primary.url),
      await session(primary.url),
    ]
    const replica = await session(standby.url)
    /** A lock reaches the replica with the next commit of any session. */
    const send = (): Promise<unknown> => third.query(`SELECT pg_logical_emit_message(true, '', '')`)
    const waiting = async (): Promise<unknown> =>
      (await replica.query(`SELECT FROM pg_locks WHERE NOT granted`)).rowCount
    const locked = async (): Promise<unknown> =>
      (await replica.query(`SELECT FROM pg_locks WHERE relation = 'jobmill.tally'::regclass`)).rowCount
    // The read has locked `total` and waits for `tally`. Then replay needs `total`.
    await first.query('BEGIN; LOCK TABLE jobmill.tally')
    await send()
    await expect.poll(locked, { timeout: 5_000 }).toBe(1)
    const counts = store.counts(MAY_LAG)
    await expect.poll(waiting, { timeout: 5_000 }).toBe(1)
    await second.query('BEGIN; LOCK TABLE jobmill.total')
    await send()
    const log = (): string => readFileSync(standby.log, 'utf8')
    await expect.poll(log, { timeout: 5_000 }).toContain('canceling statement due to conflict with recovery')
    await second.query('ROLLBACK')
    await first.query('ROLLBACK')
    expect(await counts).toEqual(await store.counts())
    expect(heard).toEqual([])
    await readsReplica(store)
  })

  test('a server that is not a replica is not read', async () => {
    const heard = warnings()
    const store = await opened({ readUrl: primary.url })
    expect(await listed(store)).toBe(0)
    await expect
      .poll(() => heard)
      .toEqual([expect.stringContaining('is not a replica: the server accepts writes')])
    expect((await check(store))[0]?.message).toContain('is not a replica')
  })

  test('the settings are checked, and DATABASE_READ_URL sets them', async () => {
    const wrong =
      (readUrl: unknown): unknown =>
      () =>
        postgres(primary.url, { readUrl } as PostgresOptions)
    expect(wrong(7)).toThrow('readUrl: must be a URL (got 7). Pass the URL of a replica, or omit it')
    expect(wrong('localhost')).toThrow(/^readUrl: is not the URL of a PostgreSQL server/)
    const env = { DATABASE_URL: primary.url, DATABASE_READ_URL: standby.url }
    const store = (await usualStore(env)) as ToolStore
    expect(await check(store)).toMatchObject([{ level: 'ok' }])
    expect(await check(await storeAt(primary.url))).toEqual([])
    await expect(usualStore({ ...env, DATABASE_READ_URL: 'localhost' })).rejects.toThrow(
      /^DATABASE_READ_URL: is not the URL/,
    )
    await expect(usualStore({ ...env, DATABASE_URL: 'jobs.db' })).rejects.toThrow(
      /^DATABASE_READ_URL: needs PostgreSQL/,
    )
  })

  test('what makes a server a current replica', () => {
    const server: Position = { isStandby: false, secret: 'a', oldest: 5n, next: 9n }
    const replica = { ...server, isStandby: true }
    expect(replicaProblem(replica, server)).toBeNull()
    expect(replicaProblem({ ...replica, secret: 'b' }, server)).toContain('has other tables')
    expect(hasReached(replica, server)).toBe(true)
    expect(hasReached({ ...replica, oldest: 4n }, server)).toBe(false)
    expect(hasReached({ ...replica, next: 8n }, server)).toBe(false)
    expect(hasReached({ ...replica, oldest: 4n, next: 10n }, server)).toBe(true)
  })
})

async function check({ tools }: ToolStore): Promise<Awaited<ReturnType<typeof tools.diagnose>>> {
  return (await tools.diagnose()).filter((one) => one.check === 'replica')
}
