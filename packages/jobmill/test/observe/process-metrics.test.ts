// The metrics that a process writes about itself: one sample per 10 s, and complete minutes and hours.
import { describe, expect, test } from 'vitest'
import type { MetricData } from '../../src/job/metric-data.ts'
import { processMetrics } from '../../src/observe/process-metrics.ts'
import { systemPlatform } from '../../src/platform/platform.ts'
import { aClock, type Clock, histogramOf } from './bench.ts'

function aProcess(clock: Clock = aClock()) {
  const store: { timed: MetricData; dropped: number } = { timed: {}, dropped: 0 }
  const own = processMetrics({
    platform: clock,
    timings() {
      const timings = store.timed
      store.timed = {}
      return timings
    },
    dropped: () => store.dropped,
  })
  return { own, store, clock }
}

const counts = ({ data }: { data: MetricData }): number | undefined => data.gauges?.['cpu']?.count

describe('metrics of a process', () => {
  test('are due once every 10 s, in the second half, and only while it is measured', () => {
    const { own, clock } = aProcess()
    clock.advance(5_000)
    expect(own.isDue()).toBe(false)
    own.start()
    expect(own.isDue()).toBe(true)
    own.sample()
    expect(own.isDue()).toBe(false)
    clock.advance(9_999)
    expect(own.isDue()).toBe(false)
    clock.advance(1)
    expect(own.isDue()).toBe(true)
    own.stop()
    expect(own.isDue()).toBe(false)
  })

  test('are written for buckets of every size, with the middle of the 10 s as their time', () => {
    const { own, clock, store } = aProcess()
    own.start()
    clock.advance(38_000)
    store.timed = { histograms: { 'store.write': histogramOf([4]) } }
    own.sample()
    const data = {
      gauges: {
        cpu: { sum: 0.25, count: 1, most: 0.25 },
        rssBytes: { sum: 100_000_000, count: 1, most: 100_000_000 },
        heapBytes: { sum: 50_000_000, count: 1, most: 50_000_000 },
        loopLagMs: { sum: 1, count: 1, most: 5 },
      },
      histograms: { 'store.write': histogramOf([4]) },
    }
    expect(own.take(10)).toEqual([
      { resolution: 10_000, at: 35_000, data },
      { resolution: 60_000, at: 35_000, data },
      { resolution: 300_000, at: 35_000, data },
      { resolution: 3_600_000, at: 35_000, data },
    ])
    expect(own.isEmpty()).toBe(true)
  })

  test('cover their whole bucket so far each time, and start over with the next', () => {
    const { own, clock, store } = aProcess()
    own.start()
    clock.advance(5_000)
    const readings: (number | undefined)[][] = []
    let last: readonly { data: MetricData }[] = []
    for (let n = 1; n <= 361; n += 1) {
      store.timed = { counters: { 'store.failures': 1 } }
      own.sample()
      last = own.take(10)
      readings.push(last.map(counts))
      clock.advance(10_000)
    }
    expect([readings[0], readings[5], readings[6], readings[359], readings[360]]).toEqual([
      [1, 1, 1, 1],
      [1, 6, 6, 6],
      [1, 1, 7, 7],
      [1, 6, 30, 360],
      [1, 1, 1, 1],
    ])
    expect(last[3]?.data.counters).toEqual({ 'store.failures': 1 })
  })

  test('that are not written yet are replaced by newer ones of the same bucket, and bounded', () => {
    const { own, clock } = aProcess()
    own.start()
    clock.advance(5_000)
    for (let n = 0; n < 6; n += 1) {
      own.sample()
      clock.advance(10_000)
    }
    const rows = own.take(100)
    expect(rows.map(({ resolution }) => resolution).toSorted((a, b) => a - b)).toEqual([
      ...Array<number>(6).fill(10_000),
      60_000,
      300_000,
      3_600_000,
    ])
    expect(rows.filter(({ resolution }) => resolution === 60_000).map(counts)).toEqual([6])
    for (let n = 0; n < 3_000; n += 1) {
      own.sample()
      clock.advance(10_000)
    }
    expect(own.take(10_000)).toHaveLength(1_000)
  })

  test('include the number of events dropped since the previous sample', () => {
    const { own, clock, store } = aProcess()
    own.start()
    store.dropped = 7
    own.sample()
    clock.advance(10_000)
    own.sample()
    store.dropped = 9
    clock.advance(10_000)
    own.sample()
    const tens = own.take(10).filter(({ resolution }) => resolution === 10_000)
    expect(tens.map(({ data }) => data.counters?.['eventsDropped'])).toEqual([7, undefined, 2])
  })
})

describe('the gauges of the system', () => {
  test('report the resource usage of the process and the event loop lag', async () => {
    const gauges = systemPlatform.gauges()
    const first = gauges.read()
    expect(first.rssBytes).toBeGreaterThan(first.heapBytes)
    expect(first.heapBytes).toBeGreaterThan(1_000_000)
    // Right after a reading nothing is known of the loop, which is not lag.
    expect(gauges.read().loopLagMs).toEqual({ mean: 0, most: 0 })
    const late = await untilLate(() => gauges.read())
    expect(late.loopLagMs.most).toBeGreaterThanOrEqual(late.loopLagMs.mean)
    expect(late.cpu).toBeGreaterThan(0)
    gauges.stop()
    gauges.stop()
  })
})

/** Blocks the loop until a reading shows it: the first interval after a reading is not measured. */
async function untilLate(read: () => ReturnType<ReturnType<typeof systemPlatform.gauges>['read']>) {
  for (;;) {
    await new Promise<void>((resolve) => void systemPlatform.timer(50, resolve))
    const until = systemPlatform.monotonic() + 60
    while (systemPlatform.monotonic() < until);
    await new Promise<void>((resolve) => void systemPlatform.timer(50, resolve))
    const reading = read()
    if (reading.loopLagMs.most > 30) return reading
  }
}
