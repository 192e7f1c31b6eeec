/**
 * A store with fault injection: failing calls, lost replies, and calls or replies that wait until they are
 * released.
 */
import { invalidValue, JobmillError } from '../../job/errors.ts'
import { checkObjectKeys, didYouMean } from '../../job/options/known-keys.ts'
import { checkWhole } from '../../job/numbers.ts'
import type { Store } from '../../store/store.ts'
import { BENEATH, type Layered } from './in-flight.ts'
import { ALL_VERBS, type AnyVerb, aroundVerbs, type Verb, verbOf } from '../../store/verbs.ts'

export interface HeldCall {
  /** Resolves when a call has reached the point where it waits. */
  readonly reached: Promise<void>
  /** Lets the call continue, even if it has not arrived yet. Repeated calls have no effect. */
  release(): void
}

/**
 * Each plan applies to the next call to its verb; plans for one verb are used in order. Plans before a call
 * (fail, hold) and after it (loseReply, holdReply) are separate, so that a call can be held and its reply
 * lost. `times: Infinity` applies until `clear`.
 */
export interface Faults {
  /** The call is not made. */
  fail(verb: Verb, options?: { readonly times?: number; readonly error?: Error }): void
  /** The call is made, but its result is lost: OUTCOME_UNKNOWN. */
  loseReply(verb: Verb, options?: { readonly times?: number }): void
  /** The call waits before it is made. */
  hold(verb: Verb): HeldCall
  /** The call is made, and its reply waits. */
  holdReply(verb: Verb): HeldCall
  /** How often a verb was called, including calls that failed before they reached the store. */
  calls(verb: Verb): number
  calls(): Readonly<Record<Verb, number>>
  /** Removes all plans and releases everything that waits. */
  clear(): void
}

/** What happens at one point of a call: nothing, a wait, or an error. */
type Plan = () => Promise<void> | undefined

export function faultyStore<S extends Store<never>>(store: S): S & Faults {
  let beneath: Store<never> = store
  const before = plans()
  const after = plans()
  const counts = Object.fromEntries(ALL_VERBS.map((verb) => [verb, 0])) as Record<Verb, number>
  const open = new Set<() => void>()

  async function callWithFault(verb: Verb, args: readonly unknown[], first: Plan): Promise<unknown> {
    await first()
    return makeCall(verb, args)
  }

  /** Synchronous when nothing is planned: a write in a user transaction must happen inside the call. */
  function makeCall(verb: Verb, args: readonly unknown[]): Promise<unknown> {
    // Only verbs that the store has are wrapped.
    const call = (verbOf(beneath, verb) as AnyVerb)(...args)
    const then = after.next(verb)
    if (then === undefined) return call
    // The plan applies before the reply is delivered, even if the call failed.
    return call.then(
      async (value) => (await then(), value),
      async (error: unknown) => {
        await then()
        throw error
      },
    )
  }

  function holdNext(queue: Plans, verb: Verb): HeldCall {
    const reached = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    open.add(released.resolve)
    queue.add(verb, 1, () => {
      reached.resolve()
      return released.promise
    })
    return { reached: reached.promise, release: released.resolve }
  }

  const own = aroundVerbs(store, ALL_VERBS, (verb) => (...args) => {
    counts[verb] += 1
    const first = before.next(verb)
    return first === undefined ? makeCall(verb, args) : callWithFault(verb, args, first)
  })
  const controls: Faults = {
    fail(verb, options = {}) {
      checkObjectKeys(options, 'options', ['times', 'error'])
      before.add(verb, options.times, () => Promise.reject(options.error ?? unavailable(verb)))
    },
    loseReply(verb, options = {}) {
      checkObjectKeys(options, 'options', ['times'])
      after.add(verb, options.times, () => Promise.reject(replyLost(verb)))
    },
    hold: (verb) => holdNext(before, verb),
    holdReply: (verb) => holdNext(after, verb),
    calls: ((verb?: Verb) => (verb === undefined ? { ...counts } : counts[verb])) as Faults['calls'],
    clear() {
      before.clear()
      after.clear()
      for (const release of open) release()
      open.clear()
    },
  }
  const layered: Layered = { [BENEATH]: { get: () => beneath, set: (inner) => void (beneath = inner) } }
  return Object.assign(own, controls, layered)
}

type Plans = ReturnType<typeof plans>

function plans() {
  const waiting = new Map<Verb, { readonly plan: Plan; left: number }[]>()
  return {
    add(verb: Verb, times: number = 1, plan: Plan) {
      checkVerb(verb)
      const left =
        times === Number.POSITIVE_INFINITY
          ? times
          : checkWhole(times, 'options.times', { least: 1, most: Number.MAX_SAFE_INTEGER })
      waiting.set(verb, [...(waiting.get(verb) ?? []), { plan, left }])
    },
    next(verb: Verb) {
      const queue = waiting.get(verb)
      const [first] = queue ?? []
      if (first === undefined) return undefined
      first.left -= 1
      if (first.left === 0) queue?.shift()
      return first.plan
    },
    clear: () => waiting.clear(),
  }
}

/** A plan for a misspelled verb would never apply. */
function checkVerb(verb: Verb): void {
  if (ALL_VERBS.includes(verb)) return
  const fix = didYouMean(verb, ALL_VERBS, `Use one of ${ALL_VERBS.join(', ')}`)
  throw invalidValue('verb', verb, 'is not a verb of the store', fix)
}

function unavailable(verb: Verb): JobmillError {
  return new JobmillError('STORE_UNAVAILABLE', `injected fault: ${verb} failed`)
}

function replyLost(verb: Verb): JobmillError {
  return new JobmillError('OUTCOME_UNKNOWN', `injected fault: the reply of ${verb} was lost`)
}
