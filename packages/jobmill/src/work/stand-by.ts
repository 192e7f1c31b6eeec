/**
 * Offers a free worker to other processes. After a job that another process rang for, when there is nothing else to do, that process is told: the next
 * such job is leased to this instance as it is written, and begins when it arrives, without a claim.
 */
import type { Platform } from '../platform/platform.ts'
import type { HandedOver, Lease } from '../store/claim.ts'
import type { Notifier } from '../store/store.ts'

export interface StandByOptions {
  readonly instance: string
  readonly store: Pick<Notifier, 'standBy' | 'receive'>
  /** Nothing runs, waits or is on its way here, and more may be taken on. */
  readonly isIdle: () => boolean
  /** Nothing is leased to anybody but by a claim there. */
  readonly isLimited: (queue: string) => boolean
  /** Whether a job of this queue could begin at once. */
  readonly mayBegin: (queue: string) => boolean
  /** See the heartbeat. */
  readonly term: () => () => boolean
  readonly take: (leases: readonly Lease[]) => void
  /** Gives back what comes too late, or finds no worker: somebody else may have one. */
  readonly release: (leases: readonly Lease[]) => void
  /** From now on a job may be leased to this instance without its knowing. */
  readonly told: () => void
  readonly platform: Pick<Platform, 'monotonic'>
}

export interface StandingBy {
  readonly start: () => void
  /** A job of this queue and kind has ended here. */
  readonly ended: (lease: Pick<Lease, 'queue' | 'kind'>) => void
  /** Whether a job may be on its way, or have been lost on it: an offer was made a while ago at most. */
  readonly isOffered: boolean
  /** Leases that nobody here knew of went back: what is brought now may be one of them. */
  readonly forget: () => void
  readonly stop: () => void
}

/** Who makes many offers and gets nothing for them: others are quicker. The oldest are taken for used up. */
const MOST_OFFERS = 100
/** An offer is used within ten seconds or not at all; a job that was leased with the last of them and is not brought is old enough to be found within six more. */
const GOOD_FOR_MS = 16_000

export function standBy(options: StandByOptions): StandingBy {
  const { instance, store, platform } = options
  /** Whether a lease under an offer can be ours, for each that was made and not used yet. */
  const offers = new Map<number, () => boolean>()
  let last = 0
  let lastAt = Number.NEGATIVE_INFINITY
  let leave: (() => void) | undefined

  function receive({ offer, lease }: HandedOver): void {
    const isOurs = offers.get(offer)
    offers.delete(offer)
    if (isOurs?.() === true && options.mayBegin(lease.queue)) options.take([lease])
    else options.release([lease])
  }

  return {
    start() {
      leave = store.receive(instance, receive)
    },
    ended({ queue, kind }) {
      if (!options.isIdle() || options.isLimited(queue)) return
      const isOurs = options.term()
      if (!store.standBy({ instance, queue, kind, offer: last + 1 })) return
      last += 1
      lastAt = platform.monotonic()
      offers.set(last, isOurs)
      offers.delete(last - MOST_OFFERS)
      options.told()
    },
    get isOffered() {
      return platform.monotonic() - lastAt < GOOD_FOR_MS
    },
    forget() {
      offers.clear()
    },
    stop() {
      leave?.()
    },
  }
}
