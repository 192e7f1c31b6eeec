/** What claims scan, in pages of the index, which do not depend on the load of the machine. */
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, onTestFinished, test } from 'vitest'
import { freshSchema } from '../../../../test/support/databases.ts'
import { inFull } from '../../../../test/support/suite/in-full.ts'
import { systemPlatform } from '../../src/platform/platform.ts'
import { postgres } from '../../src/postgres.ts'
import type { Lease } from '../../src/store/types/claim.ts'
import type { FullStore } from '../../src/store/store.ts'
import { aJob, anInstance, someJobs } from '../../../conformance/src/factories.ts'

const url = inject('postgresUrl')
const schema = freshSchema(url, 'cursors')
const me = anInstance({ leaseMs: 3_600_000, kinds: ['work', 'foreign'] })
const store: FullStore = postgres(url, { schema, notifier: false })
interface Answer {
  readonly rows: readonly (readonly unknown[])[]
}

/** Pages of the claim index that each claim touched. */
const pages: number[] = []

// oxlint-disable-next-line typescript/unbound-method -- it is called with its own client below
const original = pg.Client.prototype.query
beforeAll(async () => {
  await store.open()
  await store.instances.register(me)
  pg.Client.prototype.query = function noted(this: pg.Client, ...args: unknown[]): unknown {
    const [config, answered] = args as [{ text?: string }, (error: unknown, answer: Answer) => void]
    if (config.text?.includes('.claim(') !== true) return Reflect.apply(original, this, args)
    const note = (error: unknown, answer: Answer): void => {
      pages.push((JSON.parse(String(answer.rows.at(-1)?.[11])) as { pages: number }).pages)
      answered(error, answer)
    }
    return Reflect.apply(original, this, [config, note])
  } as typeof original
})
afterAll(async () => {
  pg.Client.prototype.query = original
  await store.close()
})
beforeEach(() => void (pages.length = 0))

function claim(queue: string, limit: number, from = store): Promise<Lease[]> {
  const queues = [{ queue, room: limit }]
  return from.claim({ instance: me.id, queues, kinds: ['work'], limit, quarantined: 'skip' })
}

async function enqueue(queue: string, count: number, kind = 'work'): Promise<void> {
  for (let left = count; left > 0; left -= 5_000)
    await store.enqueue(someJobs(Array.from({ length: Math.min(left, 5_000) }, () => ({ queue, kind }))))
}

async function onClient(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

async function openOther(clock: { readonly monotonic: () => number }): Promise<FullStore> {
  const other = postgres(url, { schema, notifier: false, platform: { ...systemPlatform, ...clock } })
  await other.open()
  onTestFinished(() => other.close())
  return other
}

function median(figures: readonly number[]): number {
  return figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)] ?? Number.NaN
}

