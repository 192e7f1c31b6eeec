/** Makes the offers of direct dispatch for the writes of this process. offers.ts decides what to offer. */
import { isJobmillError } from '../job/errors.ts'
import type { NewJob } from '../job/enqueue/new-job.ts'
import type { Platform } from '../platform/platform.ts'
import { sleep } from '../platform/sleep.ts'
import type { Lease } from '../store/types/claim.ts'
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

/** A write waits at most this long for a claim in flight. */
const LONGEST_WAIT_MS = 20

export function directDispatch({ state, post, inFlight, kinds, platform }: DirectDispatchOptions) {
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

  /** Offers free workers to jobs that this process is about to write. */
  function offer(jobs: readonly NewJob[]) {
    const number = (lastOffer += 1)
    post({ type: 'enqueueing', offer: number, jobs })
    const made = state.offers.get(number)
    if (made === undefined) return undefined
    return {
      directDispatch: { instance: state.instance, queues: made.queues, kinds },
      /** The write failed, or its outcome is unknown. */
      failed: (error: unknown) => post({ type: 'enqueueFailed', offer: number, isUnknown: isUnknown(error) }),
      /** The write was committed. */
      accepted(replies: readonly Enqueued[]) {
        const leases: Lease[] = []
        for (const { lease } of replies) if (lease !== undefined) leases.push(lease)
        const dispatched = (): void => post({ type: 'dispatched', offer: number, leases })
        // In a turn of its own, so that the calls waiting for this write return before the jobs start.
        if (leases.length > 0) platform.nextTurn(dispatched)
        else dispatched()
      },
    }
  }

  /** Undefined when there is nothing to offer. A promise if it first has to wait for a claim in flight. */
  return (jobs: readonly NewJob[]) => waitForClaim(jobs)?.then(() => offer(jobs)) ?? offer(jobs)
}

export function isUnknown(error: unknown): boolean {
  return isJobmillError(error) && error.code === 'OUTCOME_UNKNOWN'
}
