// State that processes share, with several real processes on one file. None of them ever sees a lock error.
import { describe, expect, test } from 'vitest'
import { DEFAULT_QUEUE_SETTINGS } from '../../src/job/queue/queue-settings.ts'
import { aDefinition, QUEUE, someJobs } from '../../../conformance/src/factories.ts'
import { kill, type Started, startProcess } from '../processes/children.ts'
import { ASKS, FLUSHES, INSTANTS, SCHEDULE, type Task } from './cluster-process.ts'
import { freshFile, openStore } from './support.ts'

const LONG = 60_000

function start(path: string, task: Task): Started {
  return startProcess('../sqlite/cluster-process.ts', { path, task })
}

/** Waits until it has sent that many messages. */
function says(process: Started, words: number): Promise<void> {
  return process.untilMessages((messages) => messages.length >= words)
}

async function four(path: string, task: Task): Promise<string[]> {
  const processes = Array.from({ length: 4 }, () => start(path, task))
  await Promise.all(processes.map(({ ended }) => ended))
  return processes.flatMap(({ messages }) => messages)
}

describe('sqlite: several processes on one file', () => {
  test(
    'P12 four processes that serve the same schedule serve every tick once',
    { timeout: LONG },
    async () => {
      const path = freshFile()
      const store = await openStore(path)
      await store.schedules.declare([{ name: SCHEDULE, version: 1, definition: aDefinition() }])
      const served = await four(path, 'tick')
      const instants = Array.from({ length: INSTANTS }, (_, at) => (at + 1) * 1_000)
      expect(served.map(Number).toSorted((a, b) => a - b)).toEqual(instants)
      expect((await store.schedules.ticks(SCHEDULE, 10_000)).map(({ at }) => at)).toEqual(
        instants.toReversed(),
      )
      expect(await store.counts()).toMatchObject([{ ready: INSTANTS }])
    },
  )

  test('P13 four processes that use one rate get no more tokens than it has', { timeout: LONG }, async () => {
    const path = freshFile()
    const store = await openStore(path)
    // A token returns in a year, so the burst is all there is.
    const settings = { type: 'rate', amount: 1, perMs: 365 * 86_400_000, burst: 50 } as const
    await store.limits.declare([{ name: 'rate', settings }])
    const outcomes = await four(path, 'take')
    expect(outcomes).toHaveLength(4 * ASKS)
    expect(outcomes.filter((outcome) => outcome === 'granted')).toHaveLength(50)
  })

  test(
    'P13 four processes on a limited queue never run more jobs at once than allowed, and finish all',
    { timeout: LONG },
    async () => {
      const path = freshFile()
      const store = await openStore(path)
      await store.limits.declare([{ name: 'few', settings: { type: 'concurrency', most: 3 } }])
      await store.queues.declare([{ name: QUEUE, settings: { ...DEFAULT_QUEUE_SETTINGS, limit: 'few' } }])
      await store.enqueue(someJobs(Array.from({ length: 100 }, () => ({}))))
      const most = Math.max(...(await four(path, 'work')).map(Number))
      expect(most).toBeLessThanOrEqual(3)
      expect(most).toBeGreaterThan(0)
      expect(await store.counts()).toMatchObject([{ ready: 0, running: 0, done: 100 }])
      expect(await store.limits.list()).toMatchObject([{ held: 0, available: 3 }])
    },
  )

  test(
    'metrics that four processes record and roll up add up, and each event is stored once',
    { timeout: LONG },
    async () => {
      const path = freshFile()
      const store = await openStore(path)
      await four(path, 'record')
      for (const resolution of [10_000, 60_000, 3_600_000] as const) {
        const records = await store.metrics.read({ resolution, from: 0, before: 7_258_118_400_000 })
        const done = records.reduce((sum, { data }) => sum + (data.counters?.['done'] ?? 0), 0)
        expect(done).toBe(4 * FLUSHES)
      }
      const events = await store.metrics.timeline({ limit: 500 })
      const numbers = Array.from({ length: 4 * FLUSHES }, (_, at) => 4 * FLUSHES - at)
      expect(events.map(({ n }) => n)).toEqual(numbers)
    },
  )

  test(
    'one process leads; after it is killed another one leads, once the lease expires',
    { timeout: LONG },
    async () => {
      const path = freshFile()
      const store = await openStore(path)
      const [first, second] = [start(path, 'lead'), start(path, 'lead')]
      await Promise.all([says(first, 1), says(second, 1)])
      await Promise.race([says(first, 2), says(second, 2)])
      const [leader, other] = first.messages.length > 1 ? [first, second] : [second, first]
      expect(await store.instances.duties()).toMatchObject([{ name: 'schedule', leader: leader.messages[1] }])
      expect(other.messages).toEqual(['alive'])
      await kill(leader)
      await says(other, 2)
      expect(await store.instances.duties()).toMatchObject([{ leader: other.messages[1] }])
      await kill(other)
    },
  )
})
