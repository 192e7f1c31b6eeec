/** The lease of a job that was inserted as running. */
import type { NewJob } from '../job/enqueue/new-job.ts'
import type { Lease } from './types/claim.ts'

type InsertedAs = Omit<NewJob, 'dueAt' | 'delayMs' | 'dedupe'>

/** Builds the lease that a claim right after the insert would return, without asking the database. */
export function insertLeased(job: InsertedAs, token: number, at: number): Lease {
  const { id, kind, queue, priority, maxAttempts, payload, timeoutMs, tags, metadata, orderKey, group } = job
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
    group,
    enqueuedAt: at,
    readyAt: at,
    waitedMs: 0,
  }
}
