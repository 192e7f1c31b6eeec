/** Metrics: merged over time and over processes, with each flush counted once. */
import assert from 'node:assert/strict'
import {
  type FullStore,
  type MetricData,
  type MetricDelta,
  type MetricQuery,
  type MetricRecord,
  type Recording,
  RESOLUTIONS,
} from 'jobmill/store'
import { anInstance } from '../../factories.ts'
import { type Case, test } from '../case.ts'
import { total } from '../looks.ts'

const [TEN_SECONDS, MINUTE, , HOUR] = RESOLUTIONS
/** More than any case records. */
const ALL = 10_000

function aRecording(overrides: Partial<Recording> = {}): Recording {
  return { source: anInstance().id, seq: 1, deltas: [], own: [], events: [], ...overrides }
}

function counted(n: number, { scope = 'queue a', agoMs = 0 } = {}): MetricDelta {
  return { scope, agoMs, data: { counters: { done: n } } }
}

async function read(
  store: FullStore,
  resolution: MetricQuery['resolution'] = TEN_SECONDS,
  overrides: Partial<MetricQuery> = {},
): Promise<MetricRecord[]> {
  return store.metrics.read({ resolution, from: 0, before: 7_258_118_400_000, ...overrides })
}

/** The buckets of each size. */
function readAll(store: FullStore): Promise<MetricRecord[][]> {
  return Promise.all(RESOLUTIONS.map((resolution) => read(store, resolution)))
}

/** The total over all buckets of each size. */
async function sums(store: FullStore): Promise<number[]> {
  const buckets = await readAll(store)
  return buckets.map((records) => total(records.map(({ data }) => data.counters?.['done'] ?? 0)))
}

function bucket(scope: string, at: number, done: number): MetricRecord {
  return { scope, at, data: { counters: { done } } }
}

function floor(at: number, resolution: number): number {
  return at - (at % resolution)
}

