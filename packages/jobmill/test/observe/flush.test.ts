// A flush is written once, whatever fails; without changes there is no statement.
import { describe, expect, test } from 'vitest'
import { JobmillError } from '../../src/job/errors.ts'
import { eventHub } from '../../src/observe/event-hub.ts'
import { observer } from '../../src/observe/observer.ts'
import { systemPlatform } from '../../src/platform/platform.ts'
import type { Recording } from '../../src/store/types/metrics.ts'
import type { FullStore } from '../../src/store/store.ts'
import { faultyStore, testPlatform } from '../../src/testing/index.ts'
import { oracle, oracleDatabase } from '../../../conformance/src/index.ts'
import { aClock, START_AT, started } from './bench.ts'

const unknown = (): JobmillError => new JobmillError('OUTCOME_UNKNOWN', 'lost')
const unavailable = (): JobmillError => new JobmillError('STORE_UNAVAILABLE', 'away')

/** A process on a store that only has `record`, with a planned answer for each call. */
function aProcess() {
  const clock = aClock()
  const hub = eventHub(clock)
  const sent: Recording[] = []
  const plan: Error[] = []
  const record = async (recording: Recording): Promise<void> => {
    sent.push(recording)
    const error = plan.shift()
    if (error !== undefined) throw error
  }
  const instance = systemPlatform.id()
  const watcher = observer({
    hub,
    store: recordingBy(record),
    platform: clock,
    instance,
  })
  watcher.start()
  return { clock, hub, sent, plan, watcher, instance }
}

function recordingBy(record: FullStore['metrics']['record']): FullStore {
  const store = oracle(oracleDatabase(), { clock: () => 0 })
  return { ...store, metrics: { ...store.metrics, record } }
}

describe('a flush', () => {
  test('without anything to write runs no statement', async () => {
    const { watcher, sent, hub } = aProcess()
    hub.emit('duty-done', { duty: 'stage', counts: {}, tookMs: 1 })
    expect(watcher.needed()).toBe(false)
    expect(await watcher.pass()).toEqual({ recordings: 0, metrics: 0, events: 0 })
    expect(sent).toEqual([])
  })

  test('writes metrics, events and samples in one recording, each with its age, and counts them', async () => {
    const { watcher, sent, hub, clock, instance } = aProcess()
    hub.emit('started', started('q', 5))
    hub.emit('queue-changed', { queue: 'q' })
    clock.advance(8_000)
    expect(watcher.needed()).toBe(true)
    expect(await watcher.pass()).toEqual({ recordings: 1, metrics: 5, events: 1 })
    const [recording] = sent
    expect(recording).toMatchObject({ source: instance, seq: 1 })
    expect(recording?.deltas.map(({ scope, agoMs }) => [scope, agoMs])).toEqual([['queue q', 8_000]])
    expect(recording?.own.map(({ scope, agoMs, resolution }) => [scope, agoMs, resolution])).toEqual([
      [`instance ${instance}`, 3_000, 10_000],
      [`instance ${instance}`, 3_000, 60_000],
      [`instance ${instance}`, 3_000, 300_000],
      [`instance ${instance}`, 3_000, 3_600_000],
    ])
    expect(recording?.events).toEqual([
      { type: 'queue-changed', agoMs: 8_000, queue: 'q', job: null, data: '{}' },
    ])
    expect(watcher.needed()).toBe(false)
    hub.emit('queue-changed', { queue: 'q' })
    await watcher.pass()
    expect(sent.map(({ seq }) => seq)).toEqual([1, 2])
  })

  test.each([
    ['fails', unavailable()],
    ['is not answered', unknown()],
  ])('that %s is sent again unchanged, with its number, before anything new', async (_, error) => {
    const { watcher, sent, hub, clock, plan } = aProcess()
    plan.push(error, unavailable())
    hub.emit('started', started('q'))
    await expect(watcher.pass()).rejects.toBe(error)
    clock.advance(1_000)
    hub.emit('started', started('q'))
    await expect(watcher.pass()).rejects.toThrow('away')
    clock.advance(1_000)
    expect(watcher.needed()).toBe(true)
    expect(await watcher.pass()).toEqual({ recordings: 2, metrics: 2, events: 0 })
    expect(sent.map(({ seq, deltas }) => [seq, deltas[0]?.agoMs, deltas[0]?.data.counters])).toEqual([
      [1, 0, { started: 1 }],
      [1, 1_000, { started: 1 }],
      [1, 2_000, { started: 1 }],
      [2, 1_000, { started: 1 }],
    ])
  })

  test('writes large amounts in several recordings, and checks its signal between them', async () => {
    const { watcher, sent, hub } = aProcess()
    const stop = new AbortController()
    for (let n = 0; n < 1_200; n += 1) hub.emit('queue-changed', { queue: `q${n}` })
    expect(await watcher.pass()).toEqual({ recordings: 3, metrics: 0, events: 1_200 })
    expect(sent.map(({ events }) => events.length)).toEqual([500, 500, 200])
    for (let n = 0; n < 1_200; n += 1) hub.emit('queue-changed', { queue: `q${n}` })
    stop.abort()
    expect(await watcher.pass(stop.signal)).toEqual({ recordings: 1, metrics: 0, events: 500 })
    expect(await watcher.pass()).toMatchObject({ events: 700 })
  })

  test('leaves what happens during it to the next flush, so that it ends under load', async () => {
    const { clock } = aProcess()
    const hub = eventHub(clock)
    const record = async (): Promise<void> => hub.emit('started', started('q'))
    const watcher = observer({
      hub,
      store: recordingBy(record),
      platform: clock,
      instance: systemPlatform.id(),
    })
    hub.emit('started', started('q'))
    expect(await watcher.pass()).toEqual({ recordings: 1, metrics: 1, events: 0 })
    expect(watcher.needed()).toBe(true)
    watcher.rest()
  })
})

