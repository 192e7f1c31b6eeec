/**
 * Remote dispatch: leases a new job to an idle worker of another process without a claim. Everything here is
 * best effort: the database checks the instance and the queue again, and a lost message is recovered like a
 * claim without a reply. See docs/internals/postgres-store.md.
 */
import { createHash } from 'node:crypto'
import type { NewJob } from '../../job/new-job.ts'
import type { Platform } from '../../platform/platform.ts'
import { insertLeased } from '../../store/insert-leased.ts'
import type { HandedOver, StandBy } from '../../store/types/claim.ts'
import { type DeliveredJob, deliveryText, type Offered, readHandOver } from './hand-over-message.ts'

/** The target of a job about to be inserted, and the message for it. */
export interface HandOver {
  readonly instance: string
  readonly channel: string
  readonly message: string
}

export interface HandOvers {
  /** Another process sent a notification for these queues. */
  readonly onNotification: (from: string, queues: readonly string[]) => void
  readonly standBy: (offer: StandBy) => boolean
  readonly receive: (instance: string, take: (handed: HandedOver) => void) => () => void
  /** Handles a message on the channel of this process. */
  readonly onMessage: (text: string) => void
  /** Uses up an offer for this job, if there is one. */
  readonly of: (job: NewJob) => HandOver | undefined
}

interface Sender {
  readonly process: string
  readonly at: number
  readonly offeredKinds: Set<string>
}

/** An idle process may exit or find other work without withdrawing its offer. */
const GOOD_FOR_MS = 10_000
const MOST_SENDERS = 10_000
/** The maximum number of remembered offers for each queue and kind. */
const MOST_OFFERS = 100
/**
 * Committing a NOTIFY takes a database-wide lock until the commit is synced. A process that enqueues more
 * often than this sends ordinary notifications instead.
 */
const APART_MS = 5

/**
 * The process name is public in every notification. Only a role that may read the schema knows the secret and
 * can derive the channel.
 */
export function channelOf(process: string, secret: string): string {
  return `jobmill ${createHash('sha256').update(`${secret} ${process}`).digest('hex').slice(0, 48)}`
}

export function handOvers(options: {
  readonly me: string
  /** Returns the channel of a process. */
  readonly channelOf: (process: string) => string
  readonly platform: Pick<Platform, 'monotonic'>
  /** Best effort. */
  readonly send: (channel: string, text: string) => void
}): HandOvers {
  const { me, channelOf, platform, send } = options
  /**
   * For each queue, the last process that sent a notification, and the kinds that this process offered to it.
   */
  const senders = new Map<string, Sender>()
  const receivers = new Map<string, (handed: HandedOver) => void>()
  const offers = new Map<string, { readonly offered: Offered; readonly at: number }[]>()
  let handedAt = Number.NEGATIVE_INFINITY

  const isGood = ({ at }: { readonly at: number }): boolean => platform.monotonic() - at < GOOD_FOR_MS

  /** A process that sends a notification had no offer for that job, so earlier offers to it are used up. */
  function recordSender(from: string, queue: string): void {
    // Any role can send notifications for queues that do not exist, so the map is bounded.
    if (senders.size >= MOST_SENDERS) senders.clear()
    senders.set(queue, { process: from, at: platform.monotonic(), offeredKinds: new Set() })
  }

  function storeOffer(offer: Offered): void {
    const key = keyOf(offer)
    const good = (offers.get(key) ?? []).filter(isGood).slice(1 - MOST_OFFERS)
    offers.set(key, [...good, { offered: offer, at: platform.monotonic() }])
  }

  function deliver(token: number, at: number, { offer, from, instance, job }: DeliveredJob): void {
    recordSender(from, job.queue)
    const rest = { timeoutMs: null, tags: [], metadata: null, orderKey: null }
    receivers.get(instance)?.({ offer, lease: insertLeased({ ...job, ...rest }, token, at) })
  }

  return {
    onNotification(from, queues) {
      for (const queue of queues) recordSender(from, queue)
    },
    standBy(offer) {
      const sender = senders.get(offer.queue)
      if (sender === undefined || !isGood(sender) || sender.offeredKinds.has(offer.kind)) return false
      sender.offeredKinds.add(offer.kind)
      const sent: Offered = { ...offer, from: me }
      send(channelOf(sender.process), JSON.stringify(sent))
      return true
    },
    receive(instance, take) {
      receivers.set(instance, take)
      return () => void receivers.delete(instance)
    },
    onMessage(text) {
      const message = readHandOver(text)
      if (message?.is === 'offer') storeOffer(message.offer)
      else if (message?.is === 'job') deliver(message.token, message.at, message.message)
    },
    of({ id, kind, queue, priority, maxAttempts, payload }) {
      const key = keyOf({ queue, kind })
      const [next, ...others] = offers.get(key)?.filter(isGood) ?? []
      const now = platform.monotonic()
      if (next === undefined || now - handedAt < APART_MS) return undefined
      const { offer, from, instance } = next.offered
      const job = { id, kind, queue, priority, maxAttempts, payload }
      const message = deliveryText({ offer, from: me, instance, job })
      if (message === undefined) return undefined
      offers.set(key, others)
      handedAt = now
      return { instance, channel: channelOf(from), message }
    },
  }
}

const keyOf = ({ queue, kind }: { readonly queue: string; readonly kind: string }): string =>
  `${queue}\n${kind}`
