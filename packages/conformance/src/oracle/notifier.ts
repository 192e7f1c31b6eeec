/** Notifications between handles of one process. */
import { systemPlatform, waiters, type Waiters, wakeAll, type WakeUp } from 'jobmill/store'
import { heldOf } from './limits.ts'
import type { OracleState } from './state.ts'

export interface Notification {
  /** The waiters of one handle. */
  join(): Waiters
  leave(room: Waiters): void
  /** All receivers get the same seed, so that they agree on the order of instances for each queue. */
  notify(wakeUps: readonly Omit<WakeUp, 'seed'>[]): void
  /** Forwards a notification to waiters at other handles. */
  pass(wakeUp: WakeUp, from: Waiters): void
}

export function createNotifier(): Notification {
  const rooms = new Set<Waiters>()
  let seed = 0
  return {
    join() {
      const room = waiters(systemPlatform)
      rooms.add(room)
      return room
    },
    leave(room) {
      rooms.delete(room)
      room.end()
    },
    notify(wakeUps) {
      seed += 1
      for (const room of rooms) room.wake(wakeUps.map((wakeUp) => ({ ...wakeUp, seed })))
    },
    pass(wakeUp, from) {
      for (const room of rooms) if (room !== from) room.wake([wakeUp])
    },
  }
}

/** A snapshot of the state, to find out afterwards what to notify. */
export interface Before {
  readonly ready: ReadonlySet<string>
  readonly held: ReadonlyMap<string, number>
}

export function lookBefore(state: OracleState): Before {
  return { ready: new Set(readyJobs(state).map(({ id }) => id)), held: permitsOut(state) }
}

/** Queues in which jobs became ready, and queues whose limit got permits back. */
export function wakeUpsSince(before: Before, state: OracleState): Omit<WakeUp, 'seed'>[] {
  const fresh = readyJobs(state).filter(({ id }) => !before.ready.has(id))
  const now = permitsOut(state)
  const freed = [...before.held].filter(([name, held]) => held > (now.get(name) ?? 0)).map(([name]) => name)
  const waiting = [...state.queues].filter(([, { settings }]) => freed.includes(settings.limit ?? ''))
  return [
    ...[...Map.groupBy(fresh, ({ queue }) => queue)].map(([queue, jobs]) => ({
      queue,
      jobs: jobs.length,
      skip: 0,
      passes: true,
    })),
    ...waiting.map(([queue]) => wakeAll(queue)),
  ]
}

function readyJobs(state: OracleState): { readonly id: string; readonly queue: string }[] {
  return [...state.jobs.values()].filter((job) => job.state === 'ready')
}

function permitsOut(state: OracleState): Map<string, number> {
  return new Map([...state.limits].map(([name, limit]) => [name, heldOf(limit)]))
}
