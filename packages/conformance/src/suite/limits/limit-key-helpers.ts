/** Helpers for cases about keys of limits. */
import type { Acquired, FullStore, RateSettings } from 'jobmill/store'
import { anAcquire } from '../../factories.ts'
import { TEN } from './rate-helpers.ts'

/** Two at once for each key, then one every 100 ms. */
export const EACH: RateSettings = { ...TEN, perKey: true }
export const ONE: RateSettings = { ...EACH, burst: 1 }

/** One request for each of these keys, in one call. */
export async function outcomes(store: FullStore, keys: readonly string[]): Promise<Acquired['outcome'][]> {
  return (await store.limits.acquire(keys.map((key) => anAcquire('api', { key })))).map(
    ({ outcome }) => outcome,
  )
}
