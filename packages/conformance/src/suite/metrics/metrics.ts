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
import { anInstance, aHeartbeat } from '../../factories.ts'
import { type Case, test } from '../case.ts'

const [TEN_SECONDS, MINUTE, HOUR] = RESOLUTIONS
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

/** The total over all buckets of each size. */
async function sums(store: FullStore): Promise<number[]> {
  const buckets = await Promise.all(RESOLUTIONS.map((resolution) => read(store, resolution)))
  return buckets.map((records) => records.reduce((sum, { data }) => sum + (data.counters?.['done'] ?? 0), 0))
}

function floor(at: number, resolution: number): number {
  return at - (at % resolution)
}

export const metricCases: readonly Case[] = [
  test('P9 metrics are in the bucket of every size for their time, by the clock of the database, at once', async (t) => {
    const { store, clock, another } = t
    clock.advance(47_000)
    const deltas = [counted(3), counted(4, { agoMs: 30_000 }), counted(5, { scope: 'queue b' })]
    await store.metrics.record(aRecording({ deltas }))
    const other = await another()
    for (const resolution of RESOLUTIONS) {
      const [now, before] = [clock.now(), clock.now() - 30_000].map((at) => floor(at, resolution))
      const a =
        now === before
          ? [{ scope: 'queue a', at: now, data: { counters: { done: 7 } } }]
          : [
              { scope: 'queue a', at: before, data: { counters: { done: 4 } } },
              { scope: 'queue a', at: now, data: { counters: { done: 3 } } },
            ]
      assert.deepEqual(await read(other, resolution), [
        ...a,
        { scope: 'queue b', at: now, data: { counters: { done: 5 } } },
      ])
    }
  }),
  test('P9 a bucket starts at a multiple of its size, and includes its first millisecond', async (t) => {
    const { store, clock } = t
    clock.advance(HOUR - (clock.now() % HOUR))
    const start = clock.now()
    await store.metrics.record(aRecording({ deltas: [counted(1), counted(2, { agoMs: 1 })] }))
    for (const resolution of RESOLUTIONS)
      assert.deepEqual(
        (await read(store, resolution)).map(({ at, data }) => [at, data.counters]),
        [
          [start - resolution, { done: 2 }],
          [start, { done: 1 }],
        ],
      )
  }),
  test('metrics read the same before, during and after the roll-up', async ({ store, clock }) => {
    for (const seq of [1, 2, 3]) {
      await store.metrics.record(
        aRecording({ seq, deltas: [counted(seq), counted(seq, { scope: 'queue b', agoMs: 61_000 })] }),
      )
      clock.advance(8_000)
    }
    const look = (): Promise<MetricRecord[][]> =>
      Promise.all(RESOLUTIONS.map((resolution) => read(store, resolution)))
    const before = await look()
    let more = await store.metrics.rollUp(1)
    assert.equal(more, 1)
    for (let n = 0; n < 20 && more > 0; n += 1) {
      assert.deepEqual(await look(), before)
      more = await store.metrics.rollUp(1)
      assert.ok(more <= 1)
    }
    assert.equal(await store.metrics.rollUp(ALL), 0)
    assert.deepEqual(await look(), before)
    assert.deepEqual(await sums(store), [12, 12, 12])
  }),
  test('late metrics are merged into buckets that were rolled up long ago', async ({ store, clock }) => {
    await store.metrics.record(aRecording({ deltas: [counted(1)] }))
    const at = floor(clock.now(), TEN_SECONDS)
    await store.metrics.rollUp(ALL)
    clock.advance(2 * HOUR)
    await store.metrics.record(aRecording({ deltas: [counted(10, { agoMs: 2 * HOUR })] }))
    const expected = [{ scope: 'queue a', at, data: { counters: { done: 11 } } }]
    assert.deepEqual(await read(store), expected)
    await store.metrics.rollUp(ALL)
    assert.deepEqual(await read(store), expected)
  }),
  test('counters are added, histograms by bucket, and gauges keep the maximum', async ({ store }) => {
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
      await store.metrics.record(aRecording({ deltas: [{ scope: 'queue a', agoMs: 0, data }] }))
    assert.deepEqual((await read(store))[0]?.data, merged)
    await store.metrics.rollUp(ALL)
    assert.deepEqual((await read(store, HOUR))[0]?.data, merged)
  }),
  test('P11 a recording that is resent, or older than the last one, is written at most once', async (t) => {
    const { store, another } = t
    const other = await another()
    const source = anInstance().id
    const flush = (seq: number, n: number): Recording => aRecording({ source, seq, deltas: [counted(n)] })
    await store.metrics.record(flush(5, 1))
    await other.metrics.record(flush(5, 1))
    await store.metrics.rollUp(ALL)
    await other.metrics.record(flush(5, 1))
    await store.metrics.record(flush(4, 10))
    assert.deepEqual(await sums(store), [1, 1, 1])
    await store.metrics.record(flush(6, 100))
    await store.metrics.record(aRecording({ seq: 1, deltas: [counted(1_000)] }))
    assert.deepEqual(await sums(store), [1_101, 1_101, 1_101])
  }),
  test('P11 a recording is recognized a day later, and concurrent copies through several handles are written once', async (t) => {
    const { store, another, clock } = t
    const stores = [store, await another(), await another()]
    const recordings = Array.from({ length: 5 }, (_, n) => aRecording({ deltas: [counted(n + 1)] }))
    for (const recording of recordings)
      await Promise.all(stores.map((each) => each.metrics.record(recording)))
    clock.advance(24 * HOUR - 1)
    await store.metrics.rollUp(ALL)
    for (const recording of recordings) await store.metrics.record(recording)
    assert.deepEqual(await sums(store), [15, 15, 15])
  }),
  test('nothing is lost or counted twice during concurrent recordings and roll-ups', async (t) => {
    const { store, another, clock } = t
    const stores = [store, await another(), await another()]
    const sources = stores.map(() => anInstance().id)
    for (let seq = 1; seq <= 8; seq += 1) {
      await Promise.all(
        stores.flatMap((each, n) => [
          each.metrics.record(
            aRecording({
              source: sources[n] ?? '',
              seq,
              deltas: [counted(1), counted(1, { scope: `queue ${n}` })],
            }),
          ),
          each.metrics.rollUp(2),
        ]),
      )
      clock.advance(3_000)
    }
    assert.deepEqual(await sums(store), [48, 48, 48])
    for (let n = 0; n < 100 && (await store.metrics.rollUp(ALL)) > 0; n += 1);
    assert.deepEqual(await sums(store), [48, 48, 48])
  }),
  test('process metrics replace what was in their bucket, in the one size they name', async (t) => {
    const { store, clock } = t
    const source = anInstance().id
    const scope = `instance ${source}`
    const say = (seq: number, sum: number, resolution: typeof TEN_SECONDS | typeof MINUTE): Promise<void> => {
      const data = { gauges: { busy: { sum, count: 1, most: sum } } }
      return store.metrics.record(aRecording({ source, seq, own: [{ scope, resolution, agoMs: 0, data }] }))
    }
    await say(1, 5, TEN_SECONDS)
    await say(2, 3, TEN_SECONDS)
    await say(3, 9, MINUTE)
    await say(3, 99, MINUTE)
    await store.metrics.rollUp(ALL)
    const recordsOf = (sum: number, size: number): MetricRecord[] => [
      {
        scope,
        at: floor(clock.now(), size),
        data: { gauges: { busy: { sum, count: 1, most: sum } } },
      },
    ]
    assert.deepEqual(await read(store), recordsOf(3, TEN_SECONDS))
    assert.deepEqual(await read(store, MINUTE), recordsOf(9, MINUTE))
    assert.deepEqual(await read(store, HOUR), [])
  }),
  test('metrics are read by scope and by the start of their bucket', async ({ store, clock }) => {
    const at = floor(clock.now(), TEN_SECONDS)
    const deltas = ['b', 'a', 'B'].flatMap((scope) =>
      [0, 10_000, 20_000].map((agoMs) => counted(1, { scope, agoMs })),
    )
    await store.metrics.record(aRecording({ deltas }))
    const valuesOf = async (overrides: Partial<MetricQuery>): Promise<[string, number][]> =>
      (await read(store, TEN_SECONDS, overrides)).map((one) => [one.scope, one.at - at])
    for (const rolled of [false, true]) {
      if (rolled) await store.metrics.rollUp(ALL)
      assert.deepEqual(
        await valuesOf({}),
        ['B', 'a', 'b'].flatMap((scope) => [-20_000, -10_000, 0].map((when) => [scope, when])),
      )
      assert.deepEqual(await valuesOf({ scopes: ['b', 'nope'], from: at - 10_000, before: at }), [
        ['b', -10_000],
      ])
      assert.deepEqual(await valuesOf({ scopes: [] }), [])
      assert.deepEqual(await valuesOf({ from: at + 1 }), [])
    }
  }),
  test('P15 a heartbeat reports whether there is something to roll up', async ({ store }) => {
    const unrolled = async (): Promise<boolean> =>
      (await store.instances.renew(aHeartbeat(anInstance().id))).unrolled
    const idle = async (): Promise<void> => {
      for (let n = 0; n < 20 && (await unrolled()); n += 1) {
        await store.fold(ALL)
        await store.metrics.rollUp(ALL)
      }
      assert.equal(await unrolled(), false)
    }
    await idle()
    await store.metrics.record(aRecording({ deltas: [counted(1)] }))
    assert.equal(await unrolled(), true)
    await idle()
  }),
  test('P15 an empty recording writes nothing, and a pass that finds nothing changes nothing', async (t) => {
    const { store } = t
    await store.metrics.record(aRecording())
    assert.equal(await store.metrics.rollUp(ALL), 0)
    assert.deepEqual(await sums(store), [0, 0, 0])
    assert.deepEqual(await store.metrics.timeline({ limit: 10 }), [])
  }),
]
