/** Jobs, instances and requests for tests: complete and valid, with only what a test cares about said. */
import type { NewJob } from '../job/new-job.ts'
import { type JobRequest, prepareJobs } from '../job/prepare-jobs.ts'
import { systemPlatform } from '../platform/platform.ts'
import type { ClaimRequest } from '../store/claim.ts'
import type { NewInstance, PulseRequest } from '../store/instance.ts'

/** The kind of every job that does not say another. */
export const KIND = 'work'
/** The queue of every job that does not say another. */
export const QUEUE = 'default'

const LEASE_MS = 10_000
const RENEW_EVERY_MS = 3_000

export function someJobs(requests: readonly Partial<JobRequest>[]): NewJob[] {
  return prepareJobs(
    requests.map((request) => ({ kind: KIND, payload: null, ...request })),
    { mintId: () => systemPlatform.id() },
  )
}

export function aJob(request: Partial<JobRequest> = {}): NewJob {
  const [job] = someJobs([request])
  if (job === undefined) throw new Error('one request makes one job')
  return job
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
    suspects: 'skip',
    ...overrides,
  }
}

export function aPulse(instance: string, overrides: Partial<PulseRequest> = {}): PulseRequest {
  return {
    instance,
    leaseMs: LEASE_MS,
    renewEveryMs: RENEW_EVERY_MS,
    queues: [QUEUE],
    kinds: [KIND],
    ...overrides,
  }
}
