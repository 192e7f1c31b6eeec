/** Helpers for cases about queues with a limit. */
import {
  DEFAULT_QUEUE_SETTINGS,
  type FullStore,
  type Lease,
  type LimitRecord,
  type LimitSettings,
  type RateSettings,
} from 'jobmill/store'
import { aClaim, aHeartbeat, someJobs } from '../../factories.ts'
import { only } from '../bench.ts'

/** A token every 100 ms, three at once. */
export const TEN: RateSettings = { type: 'rate', amount: 10, perMs: 1_000, burst: 3 }
export const THREE: LimitSettings = { type: 'concurrency', most: 3 }

/** Declares the limit and queues that use it, each with this many ready jobs. */
export async function setUpLimitedQueues(
  store: FullStore,
  settings: LimitSettings,
  { queues = ['mail'], jobs = 10 }: { readonly queues?: readonly string[]; readonly jobs?: number } = {},
): Promise<void> {
  await store.limits.declare([{ name: 'api', settings }])
  await store.queues.declare(
    queues.map((name) => ({ name, settings: { ...DEFAULT_QUEUE_SETTINGS, limit: 'api' } })),
  )
  for (const queue of queues) await store.enqueue(someJobs(Array.from({ length: jobs }, () => ({ queue }))))
}

export async function claimFrom(
  store: FullStore,
  instance: string,
  queues: readonly string[] = ['mail'],
  { room = 100, limit = 500 } = {},
): Promise<Lease[]> {
  return store.claim(aClaim(instance, { queues: queues.map((queue) => ({ queue, room })), limit }))
}

export async function apiLimit(store: FullStore): Promise<LimitRecord> {
  return only(await store.limits.list())
}

/** What a heartbeat reports about `mail` and its limit. */
export async function readinessOf(
  store: FullStore,
  instance: string,
  overrides: Partial<Parameters<FullStore['instances']['renew']>[0]> = {},
): Promise<[boolean, number | null]> {
  const { ready, budgetInMs } = await store.instances.renew(
    aHeartbeat(instance, { queues: ['mail'], ...overrides }),
  )
  return [ready, budgetInMs]
}
