/** Makes the offers of direct dispatch for the writes of this process. offers.ts decides what to offer. */
import { isJobmillError } from '../job/errors.ts'
import type { NewJob } from '../job/new-job.ts'
import type { Platform } from '../platform/platform.ts'
import { sleep } from '../platform/sleep.ts'
import type { HandOff, Lease } from '../store/types/claim.ts'
import type { Enqueued } from '../store/types/replies.ts'
import type { DispatchEvent } from './events.ts'
import { isOpen } from './offers.ts'
import type { DispatchState } from './state.ts'

interface DirectDispatchOptions {
  readonly state: DispatchState
  readonly post: (event: DispatchEvent) => void
  /** Resolves when no claim is in flight. */
  readonly inFlight: () => Promise<void>
  readonly kinds: readonly string[]
  readonly platform: Platform
}

/** An offer of free workers to jobs that this process is about to write. */
interface DirectDispatch {
  readonly handOff: HandOff
  /** The write was committed. */
  readonly accepted: (replies: readonly Enqueued[]) => void
  /** The write failed, or its outcome is unknown. */
  readonly failed: (error: unknown) => void
}

/** Undefined when there is nothing to offer. A promise while a claim in flight decides that. */
export type MakeOffer = (
  jobs: readonly NewJob[],
) => DirectDispatch | undefined | Promise<DirectDispatch | undefined>

/** A write waits at most this long for a claim in flight. */
const LONGEST_WAIT_MS = 20

export function directDispatch({ state, post, inFlight, kinds, platform }: DirectDispatchOptions): MakeOffer {
  let lastOffer = 0

  /**
   * Direct dispatch is impossible while the queue has ready jobs. Under steady load that would never clear,
   * so the write waits for a claim in flight that will probably empty the queue. That is cheaper than another
   * claim.
   */
  function waitForClaim([first]: readonly NewJob[]): Promise<unknown> | undefined {
    const queue = first?.queue ?? ''
    const isEmptying = state.nearlyEmpty.has(queue) && state.claim?.queues.some((one) => one.queue === queue)
    if (isEmptying !== true || !isOpen(state, platform.monotonic())) return undefined
    const over = new AbortController()
    const late = sleep(platform, LONGEST_WAIT_MS, over.signal)
    return Promise.race([inFlight(), late]).finally(() => over.abort())
  }

  function offer(jobs: readonly NewJob[]): DirectDispatch | undefined {
    const number = (lastOffer += 1)
    post({ type: 'enqueueing', offer: number, jobs })
    const made = state.offers.get(number)
    if (made === undefined) return undefined
    return {
      handOff: { instance: state.instance, queues: made.queues, kinds },
      failed: (error) => post({ type: 'enqueueFailed', offer: number, isUnknown: isUnknown(error) }),
      accepted(replies) {
        const leases: Lease[] = []
        for (const { lease } of replies) if (lease !== undefined) leases.push(lease)
        const dispatched = (): void => post({ type: 'dispatched', offer: number, leases })
        // In a turn of its own, so that the calls waiting for this write return before the jobs start.
        if (leases.length > 0) platform.nextTurn(dispatched)
        else dispatched()
      },
    }
  }

  return (jobs) => waitForClaim(jobs)?.then(() => offer(jobs)) ?? offer(jobs)
}

export function isUnknown(error: unknown): boolean {
  return isJobmillError(error) && error.code === 'OUTCOME_UNKNOWN'
}
