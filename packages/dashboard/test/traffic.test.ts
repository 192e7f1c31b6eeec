/** What an open tab costs: bytes and requests of one refresh of the overview, and calls of the store. */
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { freshFile } from '../../../test/support/databases.ts'
import { bucketOf, type MetricData } from '../../jobmill/src/job/metric-data.ts'
import { defineJob, type FullStore, jobmill } from '../../jobmill/src/index.ts'
import { sqlite } from '../../jobmill/src/sqlite.ts'
import { apiFor } from '../../server/src/api.ts'
import { mission } from './support/mission.ts'

const MOST_BYTES = 30 * 1_024
const QUEUES = Array.from({ length: 7 }, (_, n) => `queue-${n}`)
const KINDS = Array.from({ length: 6 }, (_, n) => `kind-${n}.do`)
const SOURCE = '01900000-0000-7000-8000-000000000001'

/** The requests of one refresh. */
const REFRESH = [
  'charts',
  'charts',
  'diagnostics',
  'jobs',
  'overview',
  'resources',
  'system',
  'timeline',
  'workers',
]

/** Between 0 and 1, the same in each run. Regular numbers would compress better than real ones. */
function noise(seed: number): number {
  const x = Math.sin(seed * 12.9898) * 43_758.5453
  return x - Math.floor(x)
}

const bell = (n: number): Record<string, number> =>
  Object.fromEntries(
    Array.from({ length: 12 }, (_, at) => [
      bucketOf(3 * 1.7 ** (12 * noise(n + at))),
      Math.ceil(noise(n * at) * 30),
    ]),
  )

function dataAt(n: number): MetricData {
  const gauge = (most: number) => {
    const value = Math.round(most * noise(n * most))
    return { sum: value * 6, count: 7, most: value }
  }
  const done = Math.round(400 * noise(n))
  return {
    counters: { enqueued: done + (n % 5), started: done + (n % 9), done, dead: n % 3, retried: n % 7 },
    histograms: { waiting: bell(n + 0.1), running: bell(n + 0.2), total: bell(n + 0.3) },
    gauges: {
      ready: gauge(97),
      running: gauge(10),
      scheduled: gauge(3_100),
      dead: gauge(500),
      oldestReadyMs: gauge(90_000),
    },
  }
}

/** 70 minutes in which every queue was busy. */
async function writeHistory(store: FullStore<never>): Promise<void> {
  for (let ago = 1; ago <= 70 * 6; ago += 1)
    await store.metrics.record({
      source: SOURCE,
      seq: ago,
      own: [],
      events: [],
      deltas: [...QUEUES, 'default', 'mail', 'slow'].map((queue, n) => ({
        scope: `queue ${queue}`,
        agoMs: ago * 10_000,
        data: dataAt(ago * 11 + n),
      })),
    })
  while ((await store.metrics.rollUp(1_000)) > 0);
}

/** Bytes on the wire by request, without headers. */
async function watch(page: Page) {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  const paths = new Map<string, string>()
  const bytes: { path: string; bytes: number }[] = []
  session.on('Network.requestWillBeSent', ({ requestId, request }) => {
    const { pathname, search } = new URL(request.url)
    if (pathname.startsWith('/api/')) paths.set(requestId, `${pathname.slice('/api/'.length)}${search}`)
  })
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const path = paths.get(requestId)
    if (path !== undefined) bytes.push({ path, bytes: encodedDataLength })
  })
  return bytes
}

const options = {
  queues: Object.fromEntries([...QUEUES, 'default', 'mail', 'slow'].map((name) => [name, {}])),
  moreJobs: KINDS.map((kind) => defineJob({ kind, run: () => null })),
  before: writeHistory,
}

