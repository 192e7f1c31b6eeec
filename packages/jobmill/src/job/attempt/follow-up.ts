/** The jobs that run `onDead` and `onCancelled`: due at once, with the default priority and attempts. */
import { DEFAULTS } from '../defaults.ts'
import type { NewJob } from '../enqueue/new-job.ts'

type Own = Pick<NewJob, 'id' | 'kind' | 'queue' | 'payload' | 'orderKey' | 'first'>

export function followUpJob(own: Own): NewJob {
  return {
    priority: DEFAULTS.priority,
    maxAttempts: DEFAULTS.maxAttempts,
    dueAt: null,
    delayMs: 0,
    timeoutMs: null,
    tags: [],
    metadata: null,
    dedupe: null,
    group: null,
    ...own,
  }
}
