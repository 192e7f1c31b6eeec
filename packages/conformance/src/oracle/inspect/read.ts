/** The read side: jobs, attempts, counts, queues and instances as callers see them. */
import type {
  AttemptRecord,
  Held,
  InstanceRecord,
  JobFailure,
  JobRecord,
  JobResult,
  JobSummary,
  LimitRecord,
  Outcome,
  QueueCounts,
  QueueRecord,
} from 'jobmill/store'
import { holdOf } from '../jobs/enqueue.ts'
import { limitRecord } from '../limits.ts'
import { runningUnder, instanceState } from '../instances/liveness.ts'
import { isInOrderQueue } from '../jobs/order-key.ts'
import { queueRecord } from '../queues.ts'
import type { OracleJob, OracleState } from '../state.ts'

export function summary(state: OracleState, job: OracleJob): JobSummary {
  const { id, kind, queue, priority, attempt, maxAttempts, crashes, tags, orderKey, enqueuedAt, run } = job
  return {
    id,
    kind,
    queue,
    state: job.state,
    priority,
    attempt,
    maxAttempts,
    crashes,
    tags,
    orderKey,
    waitsForOrder: isInOrderQueue(state, job),
    enqueuedAt,
    dueAt: job.state === 'scheduled' ? job.dueAt : null,
    startedAt: run?.startedAt ?? null,
    endedAt: job.endedAt,
    instance: run?.instance ?? null,
    cancelReason: run?.cancelReason ?? null,
  }
}

export function get(state: OracleState, ids: readonly string[]): (JobRecord | null)[] {
  return ids.map((id) => {
    const job = state.jobs.get(id)
    if (job === undefined) return null
    return {
      ...summary(state, job),
      payload: job.payload,
      metadata: job.metadata,
      result: job.result,
      progress: job.run?.progress ?? null,
      log: job.run?.log ?? null,
      error: lastError(job),
      timeoutMs: job.timeoutMs,
      dedupeKey: job.dedupe?.key ?? null,
    }
  })
}

export function holders(state: OracleState, now: number, keys: readonly string[]): (string | null)[] {
  return keys.map((key) => holdOf(state, now, key)?.holder ?? null)
}

export function results(state: OracleState, ids: readonly string[]): (JobResult | null)[] {
  return ids.map((id) => {
    const job = state.jobs.get(id)
    return job === undefined ? null : { id, state: job.state, result: job.result, error: lastError(job) }
  })
}

export function lastError(job: OracleJob): string | null {
  return job.attempts.at(-1)?.error ?? null
}

const FAILED: readonly Outcome[] = ['failed', 'timed-out', 'failed-permanently']

export function lastFailed(job: OracleJob): boolean {
  const last = job.attempts.at(-1)
  return last !== undefined && FAILED.includes(last.outcome)
}

export function failures(state: OracleState, ids: readonly string[]): (JobFailure | null)[] {
  return ids.map((id) => {
    const job = state.jobs.get(id)
    const last = job?.attempts.at(-1)
    if (last === undefined || !(job?.state === 'dead' || FAILED.includes(last.outcome))) return null
    return { error: last.error, at: last.endedAt, outcome: last.outcome }
  })
}

export function history(state: OracleState, id: string): AttemptRecord[] {
  return (state.jobs.get(id)?.attempts ?? []).map(({ wentTo: _, ...attempt }) => attempt)
}

export function counts(state: OracleState, now: number): QueueCounts[] {
  return byName(state.queues).map(([queue]) => {
    const jobs = [...state.jobs.values()].filter((job) => job.queue === queue)
    const count = (state: OracleJob['state']): number => jobs.filter((job) => job.state === state).length
    const ready = jobs.filter((job) => job.state === 'ready').map((job) => job.readyAt)
    return {
      queue,
      scheduled: count('scheduled'),
      ready: count('ready'),
      running: count('running'),
      done: count('done'),
      dead: count('dead'),
      cancelled: count('cancelled'),
      oldestReadyMs: ready.length === 0 ? null : now - Math.min(...ready),
    }
  })
}

export function queues(state: OracleState, now: number): QueueRecord[] {
  return byName(state.queues).map(([name, queue]) => queueRecord(now, name, queue))
}

export function limits(state: OracleState, now: number): LimitRecord[] {
  return byName(state.limits).map(([name, limit]) => limitRecord(now, name, limit))
}

export function instances(state: OracleState, now: number): InstanceRecord[] {
  return byName(state.instances).map(([, instance]) => {
    const { ended: _, ...known } = instance
    return { ...known, state: instanceState(now, instance) }
  })
}

export function held(state: OracleState, now: number, instance: string): Held[] {
  return runningUnder(state, instance).map(({ job, run }) => ({
    id: job.id,
    token: run.token,
    ageMs: now - run.startedAt,
  }))
}

export function byName<T>(named: ReadonlyMap<string, T>): [string, T][] {
  return [...named].toSorted(([a], [b]) => (a < b ? -1 : 1))
}
