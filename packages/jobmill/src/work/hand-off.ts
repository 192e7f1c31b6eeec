/**
 * Direct dispatch: offers free workers to jobs that this process is about to write. Jobs for which the store
 * accepts the offer are inserted as running, without a claim. The enqueue call returns before they start.
 */
import { isJobmillError } from '../job/errors.ts'
import type { NewJob } from '../job/new-job.ts'
import type { Platform } from '../platform/platform.ts'
import { sleep } from '../platform/sleep.ts'
import type { HandOff, Lease } from '../store/claim.ts'
import type { Enqueued } from '../store/replies.ts'
import { LOST_AFTER_MS } from './dispatcher.ts'
import type { Room, Slots } from './slots.ts'

export interface HandOffsOptions {
  readonly instance: string
  readonly kinds: readonly string[]
  readonly slots: Pick<Slots, 'roomFor' | 'free' | 'reserve'>
  /** False while this instance accepts no jobs. */
  readonly mayTake: () => boolean
  readonly take: (leases: readonly Lease[]) => void
  /** See the heartbeat. */
  readonly term: () => () => boolean
  /** The claim in flight, if it will probably leave nothing ready in this queue. */
  readonly emptying: (queue: string) => Promise<unknown> | undefined
  /** Releases leases that arrived too late. */
  readonly release: (leases: readonly Lease[]) => void
  /** The reply was lost, so jobs may be leased to this instance without its knowledge. */
  readonly unsure: () => void
  readonly platform: Platform
}

interface Offer {
  readonly handOff: HandOff
  /** The write was committed. */
  readonly accepted: (replies: readonly Enqueued[]) => void
  /** The write failed, or its outcome is unknown. */
  readonly failed: (error: unknown) => void
}

/** Undefined when there is nothing to offer. A promise when that is known in a moment. */
export type MakeOffer = (jobs: readonly NewJob[]) => Offer | undefined | Promise<Offer | undefined>

/** Accepted jobs have started within this time. */
const BEGUN_WITHIN_MS = 500

/** A write waits at most this long for a claim in flight. */
const LONGEST_WAIT_MS = 20

export function handOffs(options: HandOffsOptions): MakeOffer {
  const { instance, slots, platform } = options
  const kinds = new Set(options.kinds)

  /** Offers no more per queue than the call can use, so that a concurrent claim gets the rest. */
  function rooms(jobs: readonly NewJob[]): Room[] {
    const wanted = new Map<string, number>()
    for (const job of jobs)
      if (mayBegin(job) && kinds.has(job.kind)) wanted.set(job.queue, (wanted.get(job.queue) ?? 0) + 1)
    let left = slots.free()
    const found: Room[] = []
    for (const [queue, most] of wanted) {
      const room = Math.min(most, left, slots.roomFor(queue))
      if (room <= 0) continue
      left -= room
      found.push({ queue, room })
    }
    return found
  }

  /**
   * Direct dispatch is impossible while the queue has ready jobs. Under steady load that would never clear,
   * so the write waits for a claim in flight that will empty the queue. That is cheaper than another claim.
   */
  function emptied(jobs: readonly NewJob[]): Promise<unknown> | undefined {
    const [first] = jobs
    const claim = first === undefined || !options.mayTake() ? undefined : options.emptying(first.queue)
    if (claim === undefined) return undefined
    const over = new AbortController()
    const late = sleep(platform, LONGEST_WAIT_MS, over.signal)
    return Promise.race([claim, late]).finally(() => over.abort())
  }

  function offer(jobs: readonly NewJob[]): Offer | undefined {
    if (!options.mayTake()) return undefined
    const queues = rooms(jobs)
    if (queues.length === 0) return undefined
    const release = slots.reserve(queues)
    const sentAt = platform.monotonic()
    const isOurs = options.term()
    return {
      handOff: { instance, queues, kinds: options.kinds },
      failed(error) {
        release()
        if (isJobmillError(error) && error.code === 'OUTCOME_UNKNOWN') options.unsure()
      },
      accepted(replies) {
        const leases: Lease[] = []
        for (const { lease } of replies) if (lease !== undefined) leases.push(lease)
        // So old that a comparison may have released them as lost, or will before they start.
        const isLate = platform.monotonic() - sentAt >= LOST_AFTER_MS - BEGUN_WITHIN_MS
        if (leases.length === 0 || isLate) {
          release()
          if (leases.length > 0) options.release(leases)
          return
        }
        // In a turn of its own, so that the calls waiting for this write return first.
        platform.nextTurn(() => {
          release()
          if (isOurs()) options.take(leases)
          else options.release(leases)
        })
      },
    }
  }

  return (jobs) => emptied(jobs)?.then(() => offer(jobs)) ?? offer(jobs)
}

function mayBegin({ dedupe, orderKey, delayMs, dueAt }: NewJob): boolean {
  return dedupe === null && orderKey === null && delayMs === 0 && dueAt === null
}
