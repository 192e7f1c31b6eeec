/**
 * Jobs for an idle instance of another process, without a claim. Whoever has a free worker after a job tells the process that rang for it; the next job that is
 * enqueued there is leased to that worker as it is written, and the lease arrives with the commit. Everything here is a hint: an offer is good for one job and for
 * a few seconds, the database looks whether the instance lives and the queue is open, and a lease that does not arrive is found like one whose claim had no answer.
 */
import { createHash } from 'node:crypto'
import type { NewJob } from '../job/new-job.ts'
import type { Platform } from '../platform/platform.ts'
import { insertedLeased } from '../store/inserted-leased.ts'
import type { HandedOver, StandBy } from '../store/claim.ts'
import { type Brought, broughtText, type Offered, readHandOver } from './hand-over-message.ts'

/** Where a job goes that is about to be written, and what is to be said there. */
export interface HandOver {
  readonly instance: string
  readonly channel: string
  readonly message: string
}

export interface HandOvers {
  /** Another process rang for these queues. */
  readonly notified: (from: string, queues: readonly string[]) => void
  readonly standBy: (offer: StandBy) => boolean
  readonly receive: (instance: string, take: (handed: HandedOver) => void) => () => void
  /** What arrived on the channel of this process. */
  readonly heard: (text: string) => void
  /** For whom this job is, if somebody has offered; the offer is used up. */
  readonly of: (job: NewJob) => HandOver | undefined
}

interface Ringer {
  readonly process: string
  readonly at: number
  readonly told: Set<string>
}

/** An idle process may end, or get work, without taking back what it offered. */
const GOOD_FOR_MS = 10_000
const MOST_RINGERS = 10_000
/** Of one queue and kind. */
const MOST_OFFERS = 100
/** All who commit a message queue for one lock until theirs is synced, in the whole database: who enqueues more often than this rings instead. */
const APART_MS = 5

/** A process rings under a name that everybody hears. Where it is spoken to follows from that only for who may read the schema. */
export function channelOf(process: string, secret: string): string {
  return `jobmill ${createHash('sha256').update(`${secret} ${process}`).digest('hex').slice(0, 48)}`
}

export function handOvers(options: {
  readonly me: string
  /** Where a process is spoken to. */
  readonly channelOf: (process: string) => string
  readonly platform: Pick<Platform, 'monotonic'>
  /** Best effort. */
  readonly send: (channel: string, text: string) => void
}): HandOvers {
  const { me, channelOf, platform, send } = options
  /** By queue: who rang last, and for which kinds that process has an offer of ours already. */
  const ringers = new Map<string, Ringer>()
  const receivers = new Map<string, (handed: HandedOver) => void>()
  const offers = new Map<string, { readonly offered: Offered; readonly at: number }[]>()
  let handedAt = Number.NEGATIVE_INFINITY

  const isGood = ({ at }: { readonly at: number }): boolean => platform.monotonic() - at < GOOD_FOR_MS

  /** Whoever rings has no offer, or none for such a job. */
  function notified(from: string, queue: string): void {
    // Anybody may ring for queues that nobody has.
    if (ringers.size >= MOST_RINGERS) ringers.clear()
    ringers.set(queue, { process: from, at: platform.monotonic(), told: new Set() })
  }

  function offered(offer: Offered): void {
    const key = keyOf(offer)
    const good = (offers.get(key) ?? []).filter(isGood).slice(1 - MOST_OFFERS)
    offers.set(key, [...good, { offered: offer, at: platform.monotonic() }])
  }

  function brought(token: number, at: number, { offer, from, instance, job }: Brought): void {
    notified(from, job.queue)
    const rest = { timeoutMs: null, tags: [], metadata: null, orderKey: null }
    receivers.get(instance)?.({ offer, lease: insertedLeased({ ...job, ...rest }, token, at) })
  }

  return {
    notified(from, queues) {
      for (const queue of queues) notified(from, queue)
    },
    standBy(offer) {
      const ringer = ringers.get(offer.queue)
      if (ringer === undefined || !isGood(ringer) || ringer.told.has(offer.kind)) return false
      ringer.told.add(offer.kind)
      const told: Offered = { ...offer, from: me }
      send(channelOf(ringer.process), JSON.stringify(told))
      return true
    },
    receive(instance, take) {
      receivers.set(instance, take)
      return () => void receivers.delete(instance)
    },
    heard(text) {
      const told = readHandOver(text)
      if (told?.is === 'offer') offered(told.offer)
      else if (told?.is === 'job') brought(told.token, told.at, told.brought)
    },
    of({ id, kind, queue, priority, maxAttempts, payload }) {
      const key = keyOf({ queue, kind })
      const [next, ...others] = offers.get(key)?.filter(isGood) ?? []
      const now = platform.monotonic()
      if (next === undefined || now - handedAt < APART_MS) return undefined
      const { offer, from, instance } = next.offered
      const job = { id, kind, queue, priority, maxAttempts, payload }
      const message = broughtText({ offer, from: me, instance, job })
      if (message === undefined) return undefined
      offers.set(key, others)
      handedAt = now
      return { instance, channel: channelOf(from), message }
    },
  }
}

const keyOf = ({ queue, kind }: { readonly queue: string; readonly kind: string }): string =>
  `${queue}\n${kind}`
