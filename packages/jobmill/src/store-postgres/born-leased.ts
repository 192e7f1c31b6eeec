/** The lease of a job that is written as running. */
import type { NewJob } from '../job/new-job.ts'
import type { Lease } from '../store/claim.ts'

type Born = Omit<NewJob, 'dueAt' | 'delayMs' | 'dedupe'>

/** All that a claim would tell is known: the job was written a moment ago. */
export function bornLeased(job: Born, token: number, at: number): Lease {
  const { id, kind, queue, priority, maxAttempts, payload, timeoutMs, tags, metadata, orderKey } = job
  return {
    id,
    token,
    kind,
    queue,
    priority,
    attempt: 1,
    maxAttempts,
    crashes: 0,
    payload,
    timeoutMs,
    tags,
    metadata,
    orderKey,
    enqueuedAt: at,
    readyAt: at,
    waitedMs: 0,
  }
}