/** A process that was not started, on a store that can fail. */
async function scene() {
  const platform = testPlatform({ startAt: START_AT })
  const store = faultyStore(platform.track(oracle(oracleDatabase(), { clock: platform.now })))
  await store.open()
  const hub = eventHub(platform)
  const watcher = observer({ hub, store, platform, instance: systemPlatform.id() })
  const counters = async () =>
    (await store.metrics.read({ resolution: 10_000, from: 0, before: 2e12 })).map(({ scope, data }) => [
      scope.split(' ')[0],
      data.counters,
    ])
  return { platform, store, hub, watcher, counters }
}

describe('an observer', () => {
  test('of a process that only enqueues flushes two seconds after an event, until it succeeds', async () => {
    const { platform, store, hub, counters } = await scene()
    expect(platform.pendingTimers).toBe(0)
    store.fail('metrics.record')
    hub.emit('started', started('q'))
    hub.emit('started', started('q'))
    await platform.advance(1_999)
    expect(store.calls('metrics.record')).toBe(0)
    await platform.advance(1)
    expect([store.calls('metrics.record'), await counters()]).toEqual([1, []])
    await platform.advance(2_000)
    expect([store.calls('metrics.record'), await counters()]).toEqual([2, [['queue', { started: 2 }]]])
    await platform.advance(60_000)
    expect([store.calls('metrics.record'), platform.pendingTimers]).toEqual([2, 0])
  })

  test('of a working process leaves flushing to the duty, and measures the process', async () => {
    const { platform, store, hub, watcher, counters } = await scene()
    hub.emit('started', started('q'))
    watcher.start()
    watcher.start()
    hub.emit('started', started('q'))
    await platform.advance(5_000)
    expect([store.calls('metrics.record'), platform.pendingTimers]).toEqual([0, 0])
    await watcher.pass()
    expect(await counters()).toEqual([
      ['instance', undefined],
      ['queue', { started: 2 }],
    ])
  })

  test('flushes the rest when it stops, and nothing afterwards', async () => {
    const { platform, store, hub, watcher, counters } = await scene()
    hub.emit('started', started('q'))
    await watcher.stop()
    expect([await counters(), platform.pendingTimers]).toEqual([[['queue', { started: 1 }]], 0])
    hub.emit('started', started('q'))
    await platform.advance(60_000)
    expect(store.calls('metrics.record')).toBe(1)
    await watcher.stop()
    expect(store.calls('metrics.record')).toBe(2)
  })

  test('rejects if the rest cannot be written, instead of retrying endlessly', async () => {
    const { platform, store, hub, watcher } = await scene()
    store.fail('metrics.record', { times: Number.POSITIVE_INFINITY })
    hub.emit('started', started('q'))
    await expect(watcher.stop()).rejects.toThrow('injected fault')
    expect(platform.pendingTimers).toBe(0)
  })

  test('times the store that it wraps', async () => {
    const { platform, store, watcher } = await scene()
    watcher.start()
    await watcher.store.queues.list()
    await platform.advance(5_000)
    await watcher.pass()
    const [own] = await store.metrics.read({ resolution: 3_600_000, from: 0, before: 2e12 })
    expect(own?.data.histograms).toEqual({ 'store.read': { 0: 1 } })
  })
})