export const metricCases: readonly Case[] = [
  test('P9 metrics are in the bucket of every size for their time, by the clock of the database, at once', async (t) => {
    t.clock.advance(47_000)
    const deltas = [counted(3), counted(4, { agoMs: 30_000 }), counted(5, { scope: 'queue b' })]
    await t.store.metrics.record(aRecording({ deltas }))
    const other = await t.another()
    for (const resolution of RESOLUTIONS) {
      const now = floor(t.clock.now(), resolution)
      const before = floor(t.clock.now() - 30_000, resolution)
      const a =
        now === before
          ? [bucket('queue a', now, 7)]
          : [bucket('queue a', before, 4), bucket('queue a', now, 3)]
      assert.deepEqual(await read(other, resolution), [...a, bucket('queue b', now, 5)])
    }
  }),
  test('P9 a bucket starts at a multiple of its size, and includes its first millisecond', async (t) => {
    t.clock.advance(HOUR - (t.clock.now() % HOUR))
    const start = t.clock.now()
    await t.store.metrics.record(aRecording({ deltas: [counted(1), counted(2, { agoMs: 1 })] }))
    for (const resolution of RESOLUTIONS)
      assert.deepEqual(
        (await read(t.store, resolution)).map(({ at, data }) => [at, data.counters]),
        [
          [start - resolution, { done: 2 }],
          [start, { done: 1 }],
        ],
      )
  }),
  test('metrics read the same before, during and after the roll-up', async (t) => {
    for (const seq of [1, 2, 3]) {
      await t.store.metrics.record(
        aRecording({ seq, deltas: [counted(seq), counted(seq, { scope: 'queue b', agoMs: 61_000 })] }),
      )
      t.clock.advance(8_000)
    }
    const before = await readAll(t.store)
    let more = await t.store.metrics.rollUp(1)
    assert.equal(more, 1)
    for (let n = 0; n < 20 && more > 0; n += 1) {
      assert.deepEqual(await readAll(t.store), before)
      more = await t.store.metrics.rollUp(1)
      assert.ok(more <= 1)
    }
    assert.equal(await t.store.metrics.rollUp(ALL), 0)
    assert.deepEqual(await readAll(t.store), before)
    assert.deepEqual(await sums(t.store), [12, 12, 12, 12])
  }),
  test('late metrics are merged into buckets that were rolled up long ago', async (t) => {
    await t.store.metrics.record(aRecording({ deltas: [counted(1)] }))
    const at = floor(t.clock.now(), TEN_SECONDS)
    await t.store.metrics.rollUp(ALL)
    t.clock.advance(2 * HOUR)
    await t.store.metrics.record(aRecording({ deltas: [counted(10, { agoMs: 2 * HOUR })] }))
    const expected = [{ scope: 'queue a', at, data: { counters: { done: 11 } } }]
    assert.deepEqual(await read(t.store), expected)
    await t.store.metrics.rollUp(ALL)
    assert.deepEqual(await read(t.store), expected)
  }),
  test('counters are added, histograms by bucket, and gauges keep the maximum', async (t) => {
    const first: MetricData = {
      counters: { done: 1, dead: 2 },
      histograms: { runMs: { '10': 1, '12': 5 } },
      gauges: { busy: { sum: 10, count: 2, most: 7 } },
    }
    const second: MetricData = {
      counters: { done: 10, retried: 1 },
      histograms: { runMs: { '12': 1, '20': 3 }, waitMs: { '0': 1 } },
      gauges: { busy: { sum: 4, count: 1, most: 4 } },
    }
    const merged: MetricData = {
      counters: { done: 11, dead: 2, retried: 1 },
      histograms: { runMs: { '10': 1, '12': 6, '20': 3 }, waitMs: { '0': 1 } },
      gauges: { busy: { sum: 14, count: 3, most: 7 } },
    }
    for (const data of [first, second])
      await t.store.metrics.record(aRecording({ deltas: [{ scope: 'queue a', agoMs: 0, data }] }))
    assert.deepEqual((await read(t.store))[0]?.data, merged)
    await t.store.metrics.rollUp(ALL)
    assert.deepEqual((await read(t.store, HOUR))[0]?.data, merged)
  }),
  test('P11 a recording that is resent, or older than the last one, is written at most once', async (t) => {
    const other = await t.another()
    const source = anInstance().id
    const flush = (seq: number, n: number): Recording => aRecording({ source, seq, deltas: [counted(n)] })
    await t.store.metrics.record(flush(5, 1))
    await other.metrics.record(flush(5, 1))
    await t.store.metrics.rollUp(ALL)
    await other.metrics.record(flush(5, 1))
    await t.store.metrics.record(flush(4, 10))
    assert.deepEqual(await sums(t.store), [1, 1, 1, 1])
    await t.store.metrics.record(flush(6, 100))
    await t.store.metrics.record(aRecording({ seq: 1, deltas: [counted(1_000)] }))
    assert.deepEqual(await sums(t.store), [1_101, 1_101, 1_101, 1_101])
  }),
  test('P11 a recording is recognized a day later, and concurrent copies through several handles are written once', async (t) => {
    const stores = await t.handles(3)
    const recordings = Array.from({ length: 5 }, (_, n) => aRecording({ deltas: [counted(n + 1)] }))
    for (const recording of recordings)
      await Promise.all(stores.map((each) => each.metrics.record(recording)))
    t.clock.advance(24 * HOUR - 1)
    await t.store.metrics.rollUp(ALL)
    for (const recording of recordings) await t.store.metrics.record(recording)
    assert.deepEqual(await sums(t.store), [15, 15, 15, 15])
  }),
  test('nothing is lost or counted twice during concurrent recordings and roll-ups', async (t) => {
    const stores = await t.handles(3)
    const sources = stores.map(() => anInstance().id)
    for (let seq = 1; seq <= 8; seq += 1) {
      await Promise.all(
        stores.flatMap((each, n) => {
          const deltas = [counted(1), counted(1, { scope: `queue ${n}` })]
          const recording = aRecording({ source: sources[n] ?? '', seq, deltas })
          return [each.metrics.record(recording), each.metrics.rollUp(2)]
        }),
      )
      t.clock.advance(3_000)
    }
    assert.deepEqual(await sums(t.store), [48, 48, 48, 48])
    for (let n = 0; n < 100 && (await t.store.metrics.rollUp(ALL)) > 0; n += 1);
    assert.deepEqual(await sums(t.store), [48, 48, 48, 48])
  }),
  test('process metrics replace what was in their bucket, in the one size they name', async (t) => {
    const source = anInstance().id
    const scope = `instance ${source}`
    const say = (seq: number, sum: number, resolution: typeof TEN_SECONDS | typeof MINUTE): Promise<void> => {
      const data = { gauges: { busy: { sum, count: 1, most: sum } } }
      return t.store.metrics.record(aRecording({ source, seq, own: [{ scope, resolution, agoMs: 0, data }] }))
    }
    await say(1, 5, TEN_SECONDS)
    await say(2, 3, TEN_SECONDS)
    await say(3, 9, MINUTE)
    await say(3, 99, MINUTE)
    await t.store.metrics.rollUp(ALL)
    const record = (sum: number, size: number): MetricRecord => ({
      scope,
      at: floor(t.clock.now(), size),
      data: { gauges: { busy: { sum, count: 1, most: sum } } },
    })
    const expected = [[record(3, TEN_SECONDS)], [record(9, MINUTE)], [], []]
    assert.deepEqual(await readAll(t.store), expected)
  }),
  test('metrics are read by scope and by the start of their bucket', async (t) => {
    const at = floor(t.clock.now(), TEN_SECONDS)
    const deltas = ['b', 'a', 'B'].flatMap((scope) =>
      [0, 10_000, 20_000].map((agoMs) => counted(1, { scope, agoMs })),
    )
    await t.store.metrics.record(aRecording({ deltas }))
    const valuesOf = async (overrides: Partial<MetricQuery>): Promise<[string, number][]> =>
      (await read(t.store, TEN_SECONDS, overrides)).map((one) => [one.scope, one.at - at])
    for (const rolled of [false, true]) {
      if (rolled) await t.store.metrics.rollUp(ALL)
      assert.deepEqual(
        await valuesOf({}),
        ['B', 'a', 'b'].flatMap((scope) => [-20_000, -10_000, 0].map((when) => [scope, when])),
      )
      const range = { from: at - 10_000, before: at }
      assert.deepEqual(await valuesOf({ scopes: ['b', 'nope'], ...range }), [['b', -10_000]])
      assert.deepEqual(await valuesOf({ scopes: [] }), [])
      assert.deepEqual(await valuesOf({ from: at + 1 }), [])
    }
  }),
  test('metrics are read by the type of their scope, also together with scopes', async (t) => {
    const deltas = ['queue a', 'kind a', 'kinds', 'limit a b'].map((scope) => counted(1, { scope }))
    await t.store.metrics.record(aRecording({ deltas }))
    const scopesOf = async (overrides: Partial<MetricQuery>): Promise<string[]> =>
      (await read(t.store, TEN_SECONDS, overrides)).map(({ scope }) => scope)
    for (const rolled of [false, true]) {
      if (rolled) await t.store.metrics.rollUp(ALL)
      assert.deepEqual(await scopesOf({ types: ['queue', 'limit'] }), ['limit a b', 'queue a'])
      assert.deepEqual(await scopesOf({ types: ['kind'], scopes: ['kind a', 'queue a'] }), ['kind a'])
      assert.deepEqual(await scopesOf({ types: [] }), [])
    }
  }),
  test('P15 a heartbeat reports whether there is something to roll up', async (t) => {
    const unrolled = async (): Promise<boolean> => (await t.renew(anInstance().id)).unrolled
    const idle = async (): Promise<void> => {
      for (let n = 0; n < 20 && (await unrolled()); n += 1) {
        await t.store.fold(ALL)
        await t.store.metrics.rollUp(ALL)
      }
      assert.equal(await unrolled(), false)
    }
    await idle()
    await t.store.metrics.record(aRecording({ deltas: [counted(1)] }))
    assert.equal(await unrolled(), true)
    await idle()
  }),
  test('P15 an empty recording writes nothing, and a pass that finds nothing changes nothing', async (t) => {
    await t.store.metrics.record(aRecording())
    assert.equal(await t.store.metrics.rollUp(ALL), 0)
    assert.deepEqual(await sums(t.store), [0, 0, 0, 0])
    assert.deepEqual(await t.store.metrics.timeline({ limit: 10 }), [])
  }),
]
