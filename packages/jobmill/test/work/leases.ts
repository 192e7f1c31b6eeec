/** Shared by the unit tests of this folder: leases, attempts, and database errors. */
import { JobmillError } from '../../src/job/errors.ts'
import type { Lease } from '../../src/store/types/claim.ts'
import { type Attempt, newAttempt } from '../../src/work/attempt.ts'

let made = 0

/** Of a new job, unless an id is given. */
export function aLease(overrides: Partial<Lease> = {}): Lease {
  made += 1
  return {
    id: `00000000-0000-7000-8000-${String(made).padStart(12, '0')}`,
    token: made,
    kind: 'work',
    queue: 'default',
    priority: 0,
    attempt: 1,
    maxAttempts: 5,
    crashes: 0,
    payload: 'null',
    timeoutMs: null,
    tags: [],
    metadata: null,
    orderKey: null,
    group: null,
    enqueuedAt: 0,
    readyAt: 0,
    waitedMs: 0,
    ...overrides,
  }
}

export function anAttempt(overrides: Partial<Lease> = {}): Attempt {
  return anAttemptOf(aLease(overrides))
}

export function anAttemptOf(lease: Lease): Attempt {
  return newAttempt(lease, 0)
}

export function unavailable(): JobmillError {
  return new JobmillError('STORE_UNAVAILABLE', 'the database is away')
}

/** Turns of the microtask queue, in which a call can come between two steps. */
export async function microtasks(count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) await Promise.resolve()
}
