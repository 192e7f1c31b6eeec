/**
 * One per process: fills the free workers of all its queues with as few claims as possible. It claims when there is a free worker and a sign that
 * its queue has something: a doorbell, the pulse, or a claim that brought as much as there was room for.
 */
import { BOUNDS } from '../job/defaults.ts'
import { isJobmillError } from '../job/errors.ts'
import { pauses } from '../platform/pauses.ts'
import type { Platform, Timer } from '../platform/platform.ts'
import type { ClaimRequest, Lease } from '../store/claim.ts'
import type { Slots } from './slots.ts'
import type { Suspects } from './suspects.ts'

export interface DispatcherOptions {
  readonly claim: (request: Omit<ClaimRequest, 'instance' | 'kinds'>) => Promise<Lease[]>
  /** Gives back what was claimed and will not be run. */
  readonly release: (leases: readonly Lease[]) => Promise<void>
  readonly run: (lease: Lease) => void
  readonly served: () => Iterable<string>
  /** Whether claims from it draw on a limit. */
  readonly isLimited: (queue: string) => boolean
  readonly slots: Slots
  readonly suspects: Suspects
  readonly running: () => number
  /** False while claiming makes no sense: the instance is not known to be alive, or too many outcomes wait to be written. */
  readonly mayClaim: () => boolean
  /** A claim came back empty although there was a sign of work. */
  readonly foundNothing: () => void
  /** Compares what the database believes with what runs here; between claims, so that none is on its way. */
  readonly compare: () => Promise<void>
  readonly compareEveryMs: number
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
  /** Resolves when no claim is on its way and what it brought was released. No claim begins after the call. */
  stop(): Promise<void>
}

/** How old a lease must be before it counts as one whose answer was lost. */
export const LOST_AFTER_MS = 5_000

export function dispatcher(options: DispatcherOptions): Dispatcher {
  const { platform, slots, suspects } = options
  const maybe = new Set<string>()
  const stopping = new AbortController()
  const pause = pauses(platform, { firstMs: 100, longestMs: 5_000 })
  let compareAt = platform.monotonic() + options.compareEveryMs
  let comparedAt = platform.monotonic()
  let claimedAt = Number.NEGATIVE_INFINITY
  let loop: Promise<void> = Promise.resolve()
  let alone = false
  let limitedFirst = false
  let woken = false
  let rouse: (() => void) | null = null

  function poke(): void {
    woken = true
    rouse?.()
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
        await options.compare()
      }
    }
    const untilCompare = compareAt - platform.monotonic()
    alone &&= options.running() > 0
    if (alone || !options.mayClaim()) return untilCompare
    const next = suspects.next(options.running() === 0)
    if (next.claim === 'suspect') return (await claimSuspect()) ? untilCompare : null
    if (next.claim === 'others' && (await claimOthers())) return null
    return Math.min(untilCompare, next.inMs ?? untilCompare)
  }

  /** Only a claim can have made a lease that is not known here; an idle instance need not ask. Now and then it does all the same. */
  function mayDiffer(now: number): boolean {
    return (
      options.running() > 0 ||
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
    const leases = await claim({ queues, limit, suspects: 'skip' })
    if (leases?.length === 0) options.foundNothing()
    const isFull = leases === null || leases.length >= limit
    for (const { queue, room } of queues) {
      if (isFull || count(leases, queue) >= room) maybe.add(queue)
    }
    return true
  }

  /** Alone: nothing else runs, and nothing is claimed until it has ended. */
  async function claimSuspect(): Promise<boolean> {
    const queues = slots.room().map(({ queue }) => ({ queue, room: 1 }))
    if (queues.length === 0) return true
    const leases = await claim({ queues, limit: 1, suspects: 'only' })
    if (leases !== null) suspects.settled()
    alone = leases !== null && leases.length > 0
    return alone
  }

  /** Null after an error, when it has waited a while. */
  async function claim(request: Parameters<typeof options.claim>[0]): Promise<Lease[] | null> {
    if (stopping.signal.aborted) return []
    claimedAt = platform.monotonic()
    try {
      const leases = await options.claim(request)
      pause.reset()
      options.working()
      if (stopping.signal.aborted) await options.release(leases)
      else leases.forEach((lease) => options.run(lease))
      return leases
    } catch (error) {
      // Jobs may be leased to us without our knowing: they are found by comparing, once they are old enough.
      if (isJobmillError(error) && error.code === 'OUTCOME_UNKNOWN')
        compareAt = Math.min(compareAt, platform.monotonic() + LOST_AFTER_MS + 1_000)
      options.failing(error)
      await pause.wait(stopping.signal)
      return null
    }
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
