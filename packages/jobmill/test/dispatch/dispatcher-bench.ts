/** A dispatcher on a fake clock. The test answers its statements. */
import { onTestFinished } from 'vitest'
import { type Dispatcher, dispatcher as create } from '../../src/dispatch/dispatcher.ts'
import type { ClaimRequest, Held, Lease } from '../../src/store/types/claim.ts'
import type { Finish } from '../../src/store/types/finish.ts'
import type { FullStore } from '../../src/store/store.ts'
import { type TestPlatform, testPlatform } from '../../src/testing/index.ts'
import { attempts } from '../../src/work/attempts.ts'
import { anAttemptOf } from '../work/leases.ts'
import { settingsChanged } from './support.ts'

export interface DispatcherBench {
  readonly platform: TestPlatform
  readonly dispatcher: Dispatcher
  readonly claims: ClaimRequest[]
  readonly claimedAt: number[]
  readonly comparedAt: number[]
  readonly released: Lease[]
  readonly ran: Lease[]
  /** The ids of jobs whose unknown leases were released. */
  readonly finished: string[]
  readonly answers: {
    claim: () => Promise<Lease[]>
    held: () => Promise<Held[]>
  }
  readonly wake: () => void
}

/** `workers` by queue. */
export function dispatcherBench(workers: Readonly<Record<string, number>> = { a: 2 }): DispatcherBench {
  const platform = testPlatform()
  const bench = {
    claims: [] as ClaimRequest[],
    claimedAt: [] as number[],
    comparedAt: [] as number[],
    released: [] as Lease[],
    ran: [] as Lease[],
    finished: [] as string[],
    answers: {
      claim: async (): Promise<Lease[]> => [],
      held: async (): Promise<Held[]> => [],
    },
  }
  const store = {
    claim(request: ClaimRequest) {
      bench.claims.push(request)
      bench.claimedAt.push(platform.monotonic())
      return bench.answers.claim()
    },
    instances: {
      held() {
        bench.comparedAt.push(platform.monotonic())
        return bench.answers.held()
      },
    },
    async finish(items: readonly Finish[]) {
      bench.finished.push(...items.map(({ id }) => id))
      return []
    },
    notifier: { forward: () => {} },
  }
  const dispatcher = create({
    store: store as unknown as FullStore,
    instance: 'me',
    kinds: ['work'],
    capacity: null,
    emit: () => {},
    platform,
  })
  const live = attempts({
    ended: ({ lease }) => dispatcher.post({ type: 'workerFreed', queue: lease.queue }),
    settled: dispatcher.settled,
  })
  dispatcher.post(settingsChanged({ workers }))
  dispatcher.post({ type: 'leaseRenewed', until: 3_600_000 })
  dispatcher.start({
    run(lease) {
      bench.ran.push(lease)
      live.add(anAttemptOf(lease))
    },
    async release(leases) {
      bench.released.push(...leases)
    },
    leases: () => Array.from(live.live, ({ lease }) => lease),
    hurryHeartbeat: () => {},
  })
  onTestFinished(() => dispatcher.stop())
  return { ...bench, platform, dispatcher, wake: () => dispatcher.post({ type: 'jobsReady', queues: null }) }
}
