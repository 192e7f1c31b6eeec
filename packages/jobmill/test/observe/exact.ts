/**
 * Target 11, for one store: counters, percentiles and counts over time and processes equal a brute-force
 * evaluation of every event and sample, whatever was lost on the way.
 */
import { afterEach, expect, test } from 'vitest'
import { eventHub } from '../../src/observe/event-hub.ts'
import { observer } from '../../src/observe/observer.ts'
import { systemPlatform } from '../../src/platform/platform.ts'
import { type Metrics, observation } from '../../src/runtime/report/observation.ts'
import type { LimitSeries, QueueSeries } from '../../src/runtime/report/series.ts'
import { type Resolution, RESOLUTIONS } from '../../src/store/types/metrics.ts'
import type { FullStore } from '../../src/store/store.ts'
import { faultyStore } from '../../src/testing/index.ts'
import type { ConformanceSubject } from '../../../conformance/src/index.ts'
import { check, timeoutMs } from '../model/check.ts'
import { aClock, type Clock, finished, START_AT, started } from './bench.ts'
import { histories, KIND, LIMIT, type World, world } from './brute-force.ts'

type Subject = Pick<ConformanceSubject<FullStore>, 'name' | 'fresh' | 'handle'>

/** Merged from the buckets of a minute. */
const MERGED_MS = 600_000

async function read(store: FullStore, clock: Clock, resolution: number): Promise<Metrics> {
  const { metrics } = observation({ opened: async () => store, platform: clock })
  return metrics({ from: START_AT, resolution })
}

async function readKinds(store: FullStore, clock: Clock, resolution: Resolution): Promise<Metrics> {
  const { metrics } = observation({ opened: async () => store, platform: clock })
  return metrics({ from: START_AT, resolution, kinds: [KIND] })
}

/** Rates follow from the rest and from the time of reading; gauges are compared with the samples. */
function plain({ perSecond: _, counts: _1, ...figures }: Readonly<Record<string, unknown>>): object {
  return figures
}

function draws({ available: _, held: _1, ...figures }: Readonly<Record<string, unknown>>): object {
  return figures
}

const happened = ({ counters }: QueueSeries['all']): boolean => Object.values(counters).some((n) => n > 0)
const drew = ({ granted, refused }: LimitSeries['all']): boolean => granted + refused > 0

/** Without buckets that contain only a sample. */
function counted({ queues, limits }: Metrics): { queues: unknown[]; limits: unknown[] } {
  return {
    queues: queues
      .filter(({ all }) => happened(all))
      .map(({ queue, all, points }) => ({
        queue,
        all: plain({ ...all }),
        points: points.filter(happened).map((point) => plain({ ...point })),
      })),
    limits: limits
      .filter(({ all }) => drew(all))
      .map(({ limit, all, points }) => ({
        limit,
        all: draws({ ...all }),
        points: points.filter(drew).map((point) => draws({ ...point })),
      })),
  }
}

type Gauges = Readonly<Record<string, { readonly mean: number; readonly most: number } | null>>

/** Every point has mean and maximum of all samples of its time, and every hour with data has one. */
function checkGauges(
  what: 'queue' | 'limit',
  series: readonly { readonly name: string; readonly points: readonly { at: number; gauges: Gauges }[] }[],
  resolution: number,
  { expectedLevels, livelyHours }: World,
): void {
  for (const { name, points } of series) {
    const sampled = points.filter(({ gauges }) => Object.values(gauges).every((one) => one !== null))
    for (const { at, gauges } of sampled) {
      const wanted = expectedLevels(what, name, at, at + resolution)
      for (const [level, gauge] of Object.entries(gauges)) {
        expect(gauge?.most, `${name} ${level}`).toBe(wanted[level]?.most)
        expect(gauge?.mean, `${name} ${level}`).toBeCloseTo(wanted[level]?.mean ?? -1, 6)
      }
    }
    const hours = new Set(sampled.map(({ at }) => at - (at % 3_600_000)))
    expect([...hours]).toEqual(livelyHours(what, name))
  }
}

