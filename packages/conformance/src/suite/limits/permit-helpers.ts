/** Helpers for cases about permits. */
import assert from 'node:assert/strict'
import type { Acquired, AcquireRequest, FullStore, Lease, LimitRecord, PermitOf } from 'jobmill/store'
import { anAcquire } from '../../factories.ts'
import { only } from '../bench.ts'

export type HeldLease = Lease & { readonly instance: string }

export async function declare(store: FullStore, most: number, name = 'db'): Promise<void> {
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

export async function acquireOutcome(store: FullStore, item: AcquireRequest): Promise<Acquired['outcome']> {
  return only(await store.limits.acquire([item])).outcome
}
