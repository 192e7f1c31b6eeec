/** Knows what is on its way, so that a test can wait until nothing is: calls to stores, and tasks for the next turn of the event loop. */
import { systemPlatform } from '../../platform/platform.ts'
import type { Store } from '../../store/store.ts'
import { aroundVerbs, callVerb } from './store-verbs.ts'

/** A store that plans faults lets others in beneath them: a call that a test holds back on purpose is not on its way. */
export const BENEATH = Symbol('jobmill.testing.beneath')

export interface Layered {
  readonly [BENEATH]: { get(): Store<never>; set(store: Store<never>): void }
}

const isLayered = (store: Store<never>): store is Store<never> & Layered => BENEATH in store

/** The same database without its faults: for what a test looks up by itself. */
export function withoutFaults(store: Store<never>): Store {
  return isLayered(store) ? withoutFaults(store[BENEATH].get()) : store
}

export interface InFlight {
  readonly track: <S extends Store<never>>(store: S) => S
  readonly nextTurn: (task: () => void) => void
  /** Something began or ended: whoever counts quiet turns begins again. */
  readonly touch: () => void
  /** Resolves once nothing was on its way, and `isQuiet` was true, for several turns in a row. */
  readonly settled: (isQuiet: () => boolean) => Promise<void>
}

/**
 * All waiting of our own is seen: calls, tasks for the next turn, timers. What happens between two of them is code of users: a handler that
 * awaits a few turns by itself, such as a stream or a small chain of setImmediate. Five covers those and costs microseconds; what takes
 * real time in a handler no number of turns covers, and `drain` waits for that.
 */
const QUIET_TURNS = 5

const turn = (): Promise<void> => new Promise((resolve) => systemPlatform.nextTurn(resolve))

export function inFlight(): InFlight {
  const known = new WeakMap<object, Store<never>>()
  const calls = new Set<Promise<unknown>>()
  let turns = 0
  let touched = 0

  function wrapped<S extends Store<never>>(store: S): S {
    return aroundVerbs(store, (verb, args) => {
      const call = callVerb(store, verb, args)
      // A wait at the notifier is no work: it ends when there is some.
      if (verb === 'wait') return call
      touched += 1
      const watched = call
        .catch(() => {})
        .finally(() => {
          calls.delete(watched)
          touched += 1
        })
      calls.add(watched)
      return call
    })
  }

  function track<S extends Store<never>>(store: S): S {
    const before = known.get(store)
    if (before !== undefined) return before as S
    const layer = isLayered(store) ? store[BENEATH] : undefined
    layer?.set(track(layer.get()))
    const tracked = layer === undefined ? wrapped(store) : store
    known.set(store, tracked)
    // So that tracking what is tracked changes nothing.
    known.set(tracked, tracked)
    return tracked
  }

  return {
    track,
    nextTurn(task) {
      turns += 1
      touched += 1
      systemPlatform.nextTurn(() => {
        turns -= 1
        task()
      })
    },
    touch: () => void (touched += 1),
    async settled(isQuiet) {
      for (let quiet = 0, seen = touched; quiet < QUIET_TURNS; quiet += 1) {
        // A database may take its time: that is awaited, not polled for.
        while (calls.size > 0) await Promise.race(calls)
        await turn()
        if (seen === touched && turns === 0 && isQuiet()) continue
        seen = touched
        quiet = -1
      }
    },
  }
}