describe('postgres: the scans of claims', () => {
  test('P15 dead rows that cannot be removed yet are scanned once, not by every claim', async () => {
    const pin = await onClient()
    await pin.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
    await pin.query('SELECT pg_current_xact_id()')
    const jobs = inFull(30_000, 15_000)
    await enqueue('pinned', jobs)
    for (let left = jobs; left > 0; left -= 500) expect(await claim('pinned', 500)).toHaveLength(500)
    await pin.query('ROLLBACK')
    expect(pages).toHaveLength(jobs / 500)
    expect(median(pages.slice(-10))).toBeLessThanOrEqual(1.5 * median(pages.slice(1, 11)))
  }, 60_000)

  test('P15 a claim does not scan the jobs that other processes claimed since its last one', async () => {
    const other = await openOther({ monotonic: () => 0 })
    const pin = await onClient()
    await pin.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
    await pin.query('SELECT pg_current_xact_id()')
    await enqueue('shared', 8_000)
    await claim('shared', 500, other)
    const [first = 0] = pages
    for (let times = 0; times < 10; times += 1) await claim('shared', 500)
    expect(await claim('shared', 500, other)).toHaveLength(500)
    expect(pages.at(-1)).toBeLessThanOrEqual(1.5 * first)
    await pin.query('ROLLBACK')
  }, 60_000)

  test('P3 a job that another process claimed in a transaction that failed is found by the next full scan', async () => {
    let now = 0
    const other = await openOther({ monotonic: () => now })
    await enqueue('failed', 1_000)
    await claim('failed', 500, other)
    // A claim moves the shared cursor before its transaction ends.
    const client = await onClient()
    const { rows } = await client.query<{ at: string }>(`SELECT last_value AS at FROM ${schema}.last_claim`)
    await client.query(`SELECT setval('${schema}.last_claim', $1)`, [
      BigInt(rows[0]?.at ?? 0) + (100n << 20n),
    ])
    await enqueue('failed', 200)
    const ids = async (limit: number): Promise<string[]> =>
      (await claim('failed', limit, other)).map(({ id }) => id)
    const behind = await ids(300)
    now = 500
    const rest = await ids(400)
    expect([behind.length, rest.length]).toEqual([300, 400])
    expect(rest.filter((id) => id < (behind[0] ?? ''))).toHaveLength(100)
  })

  test('P15 jobs of kinds that this process does not run are skipped: many cost as much as few', async () => {
    await enqueue('few', 1_000, 'foreign')
    await enqueue('many', inFull(50_000, 20_000), 'foreign')
    const settled = async (queue: string): Promise<number> => {
      pages.length = 0
      for (let times = 0; times < 10; times += 1) expect(await claim(queue, 10)).toEqual([])
      return median(pages)
    }
    expect(await settled('many')).toBeLessThanOrEqual(1.5 * (await settled('few')))
    // A job behind them is still found.
    await enqueue('many', 1)
    expect(await claim('many', 10)).toHaveLength(1)
  }, 60_000)

  test('P3 a job that commits late, below a scan cursor, is found when a claim returns fewer jobs than requested', async () => {
    const late = aJob({ queue: 'late' })
    const client = await onClient()
    await client.query('BEGIN')
    await store.enqueue([late], { tx: client })
    await enqueue('late', 150)
    expect(await claim('late', 100)).toHaveLength(100)
    await client.query('COMMIT')
    expect((await claim('late', 500)).map(({ id }) => id)).toContain(late.id)
  })

  test.each([
    ['a server', undefined, false],
    ['a test', () => Date.now(), true],
  ])(
    'P3 on the clock of %s, a look skips a job below the cursor of an expensive scan: %s',
    async (_, clock, isSeen) => {
      const platform = { ...systemPlatform, monotonic: () => 0 }
      const other = postgres(url, { schema, notifier: false, platform, ...(clock && { clock }) })
      await other.open()
      onTestFinished(() => other.close())
      const queue = `hinted-${String(isSeen)}`
      const late = aJob({ queue })
      const client = await onClient()
      await client.query('BEGIN')
      await store.enqueue([late], { tx: client })
      await enqueue(queue, 20_000, 'foreign')
      expect(await claim(queue, 10, other)).toEqual([])
      await client.query('COMMIT')
      const look = { instance: me.id, leaseMs: 1, renewEveryMs: 3_600_000, queues: [queue], kinds: ['work'] }
      expect((await other.instances.renew({ ...look, duties: [] })).ready).toBe(isSeen)
      expect((await claim(queue, 10, other)).map(({ id }) => id)).toEqual(isSeen ? [late.id] : [])
      expect((await claim(queue, 10)).map(({ id }) => id)).toEqual(isSeen ? [] : [late.id])
    },
  )

  test('P9 a late job in a queue that never empties is found by the next full scan, due after half a second', async () => {
    let now = 0
    const platform = { ...systemPlatform, monotonic: () => now }
    const busy = postgres(url, { schema, notifier: false, platform })
    await busy.open()
    onTestFinished(() => busy.close())
    const late = aJob({ queue: 'busy' })
    const client = await onClient()
    await client.query('BEGIN')
    await store.enqueue([late], { tx: client })
    await enqueue('busy', 1_000)
    await claim('busy', 50, busy)
    await client.query('COMMIT')
    const finds = async (): Promise<boolean> =>
      (await claim('busy', 50, busy)).some(({ id }) => id === late.id)
    now = 499
    expect(await finds()).toBe(false)
    now = 500
    expect(await finds()).toBe(true)
  })

  test('a more urgent job of another process goes first at once, although this process has no cursor for its priority', async () => {
    const other = postgres(url, { schema, notifier: false })
    await other.open()
    onTestFinished(() => other.close())
    await enqueue('urgent', 150)
    await claim('urgent', 100)
    const urgent = aJob({ queue: 'urgent', priority: -5 })
    await other.enqueue([urgent])
    expect((await claim('urgent', 1)).map(({ id }) => id)).toEqual([urgent.id])
  })

  test('P7 ready jobs of a paused queue are found when it is resumed', async () => {
    const other = postgres(url, { schema, notifier: false })
    await other.open()
    onTestFinished(() => other.close())
    await enqueue('paused', 20)
    await claim('paused', 5)
    await other.queues.change('paused', { settings: { paused: true }, coolMs: null })
    expect(await claim('paused', 5)).toEqual([])
    await other.queues.change('paused', { settings: { paused: false }, coolMs: null })
    expect(await claim('paused', 500)).toHaveLength(15)
  })
})
