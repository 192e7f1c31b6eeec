/** Valid jobs, instances and requests for tests, so that a test sets only the fields that it tests. */
import {
  type AcquireRequest,
  type AlertRule,
  type AlertWrite,
  BOUNDS,
  type ClaimRequest,
  DEFAULTS,
  type DirectDispatchOffer,
  type Finish,
  type HeartbeatRequest,
  type JobRequest,
  type Lease,
  type NewInstance,
  NO_STATE,
  type NewJob,
  type Outcome,
  prepareJobs,
  type RetainRequest,
  type ScheduleDefinition,
  systemPlatform,
  type Tick,
  type Transition,
} from 'jobmill/store'

/** The default kind of jobs. */
export const KIND = 'work'
/** The default queue of jobs. */
export const QUEUE = 'default'

export const HOUR = 3_600_000

const LEASE_MS = 10_000
const RENEW_EVERY_MS = 3_000

export function someJobs(requests: readonly Partial<JobRequest>[]): NewJob[] {
  return prepareJobs(
    requests.map((request) => ({ kind: KIND, payload: null, ...request })),
    { mintId: () => systemPlatform.id() },
  )
}

export function aJob(request: Partial<JobRequest> = {}): NewJob {
  return only(someJobs([request]))
}

export function only<T>(items: readonly T[]): T {
  const [item] = items
  if (item === undefined || items.length !== 1) throw new Error(`expected one item, got ${items.length}`)
  return item
}

/** The content does not matter, because a store does not interpret rules. */
export function anAlert(name: string, write: Partial<AlertWrite> = {}): AlertWrite {
  return { name, revision: null, rule: aRule(), state: NO_STATE, ...write }
}

export function aRule(overrides: Partial<AlertRule> = {}): AlertRule {
  return {
    checks: ['dead'],
    queue: null,
    kind: null,
    url: 'https://example.com/hook',
    secrets: ['whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'],
    forMs: 0,
    coolDownMs: HOUR,
    recovery: true,
    paused: false,
    inCode: false,
    ...overrides,
  }
}

export function anInstance(overrides: Partial<NewInstance> = {}): NewInstance {
  return {
    id: systemPlatform.id(),
    label: null,
    version: null,
    queues: [QUEUE],
    kinds: [KIND],
    onDead: [],
    capacity: 10,
    leaseMs: LEASE_MS,
    ...overrides,
  }
}

export function aClaim(instance: string, overrides: Partial<ClaimRequest> = {}): ClaimRequest {
  return {
    instance,
    queues: [{ queue: QUEUE, room: 500 }],
    kinds: [KIND],
    limit: 500,
    quarantined: 'skip',
    ...overrides,
  }
}

/** The room of each queue of a claim or of an offer. */
export function rooms(of: Readonly<Record<string, number>>): ClaimRequest['queues'] {
  return Object.entries(of).map(([queue, room]) => ({ queue, room }))
}

/** Offers more idle workers than any test has jobs. */
export function aDirectDispatch(
  instance: string,
  overrides: Partial<DirectDispatchOffer> = {},
): DirectDispatchOffer {
  return { instance, queues: [{ queue: QUEUE, room: 500 }], kinds: [KIND], ...overrides }
}

export function aHeartbeat(instance: string, overrides: Partial<HeartbeatRequest> = {}): HeartbeatRequest {
  return {
    instance,
    leaseMs: LEASE_MS,
    renewEveryMs: RENEW_EVERY_MS,
    queues: [QUEUE],
    kinds: [KIND],
    duties: [],
    ...overrides,
  }
}

/** Deletes jobs and keys past their retention, and other records only if `overrides` says so. */
export function aRetain(overrides: Partial<RetainRequest> = {}): RetainRequest {
  return {
    limit: 100,
    ticksMs: BOUNDS.durationMs,
    eventsMs: BOUNDS.durationMs,
    metricsMs: [BOUNDS.durationMs, BOUNDS.durationMs, BOUNDS.durationMs, BOUNDS.durationMs],
    ...overrides,
  }
}

/** A complete schedule. Stores do not interpret its expression and zone. */
export function aDefinition(overrides: Partial<ScheduleDefinition> = {}): ScheduleDefinition {
  return {
    when: '0 9 * * *',
    zone: 'UTC',
    jitterMs: 0,
    startAt: null,
    endAt: null,
    missed: 'last',
    missedWithinMs: DEFAULTS.missedWithinMs,
    overlap: 'allow',
    paused: false,
    kind: KIND,
    queue: QUEUE,
    payload: 'null',
    priority: 0,
    maxAttempts: 5,
    timeoutMs: null,
    tags: [],
    ...overrides,
  }
}

/** The first step of a new schedule: it plans a tick and serves none. */
export function aTick(schedule: string, overrides: Partial<Tick> = {}): Tick {
  return { schedule, revision: 1, from: null, nextAt: null, fires: [], missed: 0, ...overrides }
}

/** Requests one token or permit for a new holder outside of jobs. */
export function anAcquire(limit: string, overrides: Partial<AcquireRequest> = {}): AcquireRequest {
  const outside = { holder: systemPlatform.id(), instance: systemPlatform.id(), token: null }
  return { limit, amount: 1, waitUpToMs: 0, ...outside, ...overrides }
}

export const DONE: Transition = { to: 'done', result: null }
export const FORGET = { to: 'done', result: null, forget: true } as const satisfies Transition
export const DEAD: Transition = { to: 'dead' }
export const RELEASED: Transition = { to: 'ready' }

export function later(delayMs: number, { refund = false } = {}): Transition {
  return { to: 'scheduled', delayMs, refund }
}

/** The default outcome of each transition. */
const USUAL: Readonly<Record<Transition['to'], Outcome | null>> = {
  done: 'returned',
  scheduled: 'failed',
  ready: null,
  dead: 'failed-permanently',
  cancelled: 'cancelled',
  parked: 'parked',
}

export function aFinish(
  lease: Pick<Lease, 'id' | 'token'>,
  transition: Transition,
  more: Partial<Finish> = {},
): Finish {
  return { id: lease.id, token: lease.token, transition, outcome: USUAL[transition.to], ...more }
}
