/**
 * Remote dispatch: leases a new job to an idle worker of another process without a claim. Everything here is
 * best effort: the database checks the instance and the queue again, and a lost message is recovered like a
 * claim without a reply. See docs/internals/postgres-store.md.
 */
import { createHash } from 'node:crypto'
import { UUID } from '../../job/names.ts'
import type { NewJob } from '../../job/enqueue/new-job.ts'
import type { Platform } from '../../platform/platform.ts'
import { insertLeased } from '../../store/insert-leased.ts'
import type { DispatchedJob, IdleWorkerOffer } from '../../store/types/claim.ts'

/** The target of a job about to be inserted, and the message for it. */
export interface RemoteDispatch {
  readonly instance: string
  readonly channel: string
  readonly message: string
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
/** NOTIFY accepts at most 8,000 bytes, and the database adds a token and an instant in front. */
const MOST_BYTES = 7_500
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

interface DispatcherOptions {
  readonly me: string
  /** Returns the channel of a process. */
  readonly channelOf: (process: string) => string
  readonly platform: Pick<Platform, 'monotonic'>
  /** Best effort. */
  readonly send: (channel: string, text: string) => void
}

export function remoteDispatcher({ me, channelOf, platform, send }: DispatcherOptions) {
  /**
   * For each queue, the last process that sent a notification, and the kinds that this process offered to it.
   */
  const senders = new Map<string, Sender>()
  const receivers = new Map<string, (dispatched: DispatchedJob) => void>()
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
    const rest = { timeoutMs: null, tags: [], metadata: null, orderKey: null, group: null }
    receivers.get(instance)?.({ offer, lease: insertLeased({ ...job, ...rest }, token, at) })
  }

  return {
    /** Another process sent a notification for these queues. */
    onNotification(from: string, queues: readonly string[]): void {
      for (const queue of queues) recordSender(from, queue)
    },
    offerWorker(offer: IdleWorkerOffer): boolean {
      const sender = senders.get(offer.queue)
      if (sender === undefined || !isGood(sender) || sender.offeredKinds.has(offer.kind)) return false
      sender.offeredKinds.add(offer.kind)
      const sent: Offered = { ...offer, from: me }
      send(channelOf(sender.process), JSON.stringify(sent))
      return true
    },
    receive: (instance: string, take: (dispatched: DispatchedJob) => void): (() => void) => {
      receivers.set(instance, take)
      return () => void receivers.delete(instance)
    },
    /** Handles a message on the channel of this process. */
    onMessage(text: string): void {
      // The database sends a job as "token at message".
      const [, token, at, json = text] = /^(\d{1,16}) (\d{1,15}) (.*)$/s.exec(text) ?? []
      // The format may be unknown, for example that of another release.
      const message = parsed(json)
      if (token !== undefined && isDelivery(message)) deliver(Number(token), Number(at), message)
      if (token === undefined && isOffer(message)) storeOffer(message)
    },
    /** Uses up an offer for this job, if there is one. */
    of({ id, kind, queue, priority, maxAttempts, payload }: NewJob): RemoteDispatch | undefined {
      const key = keyOf({ queue, kind })
      const [next, ...others] = offers.get(key)?.filter(isGood) ?? []
      const now = platform.monotonic()
      if (next === undefined || now - handedAt < APART_MS) return undefined
      const { offer, from, instance } = next.offered
      const job = { id, kind, queue, priority, maxAttempts, payload }
      const delivered: DeliveredJob = { offer, from: me, instance, job }
      const message = JSON.stringify(delivered)
      if (Buffer.byteLength(message) > MOST_BYTES) return undefined
      offers.set(key, others)
      handedAt = now
      return { instance, channel: channelOf(from), message }
    },
  }
}

const keyOf = ({ queue, kind }: { readonly queue: string; readonly kind: string }): string =>
  `${queue}\n${kind}`

/** An idle worker offer, sent to the process that enqueues. */
interface Offered extends IdleWorkerOffer {
  /** The process that made the offer. */
  readonly from: string
}

/** A leased job, sent to the process that made the offer. */
interface DeliveredJob {
  readonly offer: number
  readonly from: string
  readonly instance: string
  readonly job: Pick<NewJob, 'id' | 'kind' | 'queue' | 'priority' | 'maxAttempts' | 'payload'>
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

const isUuid = (value: unknown): boolean => typeof value === 'string' && UUID.test(value)
const isText = (value: unknown): boolean => typeof value === 'string'
const isNumber = (value: unknown): boolean => Number.isSafeInteger(value)

const BOTH = { instance: isUuid, from: isText, offer: isNumber }
const OFFER = { ...BOTH, queue: isText, kind: isText }
const DELIVERED = {
  id: isUuid,
  queue: isText,
  kind: isText,
  payload: isText,
  priority: isNumber,
  maxAttempts: isNumber,
}

function fits(value: unknown, fields: Readonly<Record<string, (value: unknown) => boolean>>): boolean {
  if (typeof value !== 'object' || value === null) return false
  const found = value as Readonly<Record<string, unknown>>
  return Object.entries(fields).every(([field, isIt]) => isIt(found[field]))
}

const isOffer = (message: unknown): message is Offered => fits(message, OFFER)
const isDelivery = (message: unknown): message is DeliveredJob =>
  fits(message, { ...BOTH, job: (job) => fits(job, DELIVERED) })
