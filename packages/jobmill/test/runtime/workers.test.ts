/**
 * The workers of a queue follow the live settings by claiming less. Also covers priorities, order keys and
 * events. Runs on both stores.
 */
import { describe, expect } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { defineJob, type JobContext } from '../../src/index.ts'
import type { TestMill } from '../../src/testing/index.ts'
import { subjects } from './stores.ts'

/** Jobs that run until the test ends them, one by one. */
function holding() {
  const running = new Map<number, { end: () => void; signal: AbortSignal }>()
  const order: number[] = []
  const job = defineJob({
    kind: 'hold',
    run: ({ payload, signal }: JobContext<number>) =>
      new Promise<void>((end) => {
        order.push(payload)
        running.set(payload, { end: () => (running.delete(payload), end()), signal })
      }),
  })
  return { job, running, order }
}

const many = (from: number, to: number): { payload: number }[] =>
  Array.from({ length: to - from + 1 }, (_, at) => ({ payload: from + at }))

async function end(
  mill: TestMill,
  running: ReadonlyMap<number, { end: () => void }>,
  ...which: number[]
): Promise<void> {
  for (const one of which) running.get(one)?.end()
  await mill.platform.settled()
}

describe.each(subjects)('workers on $name', ({ name, mill: create }) => {
  const test = inTurns(name, subjects)
  test('each queue has ten per instance by default, or its own number', async () => {
    const { job, running } = holding()
    const mill = await create({ jobs: [job], serve: ['a', 'b'], queues: { b: { workers: 2 } } })
    await mill.enqueueMany(
      job,
      many(1, 15).map((item) => ({ ...item, queue: 'a' })),
    )
    await mill.enqueueMany(
      job,
      many(21, 25).map((item) => ({ ...item, queue: 'b' })),
    )
    await mill.platform.settled()
    expect([...running.keys()].toSorted((x, y) => x - y)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 21, 22])
    await end(mill, running, 3, 21)
    expect(running.has(11)).toBe(true)
    expect(running.has(23)).toBe(true)
    await end(mill, running, ...running.keys())
    await end(mill, running, ...running.keys())
  })

  test('P7 fewer workers: running jobs continue, and nothing is claimed until there is room', async () => {
    const { job, running } = holding()
    const mill = await create({ jobs: [job], queues: { default: { workers: 3 } } })
    await mill.enqueueMany(job, many(1, 6))
    await mill.platform.settled()
    expect(running.size).toBe(3)
    await mill.changeQueue('default', { workers: 1 })
    await mill.clock.advance('1s')
    expect([...running.values()].map(({ signal }) => signal.aborted)).toEqual([false, false, false])
    await end(mill, running, 1, 2)
    expect([...running.keys()]).toEqual([3])
    await end(mill, running, 3)
    expect([...running.keys()]).toEqual([4])
    await mill.changeQueue('default', { workers: 2 })
    await mill.clock.advance('1s')
    expect([...running.keys()]).toEqual([4, 5])
    await end(mill, running, 4, 5, 6)
    await end(mill, running, 6)
  })

  test('a changed total applies with the next heartbeat, even before it is assigned', async () => {
    const { job, running } = holding()
    let isAway = false
    const mill = await create({ jobs: [job], queues: { default: { workers: 3 } } }, (store) => ({
      ...store,
      instances: {
        ...store.instances,
        assign: (changes) => (isAway ? Promise.reject(new Error('away')) : store.instances.assign(changes)),
      },
    }))
    await mill.clock.advance('2s')
    isAway = true
    await mill.changeQueue('default', { workers: 5 })
    await mill.enqueueMany(job, many(1, 6))
    await mill.clock.advance('1s')
    // Some were leased when they were enqueued, and the others were claimed: either may start first.
    expect([...running.keys()].toSorted((x, y) => x - y)).toEqual([1, 2, 3, 4, 5])
    await end(mill, running, ...running.keys())
    await end(mill, running, ...running.keys())
  })

  test('P7 a paused queue finishes running jobs; resumed, it continues within a second', async () => {
    const { job, running } = holding()
    const mill = await create({ jobs: [job], queues: { default: { workers: 1 } } })
    await mill.enqueueMany(job, many(1, 2))
    await mill.platform.settled()
    await mill.pause('default')
    await mill.clock.advance('1s')
    expect(running.get(1)?.signal.aborted).toBe(false)
    await end(mill, running, 1)
    await mill.clock.advance('1m')
    expect(running.size).toBe(0)
    await mill.resume('default')
    await mill.clock.advance('1s')
    expect([...running.keys()]).toEqual([2])
    await end(mill, running, 2)
  })

  test('the instances that serve a queue share its total', async () => {
    const { job, running } = holding()
    const mill = await create({ jobs: [job], queues: { default: { workers: 5 } } })
    const other = {
      label: null,
      version: null,
      queues: ['default'],
      kinds: ['hold'],
      onDead: [],
      capacity: 10,
    }
    await mill.store.instances.register({ ...other, id: mill.platform.id(), leaseMs: 3_600_000 })
    await mill.clock.advance('2s')
    await mill.enqueueMany(job, many(1, 9))
    await mill.platform.settled()
    // Five workers for two instances: one gets two, the other three.
    expect([2, 3]).toContain(running.size)
    await end(mill, running, ...running.keys())
    await end(mill, running, ...running.keys())
    await end(mill, running, ...running.keys())
    await end(mill, running, ...running.keys())
  })

  test('lower priorities first, then in the order in which jobs became ready', async () => {
    const { job, running, order } = holding()
    const mill = await create({ jobs: [job], queues: { default: { workers: 1 } } })
    await mill.enqueue(job, 0)
    await mill.platform.settled()
    await mill.enqueueMany(job, [
      { payload: 1 },
      { payload: 2, priority: -1 },
      { payload: 3 },
      { payload: 4, priority: 5 },
    ])
    for (const next of [0, 2, 1, 3, 4]) await end(mill, running, next)
    expect(order).toEqual([0, 2, 1, 3, 4])
  })

  test('jobs with one order key run one at a time, in order, and the next starts at once', async () => {
    const { job, running, order } = holding()
    const mill = await create({ jobs: [job] })
    const startedAt = mill.clock.now()
    await mill.enqueueMany(job, [
      { payload: 1, orderKey: 'chat 1' },
      { payload: 2, orderKey: 'chat 1' },
      { payload: 11, orderKey: 'chat 2' },
      { payload: 3, orderKey: 'chat 1' },
    ])
    await mill.platform.settled()
    expect([...running.keys()]).toEqual([1, 11])
    await end(mill, running, 1)
    expect([...running.keys()]).toEqual([11, 2])
    await end(mill, running, 2)
    expect([...running.keys()]).toEqual([11, 3])
    await end(mill, running, 3, 11)
    expect(order).toEqual([1, 11, 2, 3])
    expect(mill.clock.now()).toBe(startedAt)
  })

  test('P9 a job is ready within a second of its due time, by the clock of the database', async () => {
    const { job, running } = holding()
    const mill = await create({ jobs: [job] })
    await mill.enqueue(job, 1, { runAt: mill.clock.now() + 90_000 })
    await mill.clock.advance(89_999)
    expect(running.size).toBe(0)
    await mill.clock.advance(1_001)
    expect(running.size).toBe(1)
    await end(mill, running, 1)
  })

  test('events report every step, and a listener that throws changes nothing', async () => {
    const job = defineJob({
      kind: 'a',
      backoff: { fixed: '1s' },
      run: ({ attempt }) => (attempt === 1 ? Promise.reject(new Error('no')) : 1),
    })
    const mill = await create({ jobs: [job] })
    const off = mill.on('*', () => {
      throw new Error('a listener')
    })
    const retries: string[] = []
    mill.on('retried', ({ kind, attempt, maxAttempts, delayMs, error }) =>
      retries.push(`${kind} ${attempt}/${maxAttempts} ${delayMs} ${error}`),
    )
    await mill.enqueue(job, null, { dedupeKey: 'k' })
    await mill.enqueue(job, null, { dedupeKey: 'k' })
    await mill.drain({ scheduled: true })
    off()
    expect(retries).toEqual(['a 1/5 1000 Error: no'])
    expect(mill.eventCounts.errors).toBeGreaterThan(3)
    const types = mill.events.map(({ type }) => type)
    for (const type of ['mill-started', 'enqueued', 'duplicate', 'started', 'retried', 'finished'] as const)
      expect(types).toContain(type)
  })
})
