// Short names for the common steps of filling a database.
import { randomUUID } from 'node:crypto'
import type { JobRequest } from '../../src/job/enqueue/prepare-jobs.ts'
import type { Lease } from '../../src/store/types/claim.ts'
import { aClaim, aJob, only } from '../../../conformance/src/factories.ts'
import type { Place } from './places.ts'

export const HOUR = 3_600_000
export const KINDS = ['work', 'other', 'crash']

export interface Words extends Place {
  readonly enqueue: (request?: Partial<JobRequest>) => Promise<string>
  /** The first job of a queue. */
  readonly claimOne: (queue: string, worker?: string) => Promise<Lease>
  /** A new running job, enqueued ahead of all others of its queue. */
  readonly running: (request?: Partial<JobRequest>, worker?: string) => Promise<Lease>
}

export function wordsOn(place: Place, instance: string): Words {
  const { store } = place
  let priority = -100
  const enqueue: Words['enqueue'] = async (request) => {
    // Random ids: only pages are ordered by id.
    const job = aJob({ id: randomUUID(), ...request })
    await store.enqueue([job])
    return job.id
  }
  const claimOne: Words['claimOne'] = async (queue, worker = instance) =>
    only(await store.claim(aClaim(worker, { queues: [{ queue, room: 1 }], kinds: KINDS })))
  return {
    ...place,
    enqueue,
    claimOne,
    async running(request = {}, worker = instance) {
      const { queue = 'mail' } = request
      priority -= 1
      const id = await enqueue({ queue, priority, ...request })
      if (request.orderKey !== undefined) await store.stage(100)
      const lease = await claimOne(queue, worker)
      if (lease.id !== id) throw new Error(`another job of ${queue} goes before ${id}`)
      return lease
    },
  }
}
