/**
 * The network between a process and the store. Calls and replies have random delays and can overtake each
 * other. Some get lost, and some calls arrive twice, or long after the caller timed out. A sent call arrives
 * even if its sender dies, and its reply is then dropped.
 */
import { JobmillError, type FullStore } from 'jobmill'
import type { WakeUp } from 'jobmill/store'
import { ALL_VERBS, aroundVerbs, type Verb, verbOf } from '../../../packages/jobmill/src/store/verbs.ts'
import type { Chance } from '../chance.ts'
import type { Owner, World } from '../world.ts'

/** The quality of the network. Probabilities are per call. */
export interface Weather {
  slowestMs: number
  /** The call never arrives: the caller gets an immediate connection error, or times out. */
  losesCalls: number
  losesReplies: number
  doubles: number
  /** The call arrives after the caller timed out. */
  delaysCalls: number
  /** The reply takes nearly as long as the caller waits. */
  delaysReplies: number
}

export interface Line {
  readonly store: FullStore<never>
  /** While it is cut, nothing arrives in either direction. */
  cut: boolean
}

export interface NetworkOptions {
  readonly world: World
  readonly chance: Chance
  readonly weather: Weather
  readonly owner: Owner
  readonly store: FullStore<never>
  /**
   * Called when a call arrives at the store. The returned function gets the result, whether the caller learns
   * it or not.
   */
  readonly arrived: (verb: Verb, args: readonly unknown[]) => (reply: unknown) => void
}

/** The timeout of a caller. */
const DEADLINE_MS = 5_000
/** The maximum delay of a sent call. */
const LATEST_MS = 12_000

export function network(options: NetworkOptions): Line {
  const { world, chance, weather, owner, store } = options
  const delay = (): number => chance.next() ** 3 * weather.slowestMs
  /** The caller is still waiting for it. */
  const wayBack = (): number =>
    chance.isIt(weather.delaysReplies) ? chance.between(0, DEADLINE_MS) : delay()

  function call(verb: Verb, args: readonly unknown[]): Promise<unknown> {
    // All processes share one store, which none of them may close.
    if (verb === 'open' || verb === 'close') return Promise.resolve()
    return new Promise((resolve, reject) => {
      const refuse = (inMs: number, error: JobmillError): void => {
        // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- it is one, and has a code
        world.after(inMs, owner, () => reject(error))
      }
      if (line.cut || chance.isIt(weather.losesCalls)) {
        if (chance.isIt(0.5)) refuse(delay(), unavailable(verb))
        else refuse(chance.between(0, DEADLINE_MS), unknown(verb))
        return
      }
      const losesReply = chance.isIt(weather.losesReplies)
      const answered = (settle: () => void): void => {
        if (losesReply || line.cut) refuse(chance.between(0, DEADLINE_MS), unknown(verb))
        else world.after(wayBack(), owner, settle)
      }
      const arrive = (isHeard: boolean): void => {
        const tell = options.arrived(verb, args)
        verbOf(
          store,
          verb,
        )(...args).then(
          (value) => {
            tell(value)
            if (isHeard) answered(() => resolve(value))
          },
          (error: unknown) => {
            if (isHeard) answered(() => reject(error instanceof Error ? error : new Error(String(error))))
          },
        )
      }
      if (chance.isIt(weather.delaysCalls)) {
        refuse(chance.between(0, DEADLINE_MS), unknown(verb))
        world.after(chance.between(0, LATEST_MS), null, () => arrive(false))
        return
      }
      // A wait changes nothing, and is too long to run twice.
      const isDoubled = verb !== 'notifier.wait' && chance.isIt(weather.doubles)
      const first = delay()
      world.after(first, null, () => arrive(true))
      if (isDoubled) world.after(first + delay(), null, () => arrive(false))
    })
  }

  const send = (ring: () => void): void => {
    if (!line.cut && !chance.isIt(weather.losesCalls)) world.after(delay(), null, ring)
  }
  const own = aroundVerbs(
    store,
    ALL_VERBS,
    (verb) =>
      (...args) =>
        call(verb, args),
  )
  Object.assign(own.notifier, {
    notify: (queues: readonly string[]) => send(() => store.notifier.notify(queues)),
    forward: (wakeUp: WakeUp) => send(() => store.notifier.forward(wakeUp)),
    // Calls and replies may be lost on it, so idle processes find some jobs by polling at their slow pace.
    isListening: () => !line.cut,
  })
  const line: Line = { store: own, cut: false }
  return line
}

function unavailable(verb: Verb): JobmillError {
  return new JobmillError('STORE_UNAVAILABLE', `${verb}: no connection`)
}

function unknown(verb: Verb): JobmillError {
  return new JobmillError('OUTCOME_UNKNOWN', `${verb}: no answer`)
}