mission(
  'traffic',
  (at, it) => {
    it('one refresh of the overview takes at most 30 KB, and each request once', async () => {
      const page = await at.open('/')
      await page.getByRole('figure', { name: 'Queue latency' }).waitFor()
      await page.locator('header select').selectOption('off')
      await page.waitForLoadState('load')
      expect(await at.mill.queues()).toHaveLength(11)
      expect(await at.mill.kinds()).toHaveLength(14)
      const bytes = await watch(page)
      await page.keyboard.press('r')
      const seen = () => bytes.map(({ path }) => path.replace(/\?.*/, '')).toSorted()
      await expect.poll(seen).toEqual(REFRESH)
      const sum = bytes.reduce((all, one) => all + one.bytes, 0)
      expect(sum).toBeLessThanOrEqual(MOST_BYTES)
      // Only the newest bins.
      const starts = bytes.flatMap(({ path }) => /from=(\d+)/.exec(path)?.[1] ?? []).map(Number)
      expect(starts).toHaveLength(2)
      expect(Date.now() - Math.min(...starts)).toBeLessThan(5 * 60_000)
    })

    it.nightly('an open page asks for bins of 30 s less often than for counts', async () => {
      const page = await at.open('/', { hasClock: true })
      await page.getByRole('figure', { name: 'Queue latency' }).waitFor()
      const bytes = await watch(page)
      const count = (part: string): number => bytes.filter(({ path }) => path.includes(part)).length
      // Each step waits for the answers of the previous one.
      for (let step = 1; step <= 10; step += 1) {
        const before = count('overview')
        // The user is there.
        await page.keyboard.press('Shift')
        await at.mill.enqueue('echo', step, { delay: '1h' })
        await expect
          .poll(async () => {
            await page.clock.runFor('00:02')
            return count('overview')
          })
          .toBeGreaterThan(before)
      }
      expect(count('overview')).toBeGreaterThanOrEqual(10)
      expect(count('resolution=30s')).toBeLessThanOrEqual(count('overview') / 3)
    })

    it.nightly('an open page whose user is away refreshes every 10 s, without the event stream', async () => {
      const page = await at.open('/', { hasClock: true })
      await page.getByRole('figure', { name: 'Queue latency' }).waitFor()
      const streams = { opened: 1, closed: 0 }
      page.on('request', (request) => (streams.opened += Number(request.url().endsWith('/api/events'))))
      page.on('requestfailed', (request) => (streams.closed += Number(request.url().endsWith('/api/events'))))
      const bytes = await watch(page)
      const refreshes = (): number => bytes.filter(({ path }) => path === 'overview').length
      await page.clock.pauseAt(Date.now() + 60_000)
      await page.clock.runFor('00:02')
      await expect.poll(() => streams).toEqual({ opened: 1, closed: 1 })
      for (let step = 1; step <= 3; step += 1) {
        const before = refreshes()
        await page.clock.runFor('00:10')
        await expect.poll(refreshes).toBeGreaterThan(before)
      }
      // The jump of the clock may have caused one more.
      expect(refreshes()).toBeLessThanOrEqual(4)
      await page.mouse.move(10, 10)
      await page.clock.runFor('00:02')
      await expect.poll(() => streams.opened).toBe(2)
    })
  },
  options,
)

type Calls = Record<string, number>

/** Counts the calls of every verb. */
function counted<S extends object>(target: S, calls: Calls, prefix = ''): S {
  return new Proxy(target, {
    get(store, key) {
      const value: unknown = Reflect.get(store, key, store)
      if (typeof key === 'symbol') return value
      if (typeof value === 'object' && value !== null && prefix === '' && key !== 'tools')
        return counted(value, calls, `${key}.`)
      if (typeof value !== 'function') return value
      return (...args: unknown[]): unknown => {
        calls[`${prefix}${key}`] = (calls[`${prefix}${key}`] ?? 0) + 1
        return Reflect.apply(value, store, args)
      }
    },
  })
}

describe('calls of the store', () => {
  test('one refresh of the overview reads each table a bounded number of times', async () => {
    const calls: Calls = {}
    const mill = jobmill({
      store: counted(sqlite(freshFile()), calls),
      jobs: [],
      queues: options.queues,
      log: 'silent',
    })
    await mill.open()
    const { root } = apiFor(
      mill,
      {},
      { identity: { by: 'host', authenticate: () => ({ name: 'ada', role: 'admin' }) }, callers: 'any' },
    )
    const ask = async (path: string): Promise<void> => {
      const answer = await root.fetch(new Request(`http://localhost/api/${path}`))
      expect([path, answer.status]).toEqual([path, 200])
      await answer.text()
    }
    for (const path of REFRESH) await ask(path)
    for (const key of Object.keys(calls)) delete calls[key]
    for (const path of REFRESH) await ask(path)
    // The server caches the diagnostics, and kinds without a worker. The overview and the workers
    // are two requests.
    expect(calls).toEqual({
      counts: 1,
      'queues.list': 2,
      'limits.list': 2,
      'schedules.list': 1,
      'overrides.list': 1,
      'instances.list': 2,
      'instances.duties': 3,
      'instances.slots': 1,
      // The longest-running jobs.
      list: 1,
      // Both sets of charts.
      'metrics.read': 2,
      'metrics.timeline': 1,
    })
    await mill.stop()
  })
})
