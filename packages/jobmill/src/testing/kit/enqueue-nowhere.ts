/**
 * `enqueue` for a handler that runs without a store: checks everything as usual, and only records the jobs.
 */
import { client as createClient } from '../../enqueue/client.ts'
import { DEFAULTS } from '../../job/defaults.ts'
import { JobmillError } from '../../job/errors.ts'
import type { JobHandle } from '../../job/enqueue/handle.ts'
import { jobHandle } from '../../enqueue/job-handle.ts'
import type { Results } from '../../enqueue/results.ts'
import type { NewJob } from '../../job/enqueue/new-job.ts'
import { systemPlatform } from '../../platform/platform.ts'
import { enqueueInside, type Inside } from '../../runtime/enqueue-inside.ts'
import type { Attempt } from '../../work/attempt.ts'
import type { PrepareJobs } from '../../work/steps/child-steps.ts'
import { type RecordedJob, recordedJob } from './recorded-job.ts'

export interface EnqueuedInside extends RecordedJob {
  /** Written together with the outcome of the job that enqueued it. */
  readonly withCompletion: boolean
}

interface Nowhere {
  readonly enqueued: (isDone: boolean) => EnqueuedInside[]
  /** For the children of steps. */
  readonly prepare: PrepareJobs
  readonly add: (jobs: readonly NewJob[]) => void
}

export function enqueueNowhere(attempt: Attempt): Inside & Nowhere {
  const written: NewJob[] = []
  const write = async (jobs: readonly NewJob[]) => {
    written.push(...jobs)
    return jobs.map(({ id }) => ({ id, outcome: 'enqueued' }) as const)
  }
  const client = createClient<unknown>({
    enqueuer: { write, enqueue: () => Promise.reject(noStore()) },
    results: noResults,
    platform: systemPlatform,
    emit: () => {},
    tracing: null,
    definition: () => undefined,
    kinds: [],
    queues: new Set(),
    queueOf: () => DEFAULTS.queue,
    payloadLimitBytes: DEFAULTS.payloadLimitBytes,
    open: () => undefined,
    lineGrew: () => {},
    hasGroupLimits: () => false,
    written: () => {},
  })
  const handle = (id: string): JobHandle<never> =>
    jobHandle(id, { results: noResults, platform: systemPlatform }, true)
  return {
    ...enqueueInside(attempt, client, handle),
    prepare: client.prepare,
    add: (jobs) => void written.push(...jobs),
    enqueued: (isDone) => [
      ...written.map((job) => ({ ...recordedJob(job), withCompletion: false })),
      ...(isDone ? attempt.followUps : []).map((job) => ({ ...recordedJob(job), withCompletion: true })),
    ],
  }
}

/** The recorded jobs never run, so there is no result to wait for. */
const noResults: Pick<Results, 'add' | 'forget'> = {
  add(_id, waiter) {
    // Fails in a later turn, because the caller is not yet registered when this is called.
    systemPlatform.nextTurn(() => waiter.fail(noStore()))
    return () => {}
  },
  forget: () => {},
}

function noStore(): JobmillError {
  const what = 'runJob has no store, so jobs that a handler enqueues have no result'
  const fix = 'Use testMill to test a handler that awaits other jobs'
  return new JobmillError('MILL_NOT_STARTED', what, { fix })
}
