/** Helpers for cases about limits: rates, keys, permits, and queues that use a limit. */
import assert from 'node:assert/strict'
import {
  type Acquired,
  type AcquireRequest,
  DEFAULT_QUEUE_SETTINGS,
  type FullStore,
  type Lease,
  type LimitParts,
  type LimitRecord,
  type LimitSettings,
  type PermitOf,
  type RateSettings,
} from 'jobmill/store'
import { aClaim, aHeartbeat, anAcquire, anInstance, someJobs } from '../../factories.ts'
import { only } from '../bench.ts'
import { pluck } from '../looks.ts'

/** A token every 100 ms, two at once. */
export const TEN: RateSettings = { type: 'rate', amount: 10, perMs: 1_000, burst: 2 }
/** The same for each key. */
export const EACH: RateSettings = { ...TEN, perKey: true }
export const ONE: RateSettings = { ...EACH, burst: 1 }
/** A token every 100 ms, three at once. */
export const BURST_OF_3: RateSettings = { ...TEN, burst: 3 }
/** Three permits. */
export const THREE: LimitSettings = { type: 'concurrency', most: 3 }

/** Declares the limit `api`. */
export async function declare(store: FullStore, settings: LimitParts = TEN): Promise<void> {
  await store.limits.declare([{ name: 'api', settings }])
}

/** The only limit. */
export async function apiLimit(store: FullStore): Promise<LimitRecord> {
  return only(await store.limits.list())
}

export async function draw(store: FullStore, overrides: Partial<AcquireRequest> = {}): Promise<Acquired> {
  return only(await store.limits.acquire([anAcquire('api', overrides)]))
}

/** A request that would wait, but not long enough: it gets a place in the wait list. */
export function patientRequest(overrides: Partial<AcquireRequest> = {}): AcquireRequest {
  return anAcquire('api', { waitUpToMs: 1, ...overrides })
}

export async function acquireOutcome(store: FullStore, item: AcquireRequest): Promise<Acquired['outcome']> {
  return only(await store.limits.acquire([item])).outcome
}

export function granted(waitMs: number): Acquired {
  return { outcome: 'granted', waitMs }
}

/** One request for each of these keys in one call: `a+` is granted, and `a-` is not yet. */
export async function gives(store: FullStore, expected: string): Promise<void> {
  const keys = expected.split(' ').map((one) => one.slice(0, -1))
  const replies = await outcomes(store, keys)
  const signs = { granted: '+', later: '-' } as const
  const actual = replies.map((outcome, n) =>
    outcome === 'granted' || outcome === 'later' ? `${keys[n]}${signs[outcome]}` : outcome,
  )
  assert.equal(actual.join(' '), expected)
}

/** The outcomes of one request for each of these keys, in one call. */
export async function outcomes(store: FullStore, keys: readonly string[]): Promise<Acquired['outcome'][]> {
  return pluck(await store.limits.acquire(keys.map((key) => anAcquire('api', { key }))), 'outcome')
}

export function countGranted(replies: readonly Acquired[]): number {
  return replies.filter(({ outcome }) => outcome === 'granted').length
}

/** Checks that no window between two of these instants has more tokens than the burst and the rate allow. */
export function respectsRate(instants: number[], { amount, perMs, burst }: RateSettings): void {
  instants.sort((a, b) => a - b)
  for (const [n, from] of instants.entries())
    for (const [more, to] of instants.slice(n).entries())
      assert.ok(more + 1 <= burst + (amount * (to - from)) / perMs + 1e-6, `${more + 1} in ${to - from} ms`)
}

export async function settingsVersion(store: FullStore): Promise<number> {
  return (await store.instances.renew(aHeartbeat(anInstance().id))).settingsVersion
}

export type HeldLease = Lease & { readonly instance: string }

/** Declares a concurrency limit. */
export async function declarePermits(store: FullStore, most: number, name = 'db'): Promise<void> {
  await store.limits.declare([{ name, settings: { type: 'concurrency', most } }])
}

export async function dbLimit(store: FullStore): Promise<LimitRecord> {
  const limit = (await store.limits.list()).find(({ name }) => name === 'db')
  assert.ok(limit, 'limit db does not exist')
  return limit
}

export async function heldOf(store: FullStore): Promise<number> {
  return (await dbLimit(store)).held
}

/** The request of a job that is running under this lease. */
export function acquireFor(
  { id, token, instance }: HeldLease,
  overrides: Partial<AcquireRequest> = {},
): AcquireRequest {
  return anAcquire('db', { holder: id, token, instance, ...overrides })
}

/** The permit of a job that is running under this lease. */
export function permitOf({ id, token }: Lease): PermitOf {
  return { limit: 'db', holder: id, token }
}

/** Declares the limit `api` and queues that use it, each with this many ready jobs. */
export async function setUpLimitedQueues(
  store: FullStore,
  settings: LimitSettings,
  { queues = ['mail'], jobs = 10 }: { readonly queues?: readonly string[]; readonly jobs?: number } = {},
): Promise<void> {
  await declare(store, settings)
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
