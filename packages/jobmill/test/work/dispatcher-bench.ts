/** A dispatcher on a fake clock, with everything around it controlled by the test. */
import { onTestFinished } from 'vitest'
import type { Lease } from '../../src/store/claim.ts'
import { type TestPlatform, testPlatform } from '../../src/testing/index.ts'
import { type Dispatcher, dispatcher as create, type DispatcherOptions } from '../../src/work/dispatcher.ts'
import { type Quarantine, quarantine as createQuarantine } from '../../src/work/quarantine.ts'

type Request = Parameters<DispatcherOptions['claim']>[0]

export interface DispatcherBench {
  readonly platform: TestPlatform
  readonly dispatcher: Dispatcher
  readonly quarantine: Quarantine
  readonly claims: Request[]
  readonly claimedAt: number[]
  readonly comparedAt: number[]
  readonly released: Lease[]
  /** The jobs to claim. */
  readonly ready: Lease[]
  /** The jobs that were started. */
  readonly ran: Lease[]
  /** Ends the handler of a job. */
  readonly end: (lease: Lease | undefined) => void
  readonly troubles: string[]
  readonly state: {
    answer: (request: Request) => Promise<Lease[]>
    release: () => Promise<void>
    compare: () => Promise<number | null>
    mayClaim: boolean
    isOurs: boolean
    isOfferedUntil: number
  }
}

/** `workers` by queue. */
export function dispatcherBench(workers: Readonly<Record<string, number>>): DispatcherBench {
  const platform = testPlatform()
  const claims: Request[] = []
  const claimedAt: number[] = []
  const comparedAt: number[] = []
  const released: Lease[] = []
  const ready: Lease[] = []
  const ran: Lease[] = []
  const running = new Set<Lease>()
  const troubles: string[] = []
  const quarantine = createQuarantine(() => platform.monotonic())
  const state: DispatcherBench['state'] = {
    answer: async (request) => claimed(ready, request),
    release: async () => {},
    compare: async () => null,
    mayClaim: true,
    isOurs: true,
    isOfferedUntil: Number.NEGATIVE_INFINITY,
  }
  const room = (queue: string): number =>
    (workers[queue] ?? 0) - [...running].filter((lease) => lease.queue === queue).length

  const dispatcher = create({
    claim(request) {
      claims.push(request)
      claimedAt.push(platform.monotonic())
      return state.answer(request)
    },
    release(leases) {
      released.push(...leases)
      return state.release()
    },
    take(leases) {
      for (const lease of leases) {
        ran.push(lease)
        running.add(lease)
      }
    },
    served: () => Object.keys(workers),
    isLimited: () => false,
    slots: {
      room: () =>
        Object.keys(workers).flatMap((queue) => (room(queue) > 0 ? [{ queue, room: room(queue) }] : [])),
      roomFor: (queue) => Math.max(0, room(queue)),
      idle: (queue) => Math.max(0, room(queue)),
      isWorthIt: (queue) => room(queue) > 0,
      free: () => Number.MAX_SAFE_INTEGER,
      soon: () => 0,
      reserve: () => () => {},
      reserved: 0,
      isScarce: false,
      total: () => Object.values(workers).reduce((sum, most) => sum + most, 0),
    },
    quarantine,
    inHand: () => running.size,
    mayClaim: () => state.mayClaim,
    term: () => () => state.isOurs,
    foundNothing: () => void troubles.push('found nothing'),
    compare() {
      comparedAt.push(platform.monotonic())
      return state.compare()
    },
    isOffered: () => platform.monotonic() < state.isOfferedUntil,
    compareEveryMs: 10_000,
    platform,
    failing: () => void troubles.push('failing'),
    working: () => void troubles.push('working'),
  })
  onTestFinished(() => dispatcher.stop())
  return {
    platform,
    dispatcher,
    quarantine,
    claims,
    claimedAt,
    comparedAt,
    released,
    ready,
    ran,
    end: (lease) => void (lease !== undefined && running.delete(lease)),
    troubles,
    state,
  }
}

/** The same, started. */
export function startedBench(workers: Readonly<Record<string, number>> = { a: 2 }): DispatcherBench {
  const bench = dispatcherBench(workers)
  bench.dispatcher.start()
  return bench
}

/** Like a store: within the room of each queue; a job with two crashes is quarantined. */
function claimed(ready: Lease[], { queues, limit, quarantined: quarantine }: Request): Lease[] {
  const leases: Lease[] = []
  for (const { queue, room } of queues) {
    const fits = ready.filter(
      (lease) => lease.queue === queue && lease.crashes >= 2 === (quarantine === 'only'),
    )
    leases.push(...fits.slice(0, Math.min(room, limit - leases.length)))
  }
  for (const lease of leases) ready.splice(ready.indexOf(lease), 1)
  return leases
}
