/** Wires together how an instance gets jobs: slots, claims, prefetch, direct dispatch and remote dispatch. */
import { DEFAULTS } from '../job/defaults.ts'
import type { Emit } from '../job/events.ts'
import { trouble } from '../job/trouble.ts'
import type { Platform } from '../platform/platform.ts'
import type { Lease } from '../store/claim.ts'
import type { Store } from '../store/store.ts'
import { type Ahead, ahead as createAhead } from '../work/ahead.ts'
import { compare } from '../work/compare.ts'
import { type Dispatcher, dispatcher as createDispatcher } from '../work/dispatcher.ts'
import { handOffs, type MakeOffer } from '../work/hand-off.ts'
import { type Paces, paces as createPaces } from '../work/paces.ts'
import type { HeartbeatService } from '../work/heartbeat.ts'
import { type Slots, slots as createSlots } from '../work/slots.ts'
import { standBy, type StandingBy } from '../work/stand-by.ts'
import { type Quarantine, quarantine as createQuarantine } from '../work/quarantine.ts'
import type { Workers } from '../work/workers.ts'
import type { QueueWatch } from './queue-watch.ts'

export interface ClaimingOptions {
  readonly store: Store
  /** The id of this instance. */
  readonly instance: string
  readonly kinds: readonly string[]
  readonly served: () => readonly string[]
  readonly watch: Pick<QueueWatch, 'settings' | 'workers'>
  readonly workers: Pick<Workers, 'attempts' | 'run' | 'release'>
  readonly capacity: number | null
  /** Reports whether the database considers this instance alive. */
  readonly heartbeat: () => Pick<HeartbeatService, 'alive' | 'term'>
  readonly claimed: (leases: readonly Lease[]) => void
  readonly foundNothing: () => void
  readonly emit: Emit
  readonly platform: Platform
}

export interface Claiming {
  readonly ahead: Ahead
  readonly dispatcher: Dispatcher
  /** Offers free workers for jobs that this process is about to write (direct dispatch). */
  readonly offer: MakeOffer
  readonly paces: Paces
  readonly slots: Slots
  /** Offers free workers for jobs that other processes write (remote dispatch). */
  readonly standing: StandingBy
  readonly quarantine: Quarantine
}

export function claiming(options: ClaimingOptions): Claiming {
  const { store, instance, kinds, watch, workers, emit, platform } = options
  const { attempts } = workers
  const release = (leases: readonly Lease[]): void => void workers.release(leases)
  const paces = createPaces()
  const isLimited = (queue: string): boolean => watch.settings(queue).limit !== null
  const ahead = createAhead({
    run: workers.run,
    release,
    workers: (queue) => watch.workers().get(queue) ?? 0,
    idle: (queue) => slots.idle(queue),
    // Prefetch is off for queues with a limit, because a returned job would waste a token. It is also off
    // when queues compete for workers, so that each worker gets the job that comes first overall.
    mayWait: (queue) => !isLimited(queue) && !slots.isScarce,
    paces,
    platform,
  })
  const slots = createSlots({
    workers: watch.workers,
    attempts,
    ahead: () => ahead,
    capacity: options.capacity,
  })
  const quarantine = createQuarantine(() => platform.monotonic())

  /**
   * Stops claiming when too many outcomes wait to be written: they use memory and would run again after a
   * crash.
   */
  function mayTake(): boolean {
    return options.heartbeat().alive && attempts.unwritten <= 2 * Math.max(1, slots.total() + slots.soon())
  }

  const inHand = (): number => attempts.running() + ahead.count() + slots.reserved
  const term = (): (() => boolean) => options.heartbeat().term()
  const comparing = trouble('compare', emit)
  const dispatcher = createDispatcher({
    async claim(request) {
      const leases = await store.claim({ ...request, instance, kinds })
      options.claimed(leases)
      return leases
    },
    release: workers.release,
    take: ahead.take,
    served: options.served,
    isLimited,
    slots,
    quarantine,
    inHand,
    mayClaim: mayTake,
    term,
    foundNothing: options.foundNothing,
    compare: () =>
      compare({
        held: () => store.held(instance),
        finish: (items) => store.finish(items),
        attempts,
        ahead: ahead.leases,
        found(jobs) {
          standing.forget()
          emit('leases-found', { jobs })
        },
        ...comparing,
      }),
    compareEveryMs: DEFAULTS.compareEveryMs,
    isOffered: () => standing.isOffered,
    platform,
    ...trouble('claim', emit),
  })
  const standing = standBy({
    instance,
    store,
    isIdle: () => inHand() === 0 && dispatcher.isOpen && mayTake(),
    isLimited,
    mayBegin: (queue) => dispatcher.isOpen && mayTake() && slots.idle(queue) > ahead.count(queue),
    term,
    take: ahead.take,
    release,
    told: () => dispatcher.offered(),
    platform,
  })
  const offer = handOffs({
    instance,
    kinds,
    slots,
    mayTake: () => dispatcher.isOpen && mayTake(),
    term,
    take: ahead.take,
    emptying: (queue) => dispatcher.emptying(queue),
    release,
    unsure: () => dispatcher.unsure(),
    platform,
  })
  return { ahead, dispatcher, offer, paces, slots, standing, quarantine }
}