function checkAllGauges(metrics: Metrics, resolution: number, world: World): void {
  const queues = metrics.queues.map(({ queue: name, points }) => ({
    name,
    points: points.map(({ at, counts: gauges }) => ({ at, gauges })),
  }))
  const limits = metrics.limits.map(({ limit: name, points }) => ({
    name,
    points: points.map(({ at, available, held }) => ({ at, gauges: { available, held } })),
  }))
  checkGauges('queue', queues, resolution, world)
  checkGauges('limit', limits, resolution, world)
}

export function metricsAreExact(subject: Subject, runs: number): void {
  const open = new Set<FullStore>()

  async function opened(clock: Clock): Promise<FullStore> {
    await subject.fresh()
    const store = subject.handle({ clock: clock.now })
    await store.open()
    open.add(store)
    return store
  }

  async function closeAll(): Promise<void> {
    for (const store of open) await store.close()
    open.clear()
  }

  afterEach(closeAll)

  test(
    'target 11: equal the brute-force result in every bucket of every resolution, rolled up or not',
    { timeout: timeoutMs(runs) },
    async () => {
      await check(
        `packages/jobmill/test/observe/exact-${subject.name}.test.ts`,
        histories,
        runs,
        async (steps) => {
          const clock = aClock()
          const store = await opened(clock)
          await store.limits.declare([
            { name: LIMIT, settings: { type: 'rate', amount: 5, perMs: 3_600_000, burst: 5 } },
          ])
          const all = world(store, clock)
          for (const one of steps) await all.step(one)
          await all.endSamples()
          await all.flushAll()
          const isExact = async (): Promise<void> => {
            for (const resolution of [...RESOLUTIONS, MERGED_MS] as const) {
              const metrics = await read(store, clock, resolution)
              expect(counted(metrics)).toEqual({
                queues: all.expected(resolution),
                limits: all.expectedDraws(resolution),
              })
              // A gauge that holds is written once, so a merged bucket may lack a part of its samples.
              if (resolution === MERGED_MS) continue
              checkAllGauges(metrics, resolution, all)
              const { kinds } = await readKinds(store, clock, resolution)
              expect(kinds).toEqual(all.expectedKinds(resolution))
            }
          }
          await isExact()
          while ((await store.metrics.rollUp(7)) > 0);
          await isExact()
          await closeAll()
        },
      )
    },
  )

  test('target 11: metrics written an hour late are added to their old buckets of every size', async () => {
    const clock = aClock()
    const store = faultyStore(await opened(clock))
    const [late, other] = [eventHub(clock), eventHub(clock)]
    const [lateOne, otherOne] = [late, other].map((hub) =>
      observer({ hub, store, platform: clock, instance: systemPlatform.id() }),
    )
    clock.advance(125_000)
    for (const hub of [late, other]) hub.emit('finished', finished('q', 10, 20))
    store.fail('metrics.record')
    await expect(lateOne?.pass()).rejects.toThrow('injected fault')
    await otherOne?.pass()
    while ((await store.metrics.rollUp(10)) > 0);
    // The first bucket is rolled up, and an hour passes.
    clock.advance(3_600_000)
    other.emit('finished', finished('q', 10, 20))
    await otherOne?.pass()
    while ((await store.metrics.rollUp(10)) > 0);
    await lateOne?.pass()

    const done = async (resolution: Resolution): Promise<unknown> =>
      (await store.metrics.read({ scopes: ['queue q'], resolution, from: 0, before: 2e12 })).map(
        ({ at, data }) => [at - START_AT, data.counters, Object.values(data.histograms?.['total'] ?? {})],
      )
    // For each resolution: one bucket with both early jobs, and one an hour later with the third.
    const expected = [120_000, 120_000, 0, 0].map((at) => [
      [at, { done: 2 }, [2]],
      [at + 3_600_000, { done: 1 }, [1]],
    ])
    expect(await Promise.all(RESOLUTIONS.map(done))).toEqual(expected)
    while ((await store.metrics.rollUp(10)) > 0);
    expect(await Promise.all(RESOLUTIONS.map(done))).toEqual(expected)
  })

  test('each process has its own gauges and store timings, complete in every resolution', async () => {
    const clock = aClock()
    const store = await opened(clock)
    const ids = [systemPlatform.id(), systemPlatform.id()].toSorted()
    const all = ids.map((instance) => observer({ hub: eventHub(clock), store, platform: clock, instance }))
    for (const one of all) one.start()
    // Twelve buckets of 10 s: two minutes of one hour.
    clock.advance(5_000)
    for (let n = 0; n < 12; n += 1) {
      for (const one of all) {
        await one.store.queues.list()
        await one.pass()
      }
      clock.advance(10_000)
    }
    const { metrics } = observation({ opened: async () => store, platform: clock })
    const instanceRows = async (resolution: string) =>
      (await metrics({ from: START_AT, instances: ids, resolution })).instances.map(
        ({ instance, points, all }) => [
          ids.indexOf(instance),
          points.map((point) => point.store.read.count),
          all.cpu,
          all.loopLagMs,
        ],
      )
    const gauges = [
      { mean: 0.25, most: 0.25 },
      { mean: 1, most: 5 },
    ]
    const each = (counts: readonly number[]) => [0, 1].map((id) => [id, counts, ...gauges])
    expect(await instanceRows('10s')).toEqual(each(Array<number>(12).fill(1)))
    expect(await instanceRows('1m')).toEqual(each([6, 6]))
    expect(await instanceRows('1h')).toEqual(each([12]))
  })

  test('the timeline lists each event once, newest first and by page, even after lost replies', async () => {
    const clock = aClock()
    const store = faultyStore(await opened(clock))
    const hub = eventHub(clock)
    const instance = systemPlatform.id()
    const watcher = observer({ hub, store, platform: clock, instance })
    const { timeline } = observation({ opened: async () => store, platform: clock })
    const lost = started('a')
    hub.emit('queue-changed', { queue: 'a' })
    clock.advance(1_000)
    hub.emit('store-failing', { part: 'claim', error: new Error('away') })
    store.loseReply('metrics.record')
    await expect(watcher.pass()).rejects.toThrow('injected fault: the reply')
    clock.advance(1_000)
    hub.emit('lease-lost', lost)
    hub.emit('queue-changed', { queue: 'b' })
    await watcher.pass()

    const page = await timeline({ limit: 3 })
    expect(page.events.map(({ type, at, queue, job }) => [type, at - START_AT, queue, job])).toEqual([
      ['queue-changed', 2_000, 'b', null],
      ['lease-lost', 2_000, 'a', lost.id],
      ['store-failing', 1_000, null, null],
    ])
    expect(page.events[2]).toMatchObject({ instance, data: { part: 'claim', error: 'Error: away' } })
    const rest = await timeline({ limit: 3, cursor: page.next ?? '' })
    expect([rest.events.map(({ type, at }) => [type, at - START_AT]), rest.next]).toEqual([
      [['queue-changed', 0]],
      null,
    ])
    const types = async (query: Parameters<typeof timeline>[0]) =>
      (await timeline(query)).events.map(({ type, queue }) => [type, queue])
    expect(await types({ queue: 'a' })).toEqual([
      ['lease-lost', 'a'],
      ['queue-changed', 'a'],
    ])
    expect(await types({ job: lost.id })).toEqual([['lease-lost', 'a']])
    expect(await types({ types: ['store-failing'] })).toEqual([['store-failing', null]])
    expect(await types({ from: START_AT + 1_000, to: START_AT + 2_000 })).toEqual([['store-failing', null]])
  })
}
