/**
 * Remote dispatch: offers an idle worker to another process. After a job that the other process notified
 * about, it may lease its next job of that kind to this instance on insert. The job starts when it arrives,
 * without a claim.
 */
import type { Platform } from '../platform/platform.ts'
import type { HandedOver, Lease } from '../store/claim.ts'
import type { Notifier } from '../store/store.ts'

export interface StandByOptions {
  readonly instance: string
  readonly store: Pick<Notifier, 'standBy' | 'receive'>
  /** Nothing is running, buffered or in flight here, and jobs may be accepted. */
  readonly isIdle: () => boolean
  /** Jobs of limited queues are leased only by claims. */
  readonly isLimited: (queue: string) => boolean
  /** Whether a job of this queue could start at once. */
  readonly mayBegin: (queue: string) => boolean
  /** See the heartbeat. */
  readonly term: () => () => boolean
  readonly take: (leases: readonly Lease[]) => void
  /** Releases leases that arrive too late or find no free worker, so that another instance can run them. */
  readonly release: (leases: readonly Lease[]) => void
  /** From now on a job may be leased to this instance without its knowledge. */
  readonly told: () => void
  readonly platform: Pick<Platform, 'monotonic'>
}

export interface StandingBy {
  readonly start: () => void
  /** A job of this queue and kind has ended here. */
  readonly ended: (lease: Pick<Lease, 'queue' | 'kind'>) => void
  /** Whether a dispatched job may be in flight or lost: an offer was made recently. */
  readonly isOffered: boolean
  /** Unknown leases were released, and a job that arrives now may be one of them. */
  readonly forget: () => void
  readonly stop: () => void
}

/** An instance whose offers are never used is slower than the others. The oldest offers count as used. */
const MOST_OFFERS = 100
/**
 * An offer is valid for ten seconds. A job leased at the end of it and lost is found by comparing within six
 * more.
 */
const GOOD_FOR_MS = 16_000

export function standBy(options: StandByOptions): StandingBy {
  const { instance, store, platform } = options
  /** For each open offer, whether a lease under it can still be owned. */
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
