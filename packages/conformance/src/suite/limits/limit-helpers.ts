/** Helpers for cases about limits: rates, keys, permits, and queues that use a limit. */
import assert from 'node:assert/strict'
import type {
  Acquired,
  AcquireRequest,
  FullStore,
  HeartbeatRequest,
  Lease,
  LimitParts,
  LimitRecord,
  LimitSettings,
  PermitOf,
  RateSettings,
} from 'jobmill/store'
import { aClaim, aHeartbeat, anAcquire, anInstance, HOUR, only, someJobs } from '../../factories.ts'
import type { Bench, HeldLease } from '../bench.ts'
import { pluck, repeat } from '../looks.ts'

export const permits = (most: number) => ({ type: 'concurrency', most }) as const
export const rate = <const Parts extends object>(parts: Parts) => ({ type: 'rate', ...parts }) as const
/** A token every 100 ms, two at once. */
export const TEN = rate({ amount: 10, perMs: 1_000, burst: 2 })
/** The same for each key. */
export const EACH = { ...TEN, perKey: true } as const
export const ONE = { ...EACH, burst: 1 } as const
/** A token every 100 ms, three at once. */
export const BURST_OF_3 = { ...TEN, burst: 3 }

/** Declares the limit `api`, or another one. */
export function declare(store: FullStore, settings: LimitParts = TEN, name = 'api'): Promise<void> {
  return store.limits.declare([{ name, settings }])
}

export async function apiLimit(store: FullStore): Promise<LimitRecord> {
  const limit = (await store.limits.list()).find(({ name }) => name === 'api')
  return limit ?? assert.fail('limit api does not exist')
}

/** The permits in use. */
export async function heldOf(store: FullStore): Promise<number> {
  return (await apiLimit(store)).held
}

export async function draw(store: FullStore, overrides: Partial<AcquireRequest> = {}): Promise<Acquired> {
  return only(await store.limits.acquire([anAcquire('api', overrides)]))
}

/** A request that is refused, because it would wait at most 1 ms, but gets a place in the wait list. */
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

/** In tokens: instants since 1970 are precise to about 0.0002 ms. */
const ROUNDING = 1e-4

/** Checks that no window between two of these instants has more tokens than the burst and the rate allow. */
export function respectsRate(instants: number[], { amount, perMs, burst }: RateSettings): void {
  instants.sort((a, b) => a - b)
  for (const [n, from] of instants.entries())
    for (const [more, to] of instants.slice(n).entries())
      assert.ok(
        more + 1 <= burst + (amount * (to - from)) / perMs + ROUNDING,
        `${more + 1} in ${to - from} ms`,
      )
}

/** Sends these requests through all handles at once. Returns the key and the time of each granted token. */
export async function grants(
  stores: readonly FullStore[],
  now: number,
  asked: readonly Partial<AcquireRequest>[],
): Promise<{ readonly key: string | undefined; readonly at: number }[]> {
  const requests = asked.map((one) => anAcquire('api', one))
  const replies = await Promise.all(stores.map((store) => store.limits.acquire(requests)))
  return replies.flatMap((acquired) =>
    requests.flatMap(({ key, amount }, n) => {
      const reply = acquired[n]
      return reply?.outcome === 'granted' ? repeat({ key, at: now + reply.waitMs }, amount) : []
    }),
  )
}

export async function settingsVersion(store: FullStore): Promise<number> {
  return (await store.instances.renew(aHeartbeat(anInstance().id))).settingsVersion
}

/** The request of a job that is running under this lease. */
export function acquireFor(
  { id, token, instance }: HeldLease,
  overrides: Partial<AcquireRequest> = {},
): AcquireRequest {
  return anAcquire('api', { holder: id, token, instance, ...overrides })
}

/** The permit of a job that is running under this lease. */
export function permitOf({ id, token }: Lease): PermitOf {
  return { limit: 'api', holder: id, token }
}

/**
 * Declares the limit `api` and queues that use it, each with this many ready jobs. Returns an instance to
 * claim them.
 */
export async function setUpLimitedQueues(
  t: Bench,
  settings: LimitSettings,
  { queues = ['mail'], jobs = 10 }: { readonly queues?: readonly string[]; readonly jobs?: number } = {},
): Promise<string> {
  await declare(t.store, settings)
  await t.store.queues.declare(queues.map((name) => ({ name, settings: { limit: 'api' } })))
  for (const queue of queues) await t.store.enqueue(someJobs(repeat({ queue }, jobs)))
  return t.worker({ leaseMs: HOUR })
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
  overrides: Partial<HeartbeatRequest> = {},
): Promise<[boolean, number | null]> {
  const heartbeat = await store.instances.renew(aHeartbeat(instance, { queues: ['mail'], ...overrides }))
  return [heartbeat.ready, heartbeat.budgetInMs]
}
