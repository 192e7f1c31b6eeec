/**
 * Another process on the same file, for state that processes share. It receives the path and a task, and
 * sends what was granted to it.
 */
import { sqlite } from '../../src/sqlite.ts'
import type { FullStore } from '../../src/store/store.ts'
import {
  aClaim,
  aJob,
  anInstance,
  aHeartbeat,
  anAcquire,
  KIND,
  QUEUE,
} from '../../../conformance/src/factories.ts'

export type Task = 'tick' | 'take' | 'work' | 'record' | 'lead'

export const SCHEDULE = 'every-second'
export const INSTANTS = 60
export const ASKS = 40
export const FLUSHES = 25

const tasks: Readonly<Record<Task, (store: FullStore) => Promise<void>>> = {
  /** Runs the ticks of a schedule as fast as it can, while other processes do the same. */
  tick: async (store) => {
    for (;;) {
      const [schedule] = await store.schedules.list()
      if (schedule === undefined || (schedule.nextAt ?? 0) > INSTANTS * 1_000) return
      const { nextAt: from, revision } = schedule
      const fires = from === null ? [] : [{ at: from, job: aJob() }]
      const step = { schedule: SCHEDULE, revision, from, nextAt: (from ?? 0) + 1_000, fires, missed: 0 }
      for (const { fired } of await store.schedules.tick([step])) for (const { at } of fired) tell(String(at))
    }
  },

  take: async (store) => {
    for (let ask = 0; ask < ASKS; ask += 1) {
      const [reply] = await store.limits.acquire([anAcquire('rate')])
      tell(reply?.outcome ?? '')
    }
  },

  /** Runs jobs of a limited queue, and counts how many run in total. */
  work: async (store) => {
    const instance = anInstance({ leaseMs: 600_000 })
    await store.instances.register(instance)
    for (;;) {
      const leases = await store.claim(aClaim(instance.id))
      const [queue] = await store.counts()
      const [limit] = await store.limits.list()
      tell(String(Math.max(queue?.running ?? 0, limit?.held ?? 0)))
      await store.finish(
        leases.map(({ id, token }, at) => ({
          id,
          token,
          outcome: 'returned',
          // Some return to waiting, and must release their permit too.
          transition: at % 2 === 0 ? { to: 'done', result: null } : { to: 'ready' },
        })),
      )
      if (leases.length === 0 && queue?.ready === 0) break
    }
    await store.instances.deregister(instance.id)
  },

  record: async (store) => {
    const { id: source } = anInstance()
    const figure = { scope: `queue ${QUEUE}`, agoMs: 0, data: { counters: { done: 1 } } }
    for (let seq = 1; seq <= FLUSHES; seq += 1) {
      const event = { type: 'seen', agoMs: 0, queue: QUEUE, job: null, data: '{}' }
      const recording = { source, seq, deltas: [figure], own: [], events: [event] }
      // Sent twice, as after a lost answer.
      await Promise.all([store.metrics.record(recording), store.metrics.record(recording)])
      await store.metrics.rollUp(3)
    }
  },

  /** Sends heartbeats until it is killed, and reports when it became a leader. */
  lead: async (store) => {
    const instance = anInstance({ leaseMs: 3_000 })
    await store.instances.register(instance)
    const duties = [{ name: 'schedule', succeededAgoMs: null, failures: 0 }]
    tell('alive')
    for (let led = false; ;) {
      const heartbeat = await store.instances.renew(
        aHeartbeat(instance.id, { leaseMs: 3_000, renewEveryMs: 200, kinds: [KIND], duties }),
      )
      if (heartbeat.leads.length > 0 && !led) tell(instance.id)
      led = heartbeat.leads.length > 0
      await store.notifier.wait({ queues: [], timeoutMs: 20 })
    }
  },
}

function tell(message: string): void {
  process.send?.(message)
}

if (process.send !== undefined && process.argv[2] !== undefined) {
  const { path, task } = JSON.parse(process.argv[2]) as { path: string; task: Task }
  const store = sqlite(path)
  await store.open()
  await tasks[task](store)
  await store.close()
  process.disconnect()
}
