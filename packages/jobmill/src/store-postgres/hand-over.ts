/**
 * Jobs for an idle instance of another process, without a claim. Whoever has a free worker after a job tells the process that rang for it; the next job that is
 * enqueued there is leased to that worker as it is written, and the lease arrives with the commit. Everything here is a hint: an offer is good for one job and for
 * a few seconds, the database looks whether the instance lives and the queue is open, and a lease that does not arrive is found like one whose claim had no answer.
 */
import type { NewJob } from '../job/new-job.ts'
import type { Platform } from '../platform/platform.ts'
import type { HandedOver, StandBy } from '../store/claim.ts'
import { bornLeased } from './born-leased.ts'

/** Where a job goes that is about to be written, and what is to be said there. */
export interface HandOver {
  readonly instance: string
  readonly channel: string
  readonly message: string
}

export interface HandOvers {
  /** Another process rang for these queues. */
  readonly rang: (from: string, queues: readonly string[]) => void
  readonly standBy: (offer: StandBy) => boolean
  readonly receive: (instance: string, take: (handed: HandedOver) => void) => () => void
  /** What arrived on the channel of this process. */
  readonly heard: (text: string) => void
  /** For whom this job is, if somebody has offered; the offer is used up. */
  readonly of: (job: NewJob) => HandOver | undefined
}

/** An offer on its way to who enqueues. */
interface Offered extends StandBy {
  /** The process that made it. */
  readonly from: string
}

/** A job on its way to who has offered. */
interface Brought {
  readonly offer: number
  readonly from: string
  readonly instance: string
  readonly job: Pick<NewJob, 'id' | 'kind' | 'queue' | 'priority' | 'maxAttempts' | 'payload'>
}

interface Ringer {
  readonly process: string
  readonly at: number
  readonly told: Set<string>
}

/** An idle process may end, or get work, without taking back what it offered. */
const GOOD_FOR_MS = 10_000
/** Of one queue and kind. */
const MOST_OFFERS = 100
/** NOTIFY takes at most 8,000 bytes, and a token and an instant stand in front. */
const MOST_BYTES = 7_500

export const channelOf = (process: string): string => `jobmill ${process}`

export function handOvers(options: {
  readonly me: string
  readonly platform: Pick<Platform, 'monotonic'>
  /** Best effort. */
  readonly send: (channel: string, text: string) => void
}): HandOvers {
  const { me, platform, send } = options
  /** By queue: who rang last, and for which kinds that process has an offer of ours already. */
  const ringers = new Map<string, Ringer>()
  const receivers = new Map<string, (handed: HandedOver) => void>()
  const offers = new Map<string, { readonly offered: Offered; readonly at: number }[]>()

  const isGood = ({ at }: { readonly at: number }): boolean => platform.monotonic() - at < GOOD_FOR_MS

  /** Whoever rings has no offer, or none for such a job. */
  function rang(from: string, queue: string): void {
    ringers.set(queue, { process: from, at: platform.monotonic(), told: new Set() })
  }

  function offered(offer: Offered): void {
    const key = keyOf(offer)
    const good = (offers.get(key) ?? []).filter(isGood).slice(1 - MOST_OFFERS)
    offers.set(key, [...good, { offered: offer, at: platform.monotonic() }])
  }

  function brought(token: number, at: number, { offer, from, instance, job }: Brought): void {
    rang(from, job.queue)
    const rest = { timeoutMs: null, tags: [], metadata: null, orderKey: null }
    receivers.get(instance)?.({ offer, lease: bornLeased({ ...job, ...rest }, token, at) })
  }

  return {
    rang(from, queues) {
      for (const queue of queues) rang(from, queue)
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
      const [, token, at, json = text] = /^(\d+) (\d+) (.*)$/s.exec(text) ?? []
      const told = readObject(json) as Partial<Offered & Brought>
      if (token === undefined && isOffer(told)) offered(told)
      else if (told.job !== undefined) brought(Number(token), Number(at), told as Brought)
    },
    of({ id, kind, queue, priority, maxAttempts, payload }) {
      const key = keyOf({ queue, kind })
      const [next, ...others] = offers.get(key)?.filter(isGood) ?? []
      if (next === undefined) return undefined
      const { offer, from, instance } = next.offered
      const job = { id, kind, queue, priority, maxAttempts, payload }
      const message = JSON.stringify({ offer, from: me, instance, job } satisfies Brought)
      if (Buffer.byteLength(message) > MOST_BYTES) return undefined
      offers.set(key, others)
      return { instance, channel: channelOf(from), message }
    },
  }
}

/** Empty for what another release may send: a job that it leased to us in another way is found by comparing. */
function readObject(json: string): object {
  try {
    const told: unknown = JSON.parse(json)
    return typeof told === 'object' && told !== null ? told : {}
  } catch {
    return {}
  }
}

const isOffer = (told: Partial<Offered>): told is Offered =>
  typeof told.instance === 'string' && typeof told.from === 'string' && told.offer !== undefined

const keyOf = ({ queue, kind }: { readonly queue: string; readonly kind: string }): string =>
  `${queue}\n${kind}`
