/** The lease of a job that is written as running. */
import type { NewJob } from '../job/new-job.ts'
import type { Lease } from './claim.ts'

type InsertedAs = Omit<NewJob, 'dueAt' | 'delayMs' | 'dedupe'>

/** As a claim right after the write would give it: all that it would tell is known. */
export function insertedLeased(job: InsertedAs, token: number, at: number): Lease {
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
