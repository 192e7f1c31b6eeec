/**
 * One per process: fills the free workers of all its queues with as few claims as possible. It claims when a
 * worker is free and its queue probably has jobs: after a notification, a heartbeat, or a claim that filled
 * all free slots.
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
  /** Releases leases that will not run. */
  readonly release: (leases: readonly Lease[]) => Promise<void>
  /** Receives claimed leases, to run now or when a worker is free. */
  readonly take: (leases: readonly Lease[]) => void
  readonly served: () => Iterable<string>
  /** Whether claims from the queue use a limit. */
  readonly isLimited: (queue: string) => boolean
  readonly slots: Slots
  readonly quarantine: Quarantine
  /** The number of running jobs and prefetched leases. */
  readonly inHand: () => number
  /**
   * False while this instance must not claim: it is not known to be alive, or too many outcomes wait to be
   * written.
   */
  readonly mayClaim: () => boolean
  /** See the heartbeat. */
  readonly term: () => () => boolean
  /** A claim returned nothing although work was expected. */
  readonly foundNothing: () => void
  /**
   * Compares the leases in the database with the jobs of this instance, never during a claim. Returns the
   * delay in ms until the next comparison, or null if nothing is left to check.
   */
  readonly compare: () => Promise<number | null>
  readonly compareEveryMs: number
  /**
   * Whether other processes may lease a job to this instance (remote dispatch). A job lost on the way is
   * found by comparing.
   */
  readonly isOffered: () => boolean
  readonly platform: Platform
  readonly failing: (error: unknown) => void
  readonly working: () => void
}

export interface Dispatcher {
  start(): void
  /** These queues may have ready jobs; all queues if none is given. */
  wake(queues?: Iterable<string>): void
  /**
   * Checks again, because a worker became free or something else changed. Costs no statement without a sign
   * of work.
   */
  poke(): void
  /**
   * Jobs may be leased to this instance without its knowledge. Schedules a comparison once such leases are
   * old enough.
   */
  unsure(): void
  /** From now on another process may lease a job to this instance. */
  offered(): void
  /** The claim in flight, if it will probably leave nothing ready in this queue. */
  emptying(queue: string): Promise<unknown> | undefined
  /**
   * Whether jobs may be accepted outside of claims. False while a quarantined job runs or the instance drains
   * for one.
   */
  readonly isOpen: boolean
  /** Resolves when no claim is in flight and its leases are released. No claim starts after the call. */
  stop(): Promise<void>
}

/** The age at which an unknown lease counts as one whose reply was lost. */
export const LOST_AFTER_MS = 2_000
/** A statement may execute slightly after it was sent. */
const DONE_WITHIN_MS = 500
/** How long to look for leases after a lost reply. */
const UNSURE_MS = 30_000

export function dispatcher(options: DispatcherOptions): Dispatcher {
  const { platform, slots, quarantine } = options
  const maybe = new Set<string>()
  /** Queues whose last claim returned less than was requested. */
  const nearlyEmpty = new Set<string>()
  const stopping = new AbortController()
  const pause = pauses(platform, { firstMs: 100, longestMs: 5_000 })
  let compareAt = platform.monotonic() + options.compareEveryMs
  let comparedAt = platform.monotonic()
  let unsureUntil = Number.NEGATIVE_INFINITY
  /** Whether the last comparison left something to check. */
  let isMore = false
  let claimedAt = Number.NEGATIVE_INFINITY
  let loop: Promise<void> = Promise.resolve()
  let claiming: { readonly queues: ReadonlySet<string>; readonly done: Promise<unknown> } | null = null
  let alone = false
  let limitedFirst = false
  let woken = false
  let rouse: (() => void) | null = null

  function poke(): void {
    // Checked while resting: thousands of jobs end per second, and a useless check after each would cost more
    // than the jobs.
    if (rouse !== null && !mayBeWorthIt()) return
    woken = true
    rouse?.()
  }

  function mayBeWorthIt(): boolean {
    if (alone || quarantine.waits) return true
    for (const queue of maybe) if (slots.isWorthIt(queue)) return true
    return false
  }

  /** Waits for a wake-up or for the next comparison. */
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

  /** Claims once if there is a reason. Returns how long to rest, or null to check again at once. */
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

  /**
   * Whether unknown leases are possible: only a claim can create one, so an idle instance compares rarely.
   */
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
   * The store takes from queues without a limit first. If not all fit into one claim, the two groups
   * alternate, so that limited queues are not starved.
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
    // Cleared before the claim, so that a wake-up during the claim is not lost.
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

  /** Runs a quarantined job: nothing else runs, and nothing is claimed until it has ended. */
  async function claimQuarantined(): Promise<boolean> {
    const queues = slots.room().map(({ queue }) => ({ queue, room: 1 }))
    if (queues.length === 0) return true
    const leases = await claim({ queues, limit: 1, quarantined: 'only' })
    if (leases !== null) quarantine.settled()
    alone = leases !== null && leases.length > 0
    return alone
  }

  /** Returns null after an error and a pause. */
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
      // A late reply may carry leases that expired: the process stalled, or the network was slow.
      if (stopping.signal.aborted) await options.release(leases)
      else if (isOurs()) options.take(leases)
      else void options.release(leases)
      return leases
    } catch (error) {
      // Jobs may be leased to this instance without its knowledge. A comparison finds them once they are old
      // enough.
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

  /** When a lease created now would be old enough. */
  function soonest(): number {
    return platform.monotonic() + LOST_AFTER_MS + DONE_WITHIN_MS
  }

  /** Ends the rest, so that the next one is not longer than until then. */
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
