/** Helpers for cases about rates. */
import type {
  Acquired,
  AcquireRequest,
  FullStore,
  LimitParts,
  LimitRecord,
  RateSettings,
} from 'jobmill/store'
import { anInstance, aHeartbeat, anAcquire } from '../../factories.ts'
import { only } from '../bench.ts'

/** A token every 100 ms, two at once. */
export const TEN: RateSettings = { type: 'rate', amount: 10, perMs: 1_000, burst: 2 }

export async function declare(store: FullStore, settings: LimitParts = TEN): Promise<void> {
  await store.limits.declare([{ name: 'api', settings }])
}

export async function draw(store: FullStore, overrides: Partial<AcquireRequest> = {}): Promise<Acquired> {
  return only(await store.limits.acquire([anAcquire('api', overrides)]))
}

/** A request that would wait, but not long enough: it gets a place in the wait list. */
export function patientRequest(): AcquireRequest {
  return anAcquire('api', { waitUpToMs: 1 })
}

export async function apiLimit(store: FullStore): Promise<LimitRecord> {
  return only(await store.limits.list())
}

export function countGranted(replies: readonly Acquired[]): number {
  return replies.filter(({ outcome }) => outcome === 'granted').length
}

export async function settingsVersion(store: FullStore): Promise<number> {
  return (await store.instances.renew(aHeartbeat(anInstance().id))).settingsVersion
}
