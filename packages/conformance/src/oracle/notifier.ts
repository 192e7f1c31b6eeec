/** Notifications between handles of one process. */
import { systemPlatform, waiters, type Waiters, wakeAll, type WakeUp } from 'jobmill/store'
import { heldOf } from './limits.ts'
import type { OracleState } from './state.ts'

export class Notifications {
  readonly #rooms = new Set<Waiters>()
  #seed = 0

  /** The waiters of one handle. */
  join(): Waiters {
    const room = waiters(systemPlatform)
    this.#rooms.add(room)
    return room
  }

  leave(room: Waiters): void {
    this.#rooms.delete(room)
    room.end()
  }

  /** All receivers get the same seed, so that they agree on the order of instances for each queue. */
  notify(wakeUps: readonly Omit<WakeUp, 'seed'>[]): void {
    this.#seed += 1
    for (const room of this.#rooms) room.wake(wakeUps.map((wakeUp) => ({ ...wakeUp, seed: this.#seed })))
  }

  /** Forwards a notification to waiters at other handles. */
  pass(wakeUp: WakeUp, from: Waiters): void {
    for (const room of this.#rooms) if (room !== from) room.wake([wakeUp])
  }
}

/** A snapshot of the state, with which a later one is compared to decide which queues to notify. */
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
  const held = permitsOut(state)
  const freed = [...before.held].flatMap(([name, was]) => (was > (held.get(name) ?? 0) ? [name] : []))
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
