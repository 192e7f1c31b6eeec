/**
 * One per process: fills the free workers of all its queues with as few claims as possible. It claims when there is a free worker and a sign that
 * its queue has something: a notifier, the heartbeat, or a claim that brought as much as there was room for.
 */
import { BOUNDS } from '../job/defaults.ts'
import { isJobmillError } from '../job/errors.ts'
import { pauses } from '../platform/pauses.ts'
import type { Platform, Timer } from '../platform/platform.ts'
import type { ClaimRequest, Lease } from '../store/claim.ts'
import type { Slots } from './slots.ts'
import type { Quarantine } from './quarantine.ts'

export interface DispatcherOptions {
  readonly claim: (request: Omit<ClaimRequest, 'instance' | 'kinds'>) => Promise<Lease[]>
  /** Gives back what was claimed and will not be run. */
  readonly release: (leases: readonly Lease[]) => Promise<void>
  /** What was claimed: to be run at once, or when a worker is free for it. */
  readonly take: (leases: readonly Lease[]) => void
  readonly served: () => Iterable<string>
  /** Whether claims from it draw on a limit. */
  readonly isLimited: (queue: string) => boolean
  readonly slots: Slots
  readonly quarantine: Quarantine
  /** What runs, and what was claimed and waits for a worker. */
  readonly inHand: () => number
  /** False while claiming makes no sense: the instance is not known to be alive, or too many outcomes wait to be written. */
  readonly mayClaim: () => boolean
  /** See the heartbeat. */
  readonly term: () => () => boolean
  /** A claim came back empty although there was a sign of work. */
  readonly foundNothing: () => void
  /**
   * Compares what the database believes with what runs here; between claims, so that none is on its way. Answers in how many milliseconds there may be more to
   * find; null when all is known.
   */
  readonly compare: () => Promise<number | null>
  readonly compareEveryMs: number
  /** Whether other processes may lease a job to this instance at any moment: one that is not brought here is found by comparing. */
  readonly isOffered: () => boolean
  readonly platform: Platform
  readonly failing: (error: unknown) => void
  readonly working: () => void
}

export interface Dispatcher {
  start(): void
  /** These queues may have something; all of them when none is named. */
  wake(queues?: Iterable<string>): void
  /** Look again: a worker is free, or something else changed here. Costs no statement unless there is a sign of work. */
  poke(): void
  /** Jobs may have been leased to this instance without its knowing: compare, once they are old enough. */
  unsure(): void
  /** From now on another process may lease a job to this instance. */
  offered(): void
  /** The claim on its way, if it is likely to leave nothing ready in this queue. */
  emptying(queue: string): Promise<unknown> | undefined
  /** Whether jobs may be taken on beside claims: not while a suspect runs alone, or while it goes quiet for one. */
  readonly isOpen: boolean
  /** Resolves when no claim is on its way and what it brought was released. No claim begins after the call. */
  stop(): Promise<void>
}

/** How old a lease must be before it counts as one whose answer was lost. */
export const LOST_AFTER_MS = 2_000
/** A statement may have been done a little after it was sent. */
const DONE_WITHIN_MS = 500
/** For so long after an answer was lost it is looked for what it was about. */
const UNSURE_MS = 30_000

