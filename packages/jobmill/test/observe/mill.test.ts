// Whole mills on each store: any process can read their metrics, while they work and after they have stopped.
import { describe, expect } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { defineJob, type JobContext } from '../../src/index.ts'
import { faultyStore, testMill, testPlatform } from '../../src/testing/index.ts'
import { lent, subjects } from '../runtime/stores.ts'
import { START_AT } from './bench.ts'

const work = defineJob({
  kind: 'work',
  maxAttempts: 2,
  run({ payload }: JobContext<{ fails: boolean }>) {
    if (payload.fails) throw new Error('x')
  },
})

const draws = defineJob({
  kind: 'draws',
  async run({ limit }: JobContext) {
    await limit.tryAcquire('smtp')
  },
})

const WHOLE_HOUR = { resolution: '1h', from: START_AT } as const

describe.each(subjects)('a mill on $name', ({ name, mill: aMill }) => {
  const test = inTurns(name, subjects)
  test('reports the metrics of its jobs, its resources, and its timeline', async () => {
    const mill = await aMill({
      jobs: [work],
      instance: { version: '2.15.0' },
      platform: testPlatform({ startAt: START_AT }),
    })
    for (const fails of [false, false, false, true]) await mill.enqueue(work, { fails })
    await mill.clock.advance('15s')
    await mill.pause('default')
    await mill.clock.advance('15s')

    const { queues, instances } = await mill.metrics(WHOLE_HOUR)
    const [queue] = queues
    expect(queues.map(({ queue: name }) => name)).toEqual(['default'])
    expect(queue?.all.counters).toMatchObject({ enqueued: 4, started: 5, done: 3, retried: 1, dead: 1 })
    expect([queue?.all.waiting.count, queue?.all.running.count, queue?.all.total.count]).toEqual([5, 5, 3])
    const { kinds, queues: none } = await mill.metrics({ ...WHOLE_HOUR, kinds: ['work', 'nobodys'] })
    expect(kinds.map(({ kind, all }) => [kind, all.ended.done, all.ended.retried, all.ended.dead])).toEqual([
      ['work', 3, 1, 1],
    ])
    expect([kinds[0]?.all.running.count, none]).toEqual([5, []])
    expect(kinds[0]?.all.byVersion).toEqual({ '2.15.0': { attempts: 5, failed: 2 } })
    expect(instances.map(({ instance }) => instance)).toEqual([mill.instance.id])
    expect(instances[0]?.all.cpu).toEqual({ mean: 0.25, most: 0.25 })
    expect(instances[0]?.all.store.heartbeat.count).toBeGreaterThan(20)
    expect(instances[0]?.all.store.write.count).toBeGreaterThan(5)

    const { events } = await mill.timeline({ types: ['mill-started', 'queue-changed'] })
    expect(events.map(({ type, instance, queue: name }) => [type, instance, name])).toEqual([
      ['queue-changed', mill.instance.id, 'default'],
      ['mill-started', mill.instance.id, null],
    ])
  })

  test('reports gauges of queues and limits and what limits granted; one process samples for all, and skips empty ones', async () => {
    const platform = testPlatform({ startAt: START_AT })
    const options = {
      jobs: [work, draws],
      queues: { default: {}, held: { paused: true }, empty: {} },
      limits: { smtp: { rate: 2, per: '1h', burst: 2 }, unused: { concurrency: 3 } },
      platform,
    } as const
    const mill = await aMill(options)
    const other = await testMill({ ...options, store: () => lent(mill) })
    for (let n = 0; n < 3; n += 1) await mill.enqueue(draws, null)
    await mill.enqueue(work, { fails: false }, { queue: 'held' })
    await mill.enqueue(work, { fails: false }, { queue: 'held', delay: '1h' })
    // Six samples, and the first of the next minute.
    // Without a leap, which skips the samples in between.
    await mill.platform.advance('75s')

    const { queues, limits } = await mill.metrics({ ...WHOLE_HOUR, resolution: '1m' })
    expect(queues.map(({ queue }) => queue)).toEqual(['default', 'held'])
    const [first, next] = queues[1]?.points ?? []
    const one = { mean: 1, most: 1 }
    const none = { mean: 0, most: 0 }
    expect(first?.counts).toMatchObject({ scheduled: one, ready: one, running: none, dead: none })
    // About every 10 s from the 5th second on.
    expect(first?.counts.oldestReadyMs?.most).toBeGreaterThanOrEqual(55_000)
    expect(first?.counts.oldestReadyMs?.mean).toBeGreaterThanOrEqual(30_000)
    expect(next?.counts.ready).toEqual(one)
    expect(limits.map(({ limit }) => limit)).toEqual(['smtp'])
    expect(limits[0]?.all).toEqual({
      available: none,
      held: none,
      granted: 2,
      refused: 1,
      byKind: { draws: { granted: 2, refused: 1 } },
    })
    const [sampled] = await mill.store.metrics.read({
      scopes: ['queue held'],
      resolution: 60_000,
      from: START_AT,
      before: START_AT + 60_000,
    })
    expect(sampled?.data.gauges?.['ready']).toEqual({ sum: 6, count: 6, most: 1 })
    await other.stop({ grace: 0 })
  })

  test('reports the total waiting time, through delays and retries', async () => {
    const mill = await aMill({ jobs: [work], platform: testPlatform({ startAt: START_AT }) })
    await mill.enqueue(work, { fails: false }, { delay: '20s' })
    await mill.clock.advance('25s')
    const { queues } = await mill.metrics(WHOLE_HOUR)
    const { p50 } = queues[0]?.all.total ?? {}
    // To within 4%, and a job may be a second late.
    expect(p50).toBeGreaterThanOrEqual(20_000)
    expect(p50).toBeLessThanOrEqual(21_000 * 1.04)
  })

  test('loses no metrics while they cannot be written, and writes the rest when it stops', async () => {
    const platform = testPlatform({ startAt: START_AT })
    const faults: { store?: ReturnType<typeof faultyStore> } = {}
    const mill = await aMill({ jobs: [work], platform }, (plain) => (faults.store = faultyStore(plain)))
    // Another mill that only reads, on the same database.
    const onlooker = await testMill({ platform, store: () => mill.store, start: false })
    await onlooker.open()
    faults.store?.fail('metrics.record', { times: 10 })
    await mill.enqueue(work, { fails: false })
    await mill.clock.advance('3s')
    await mill.enqueue(work, { fails: false })
    await mill.clock.advance('1s')
    await mill.enqueue(work, { fails: false })
    await mill.drain()
    expect((await onlooker.metrics(WHOLE_HOUR)).queues).toEqual([])
    faults.store?.clear()
    await mill.stop()
    const { queues } = await onlooker.metrics(WHOLE_HOUR)
    expect(queues[0]?.all.counters).toMatchObject({ enqueued: 3, started: 3, done: 3 })
    const { events } = await onlooker.timeline({ types: ['mill-stopped', 'duty-failing'] })
    expect(events.map(({ type, data }) => [type, data['duty']])).toEqual([
      ['mill-stopped', undefined],
      ['duty-failing', 'flush'],
    ])
    await onlooker.stop()
    expect(platform.pendingTimers).toBe(0)
  })

  test('reports metrics of a process that only enqueues', async () => {
    const platform = testPlatform({ startAt: START_AT })
    const mill = await aMill({ jobs: [work], platform, start: false })
    await mill.enqueue(work, { fails: false })
    await mill.clock.advance('2s')
    const { queues, instances } = await mill.metrics(WHOLE_HOUR)
    expect(queues.map(({ queue, all }) => [queue, all.counters.enqueued])).toEqual([['default', 1]])
    expect(instances).toEqual([])
  })
})
