/**
 * What filling a database needs of any release, through its store contract. Every job has a role, by which
 * tests identify it.
 */
import type { FullStore } from 'jobmill'
import type { Lease, NewJob, QueueSettings } from 'jobmill/store'
import type { JobRequest } from 'jobmill/internal'
import type { Release } from '../releases/release.ts'

export const KIND = 'work'
export const QUEUE = 'mail'

/** Keeps everything, because a fixture is opened years later. */
const KEEPS = { retainDoneMs: null, retainCancelledMs: null, retainDeadMs: null }

/** Job ids by role. */
export type Roles = Record<string, string>

export interface Scene {
  readonly store: FullStore<never>
  readonly roles: Roles
  readonly settings: (of: Partial<QueueSettings>) => QueueSettings
  /** Builds a job for each role; the caller writes them. */
  readonly prepare: (requests: Requests) => NewJob[]
  readonly enqueue: (requests: Requests) => Promise<void>
  readonly register: (label: string, leaseMs: number) => Promise<string>
  /**
   * Leases all ready jobs of a queue and returns them by role. Throws when their number is not as expected.
   */
  readonly claim: (instance: string, expected: number, queue?: string) => Promise<Map<string, Lease>>
}

type Requests = Readonly<Record<string, Partial<JobRequest>>>

export function sceneOf({ entry }: Release, store: FullStore<never>): Scene {
  const roles: Roles = {}
  const mintId = (): string => entry.systemPlatform.id()

  function prepare(requests: Requests): NewJob[] {
    const jobRequests = Object.entries(requests).map(([role, request]): JobRequest => {
      return { kind: KIND, queue: QUEUE, payload: { role, text: `Grüße, ${role} 🙂` }, ...request }
    })
    const jobs = entry.prepareJobs(jobRequests, { mintId })
    Object.keys(requests).forEach((role, at) => (roles[role] = jobs[at]?.id ?? ''))
    return jobs
  }

  return {
    store,
    roles,
    prepare,
    settings: (of) => ({ ...entry.DEFAULT_QUEUE_SETTINGS, ...KEEPS, ...of }),
    enqueue: async (requests) => void (await store.enqueue(prepare(requests))),
    async register(label, leaseMs) {
      const id = mintId()
      const serves = { queues: [QUEUE], kinds: [KIND], onDead: [] }
      await store.instances.register({ id, label, version: 'kept', ...serves, capacity: 10, leaseMs })
      return id
    },
    async claim(instance, expected, queue = QUEUE) {
      const request = { instance, queues: [{ queue, room: 100 }], kinds: [KIND] }
      const leases = await store.claim({ ...request, limit: 100, quarantined: 'skip' })
      if (leases.length !== expected)
        throw new Error(`expected ${expected} leases from ${queue}, got ${leases.length}`)
      const roleOf = new Map(Object.entries(roles).map(([role, id]) => [id, role]))
      return new Map(leases.map((lease) => [roleOf.get(lease.id) ?? '', lease]))
    },
  }
}