export function dispatcher(options: DispatcherOptions): Dispatcher {
  const { platform, slots, quarantine } = options
  const maybe = new Set<string>()
  /** Queues whose last claim brought less than there was room for. */
  const nearlyEmpty = new Set<string>()
  const stopping = new AbortController()
  const pause = pauses(platform, { firstMs: 100, longestMs: 5_000 })
  let compareAt = platform.monotonic() + options.compareEveryMs
  let comparedAt = platform.monotonic()
  let unsureUntil = Number.NEGATIVE_INFINITY
  /** The last comparison has left something open. */
  let isMore = false
  let claimedAt = Number.NEGATIVE_INFINITY
  let loop: Promise<void> = Promise.resolve()
  let claiming: { readonly queues: ReadonlySet<string>; readonly done: Promise<unknown> } | null = null
  let alone = false
  let limitedFirst = false
  let woken = false
  let rouse: (() => void) | null = null

  function poke(): void {
    // While it rests: jobs end by the thousand, and a look in vain after each would cost more than the jobs.
    if (rouse !== null && !mayBeWorthIt()) return
    woken = true
    rouse?.()
  }

  function mayBeWorthIt(): boolean {
    if (alone || quarantine.waits) return true
    for (const queue of maybe) if (slots.isWorthIt(queue)) return true
    return false
  }

  /** Until something happens, or the time has come to compare. */
  async function rest(ms: number): Promise<void> {
    if (!woken && !stopping.signal.aborted) {
      let timer: Timer | undefined
      await new Promise<void>((resolve) => {
        rouse = resolve
        timer = platform.timer(Math.max(0, ms), resolve)
      })
      timer?.cancel()
      rouse = null
    }
    woken = false
  }

  /** Claims once if there is reason to; how long to rest then, or null to look again at once. */
  async function turn(): Promise<number | null> {
    const now = platform.monotonic()
    if (now >= compareAt) {
      compareAt = now + options.compareEveryMs
      if (mayDiffer(now)) {
        comparedAt = now
        const moreInMs = await options.compare()
        isMore = moreInMs !== null && now < unsureUntil
        if (isMore) compareAt = platform.monotonic() + (moreInMs ?? 0)
        else if (options.isOffered()) compareAt = soonest()
      }
    }
    const untilCompare = compareAt - platform.monotonic()
    alone &&= options.inHand() > 0
    if (alone || !options.mayClaim()) return untilCompare
    const next = quarantine.next(options.inHand() === 0)
    if (next.claim === 'quarantined') return (await claimQuarantined()) ? untilCompare : null
    if (next.claim === 'others' && (await claimOthers())) return null
    return Math.min(untilCompare, next.inMs ?? untilCompare)
  }

  /** Only a claim can have made a lease that is not known here; an idle instance need not ask. Now and then it does all the same. */
  function mayDiffer(now: number): boolean {
    return (
      isMore ||
      options.isOffered() ||
      options.inHand() > 0 ||
      comparedAt < claimedAt + LOST_AFTER_MS ||
      now - comparedAt >= 6 * options.compareEveryMs
    )
  }

  /**
   * A store takes from queues without a limit first. Where not all fits at once, they take turns with the others, or those would never have theirs.
   */
  function inTurns(queues: ReturnType<Slots['room']>): ReturnType<Slots['room']> {
    if (total(queues) <= Math.min(BOUNDS.claimLimit, slots.free())) return queues
    const limited = queues.filter(({ queue }) => options.isLimited(queue))
    if (limited.length === 0 || limited.length === queues.length) return queues
    limitedFirst = !limitedFirst
    return limitedFirst ? limited : queues.filter((one) => !limited.includes(one))
  }

  async function claimOthers(): Promise<boolean> {
    const queues = inTurns(slots.room().filter(({ queue }) => maybe.has(queue)))
    if (queues.length === 0) return false
    const limit = Math.min(BOUNDS.claimLimit, slots.free(), total(queues))
    // A wake-up that comes while the claim is on its way must not be lost.
    for (const { queue } of queues) maybe.delete(queue)
    const release = slots.reserve(queues)
    const leases = await claim({ queues, limit, quarantined: 'skip' }).finally(release)
    if (leases?.length === 0) options.foundNothing()
    const isFull = leases === null || leases.length >= limit
    for (const { queue, room } of queues) {
      if (isFull || count(leases, queue) >= room) {
        maybe.add(queue)
        nearlyEmpty.delete(queue)
      } else nearlyEmpty.add(queue)
    }
    return true
  }

  /** Alone: nothing else runs, and nothing is claimed until it has ended. */
  async function claimQuarantined(): Promise<boolean> {
    const queues = slots.room().map(({ queue }) => ({ queue, room: 1 }))
    if (queues.length === 0) return true
    const leases = await claim({ queues, limit: 1, quarantined: 'only' })
    if (leases !== null) quarantine.settled()
    alone = leases !== null && leases.length > 0
    return alone
  }

  /** Null after an error, when it has waited a while. */
  async function claim(request: Parameters<typeof options.claim>[0]): Promise<Lease[] | null> {
    if (stopping.signal.aborted) return []
    claimedAt = platform.monotonic()
    const isOurs = options.term()
    try {
      const answer = options.claim(request)
      claiming = { queues: new Set(request.queues.map(({ queue }) => queue)), done: answer.catch(() => {}) }
      const leases = await answer.finally(() => (claiming = null))
      pause.reset()
      options.working()
      // An answer may be so late that others have these jobs by now: the process stood still, or the way back was slow.
      if (stopping.signal.aborted) await options.release(leases)
      else if (isOurs()) options.take(leases)
      else void options.release(leases)
      return leases
    } catch (error) {
      // Jobs may be leased to us without our knowing: they are found by comparing, once they are old enough.
      if (isJobmillError(error) && error.code === 'OUTCOME_UNKNOWN') unsure()
      options.failing(error)
      await pause.wait(stopping.signal)
      return null
    }
  }

  function unsure(): void {
    claimedAt = platform.monotonic()
    unsureUntil = claimedAt + UNSURE_MS
    compareAt = Math.min(compareAt, soonest())
  }

  /** When a lease of now would be old enough. */
  function soonest(): number {
    return platform.monotonic() + LOST_AFTER_MS + DONE_WITHIN_MS
  }

  /** Out of its rest, so that it rests no longer than until then. */
  function restNoLonger(): void {
    woken = true
    rouse?.()
  }

  async function work(): Promise<void> {
    while (!stopping.signal.aborted) {
      const restMs = await turn()
      if (restMs !== null) await rest(restMs)
    }
  }

  return {
    start: () => void (loop = work()),
    poke,
    unsure() {
      unsure()
      restNoLonger()
    },
    offered() {
      if (compareAt <= soonest()) return
      compareAt = soonest()
      restNoLonger()
    },
    emptying: (queue) =>
      nearlyEmpty.has(queue) && claiming?.queues.has(queue) === true ? claiming.done : undefined,
    get isOpen() {
      return !alone && !quarantine.waits && !stopping.signal.aborted
    },
    wake(queues) {
      for (const queue of queues ?? options.served()) maybe.add(queue)
      poke()
    },
    async stop() {
      stopping.abort()
      rouse?.()
      await loop
    },
  }
}

function total(queues: ReturnType<Slots['room']>): number {
  return queues.reduce((sum, { room }) => sum + room, 0)
}

function count(leases: readonly Lease[], queue: string): number {
  return leases.reduce((sum, lease) => (lease.queue === queue ? sum + 1 : sum), 0)
}
