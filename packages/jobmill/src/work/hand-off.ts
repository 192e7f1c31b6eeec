/**
 * Offers free workers to jobs that are about to be written here: those that the store accepts the offer for are running as soon as they exist, without a claim. Whoever
 * enqueued them hears of it before they begin.
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
  /** False while this instance takes on nothing. */
  readonly mayTake: () => boolean
  readonly take: (leases: readonly Lease[]) => void
  /** See the heartbeat. */
  readonly term: () => () => boolean
  /** The claim on its way, if it is likely to leave nothing ready in this queue. */
  readonly emptying: (queue: string) => Promise<unknown> | undefined
  /** Gives back what came too late. */
  readonly release: (leases: readonly Lease[]) => void
  /** The answer was lost: jobs may be leased to us without our knowing. */
  readonly unsure: () => void
  readonly platform: Platform
}

interface Offer {
  readonly handOff: HandOff
  /** The write was committed. */
  readonly accepted: (replies: readonly Enqueued[]) => void
  /** It was not, or that is not known. */
  readonly failed: (error: unknown) => void
}

/** Undefined when there is nothing to offer; a promise when that will be known in a moment. */
export type MakeOffer = (jobs: readonly NewJob[]) => Offer | undefined | Promise<Offer | undefined>

/** What was accepted has begun by then. */
const BEGUN_WITHIN_MS = 500

/** However long a claim takes, a write waits no longer for it. */
const LONGEST_WAIT_MS = 20

export function handOffs(options: HandOffsOptions): MakeOffer {
  const { instance, slots, platform } = options
  const kinds = new Set(options.kinds)

  /** For each queue no more than the call can use, so that a claim meanwhile has the rest. */
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
   * With something ready nothing can be handed over, and what is not must be claimed: under a steady load it would stay so for ever, one behind the other. When the
   * claim on its way takes the last of it, to wait for that is less than to claim once more.
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
        // So old that they may have been taken for lost, and handed back; or are, before they begin.
        const isLate = platform.monotonic() - sentAt >= LOST_AFTER_MS - BEGUN_WITHIN_MS
        if (leases.length === 0 || isLate) {
          release()
          if (leases.length > 0) options.release(leases)
          return
        }
        // In a turn of its own: the calls that wait for this write are answered first.
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
