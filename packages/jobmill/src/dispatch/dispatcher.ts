/**
 * Fills the free workers of all queues of an instance with as few claims as possible. Passes events to the
 * reducer `next` and performs the effects that it returns, with the clock, the store and one timer.
 */
import type { Emit } from '../job/events.ts'
import { trouble } from '../job/attempt/trouble.ts'
import { pauses } from '../platform/pauses.ts'
import type { Platform, Timer } from '../platform/platform.ts'
import type { ClaimRequest, Lease } from '../store/types/claim.ts'
import type { FullStore } from '../store/store.ts'
import { leasesOf } from './buffer.ts'
import { compare } from './compare.ts'
import { directDispatch, isUnknown } from './direct-dispatch.ts'
import type { DispatchEffect, DispatchEvent, FinishedJob } from './events.ts'
import { next } from './next.ts'
import { isIdle } from './plan.ts'
import { DispatchState } from './state.ts'

export interface DispatcherOptions {
  readonly store: FullStore
  /** The id of this instance. */
  readonly instance: string
  /** The array grows when a kind is added. */
  readonly kinds: readonly string[]
  readonly capacity: number | null
  readonly emit: Emit
  readonly platform: Platform
}

/** The parts that perform effects on jobs of this instance. */
interface Driven {
  /** `waitedMs` is how long the job was ready until `now`, on the monotonic clock. */
  readonly run: (lease: Lease, waitedMs: number, now: number) => void
  /** Releases leases that will not run. */
  readonly release: (leases: readonly Lease[]) => Promise<void>
  /** The leases of attempts whose outcome is not written yet. */
  readonly leases: () => readonly Lease[]
  readonly hurryHeartbeat: () => void
}

export type Dispatcher = ReturnType<typeof dispatcher>

export function dispatcher({ store, instance, kinds, capacity, emit, platform }: DispatcherOptions) {
  const state = new DispatchState(instance, kinds, capacity)
  const claiming = trouble('claim', emit)
  const comparing = trouble('compare', emit)
  const pause = pauses(platform, { firstMs: 100, longestMs: 5_000 })
  let driven: Driven | null = null
  let inFlight: Promise<void> = Promise.resolve()
  let isTickQueued = false
  let timer: Timer | undefined
  let timerAt = Number.POSITIVE_INFINITY
  let leaveRemote: (() => void) | undefined
  let settledCount = 0
  let finished: FinishedJob[] = []

  function post(event: DispatchEvent): void {
    for (const effect of next(state, event, platform.monotonic())) perform(effect)
    if (!state.isDue || isTickQueued) return
    // Events of one turn share a decision, so that a claim covers all of them.
    isTickQueued = true
    // Jobs that a claim starts mostly end in the same turn. If the decision comes a turn later, the next
    // claim shares a transaction with their outcomes.
    if (event.type === 'claimed') platform.nextTurn(tick)
    else queueMicrotask(tick)
  }

  /** The outcome of an attempt is written, or never will be. The outcomes of one write share an event. */
  function settled(): void {
    settledCount += 1
    if (settledCount === 1) queueMicrotask(postSettled)
  }

  function postSettled(): void {
    const event: DispatchEvent = { type: 'outcomesSettled', count: settledCount, finished }
    settledCount = 0
    finished = []
    post(event)
  }

  function tick(): void {
    isTickQueued = false
    post({ type: 'tick' })
  }

  function perform(effect: DispatchEffect): void {
    switch (effect.type) {
      case 'run':
        return driven?.run(effect.lease, effect.waitedMs, effect.now)
      case 'release':
        return void driven?.release(effect.leases)
      case 'claim':
        return void (inFlight = claim(effect.request))
      case 'compare':
        return void (inFlight = compareLeases())
      case 'sleepUntil':
        return sleepUntil(effect.at)
      case 'offerWorker': {
        const { queue, kind, offer } = effect
        if (store.notifier.remote?.offerWorker({ instance, queue, kind, offer }) === true)
          post({ type: 'workerOffered', offer })
        return
      }
      case 'forward':
        return store.notifier.forward(effect.wakeUp)
      case 'hurryHeartbeat':
        return driven?.hurryHeartbeat()
    }
  }

  /** A timer that fires early only causes a tick, so it is replaced only by an earlier one. */
  function sleepUntil(at: number): void {
    if (at >= timerAt) return
    timer?.cancel()
    timerAt = at
    const fire = (): void => {
      timerAt = Number.POSITIVE_INFINITY
      tick()
    }
    timer = platform.timer(Math.max(0, Math.ceil(at - platform.monotonic())), fire, { recurring: true })
  }

  async function claim(request: Omit<ClaimRequest, 'instance' | 'kinds'>): Promise<void> {
    let leases: readonly Lease[]
    try {
      leases = await store.claim({ ...request, instance, kinds })
    } catch (error) {
      claiming.failing(error)
      return post({ type: 'claimFailed', isUnknown: isUnknown(error), pauseMs: pause.next() })
    }
    pause.reset()
    claiming.working()
    post({ type: 'claimed', leases })
  }

  async function compareLeases(): Promise<void> {
    const moreInMs = await compare({
      held: () => store.instances.held(instance),
      finish: (items) => store.finish(items),
      known: () => [...(driven?.leases() ?? []), ...leasesOf(state.buffer)],
      found(jobs) {
        post({ type: 'unknownLeasesFound' })
        emit('leases-found', { jobs })
      },
      ...comparing,
    })
    post({ type: 'compared', moreInMs })
  }

  return {
    post,
    settled,
    /** The outcome of a settled attempt was accepted. */
    finished: (job: FinishedJob) => void finished.push(job),
    /** Whether this instance has no job, and expects none. */
    isIdle: () => isIdle(state, platform.monotonic()),
    offer: directDispatch({ state, post, inFlight: () => inFlight, kinds, platform }),
    start(parts: Driven) {
      driven = parts
      leaveRemote = store.notifier.remote?.receive(instance, (jobDispatched) =>
        post({ type: 'jobDispatched', ...jobDispatched }),
      )
      post({ type: 'started' })
    },
    /** With true, no claim starts after the call, and the promise resolves when none is in flight. */
    async quiet(isQuiet: boolean) {
      post({ type: 'quieted', isQuiet })
      await inFlight
    },
    /** Resolves when no claim is in flight. No claim starts after the call. */
    async stop() {
      post({ type: 'stopped' })
      timer?.cancel()
      await inFlight
    },
    /** Ends remote dispatch. */
    close: () => leaveRemote?.(),
  }
}
