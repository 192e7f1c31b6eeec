/**
 * Tracks calls to stores and tasks for the next event-loop turn, so that a test can wait until none is in
 * flight.
 */
import { systemPlatform } from '../../platform/platform.ts'
import type { Store } from '../../store/store.ts'
import { ALL_VERBS, aroundVerbs } from '../../store/verbs.ts'

/**
 * A store with fault injection lets the tracking wrap the store beneath it: a call that a test holds back is
 * not in flight.
 */
export const BENEATH = Symbol('jobmill.testing.beneath')

export interface Layered {
  readonly [BENEATH]: { get(): Store<never>; set(store: Store<never>): void }
}

const isLayered = (store: Store<never>): store is Store<never> & Layered => BENEATH in store

/** The same database without fault injection, for queries of the test itself. */
export function withoutFaults(store: Store<never>): Store {
  return isLayered(store) ? withoutFaults(store[BENEATH].get()) : store
}

/**
 * Calls, next-turn tasks and timers are tracked. Between them runs user code that may await a few turns, such
 * as a stream or a chain of setImmediate. Five turns cover that and cost microseconds. For handlers that take
 * real time, use `drain`.
 */
const QUIET_TURNS = 5

/** A wait for notifications does not count: it may last until the next job or its timeout. */
const TRACKED = ALL_VERBS.filter((verb) => verb !== 'notifier.wait')

const turn = (): Promise<void> => new Promise((resolve) => systemPlatform.nextTurn(resolve))

export function inFlight() {
  const known = new WeakMap<object, Store<never>>()
  const calls = new Set<Promise<unknown>>()
  let turns = 0
  let touched = 0

  function wrapped<S extends Store<never>>(store: S): S {
    return aroundVerbs(store, TRACKED, (_, call) => (...args) => {
      touched += 1
      const reply = call(...args)
      const watched = reply
        .catch(() => {})
        .finally(() => {
          calls.delete(watched)
          touched += 1
        })
      calls.add(watched)
      return reply
    })
  }

  function track<S extends Store<never>>(store: S): S {
    const before = known.get(store)
    if (before !== undefined) return before as S
    const layer = isLayered(store) ? store[BENEATH] : undefined
    layer?.set(track(layer.get()))
    const tracked = layer === undefined ? wrapped(store) : store
    known.set(store, tracked)
    // Makes tracking idempotent.
    known.set(tracked, tracked)
    return tracked
  }

  return {
    track,
    nextTurn: (task: () => void) => {
      turns += 1
      touched += 1
      systemPlatform.nextTurn(() => {
        turns -= 1
        task()
      })
    },
    /** Something started or ended: the count of quiet turns starts over. */
    touch: () => void (touched += 1),
    /** Resolves when nothing was in flight and `isQuiet` was true for several turns in a row. */
    async settled(isQuiet: () => boolean): Promise<void> {
      for (let quiet = 0, last = touched; quiet < QUIET_TURNS; quiet += 1) {
        // A database may be slow: await it instead of polling.
        while (calls.size > 0) await Promise.race(calls)
        await turn()
        if (last === touched && turns === 0 && isQuiet()) continue
        last = touched
        quiet = -1
      }
    },
  }
}
