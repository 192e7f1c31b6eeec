/**
 * The reads: jobs, attempts, counts, queues and instances as callers see them, and which jobs wait for what.
 */
import {
  type AttemptRecord,
  type AttemptRun,
  type Held,
  type InstanceRecord,
  JOB_STATES,
  type JobFailure,
  type JobRecord,
  type JobResult,
  type JobState,
  type JobSummary,
  type LimitRecord,
  LOG_END,
  NEVER_DUE,
  type Outcome,
  POSITION_MOST,
  type QueueCounts,
  type QueueRecord,
  UNSERVED_ROWS,
  type UnservedKind,
  parseKind,
} from 'jobmill/store'
import { inClaimOrder } from '../jobs/claim.ts'
import { holdOf } from '../jobs/enqueue.ts'
import { limitRecord } from '../limits.ts'
import { instanceRecord, isClaiming, runningUnder } from '../instances/liveness.ts'
import { versionOf } from '../instances/versions.ts'
import { isInOrderQueue } from '../jobs/order-key.ts'
import { queueRecord } from '../queues.ts'
import type { OracleAttempt, OracleJob, OracleState } from '../state.ts'

export function summary(state: OracleState, job: OracleJob): JobSummary {
  const {
    payload,
    metadata,
    timeoutMs,
    dedupe,
    seq,
    readyAt,
    run,
    result,
    attempts,
    steps,
    events,
    children: _,
    ...common
  } = job
  return {
    ...common,
    ...parseKind(job.kind),
    waitsForOrder: isInOrderQueue(state, job),
    dueAt: job.state === 'scheduled' && job.dueAt < NEVER_DUE ? job.dueAt : null,
    startedAt: run?.startedAt ?? null,
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

export function holders(state: OracleState, keys: readonly string[]): (string | null)[] {
  return keys.map((key) => holdOf(state, key)?.holder ?? null)
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

/** The last failed attempt. The last attempt of a dead job failed, even if it was interrupted. */
export function lastFailure({ state, attempts }: OracleJob): OracleAttempt | undefined {
  return state === 'dead' ? attempts.at(-1) : attempts.findLast(({ outcome }) => FAILED.includes(outcome))
}

export function failures(state: OracleState, ids: readonly string[]): (JobFailure | null)[] {
  return ids.map((id) => {
    const job = state.jobs.get(id)
    const last = job?.attempts.at(-1)
    if (job === undefined || last === undefined || !(job.state === 'dead' || lastFailed(job))) return null
    const first = job.attempts.find((one) => one !== last && FAILED.includes(one.outcome))
    return {
      error: last.error,
      at: last.endedAt,
      outcome: last.outcome,
      version: versionOf(state, last.instance),
      logEnd: logEnd(last.log),
      first: first === undefined ? null : { at: first.endedAt, error: first.error },
    }
  })
}

function logEnd(log: string | null): string | null {
  if (log === null || Buffer.byteLength(log) > LOG_END.mostBytes) return null
  return Array.from(log).slice(-LOG_END.chars).join('')
}

export function runs(state: OracleState, ids: readonly string[], endedFrom: number): AttemptRun[] {
  const found = [...new Set(ids)].flatMap((id) =>
    (state.jobs.get(id)?.attempts ?? []).flatMap(({ attempt, instance, startedAt, endedAt, outcome }) =>
      instance === null || startedAt === null || endedAt < endedFrom
        ? []
        : [{ id, attempt, instance, startedAt, endedAt, outcome }],
    ),
  )
  return found.toSorted((a, b) => a.endedAt - b.endedAt || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))
}

export function history(state: OracleState, id: string): AttemptRecord[] {
  return (state.jobs.get(id)?.attempts ?? []).map(({ wentTo: _, ...attempt }) => ({
    ...attempt,
    version: versionOf(state, attempt.instance),
  }))
}

export function counts(state: OracleState): QueueCounts[] {
  return byName(state.queues).map(([queue]) => {
    const jobs = [...state.jobs.values()].filter((job) => job.queue === queue)
    const count = (state: JobState): number => jobs.filter((job) => job.state === state).length
    const numbers = Object.fromEntries(JOB_STATES.map((state) => [state, count(state)]))
    const ready = jobs.filter((job) => job.state === 'ready').map((job) => job.readyAt)
    const oldestReadyMs = ready.length === 0 ? null : state.now - Math.min(...ready)
    return { queue, ...(numbers as Record<JobState, number>), oldestReadyMs }
  })
}

export function queues(state: OracleState): QueueRecord[] {
  return byName(state.queues).map(([name, queue]) => queueRecord(state, name, queue))
}

export function limits(state: OracleState): LimitRecord[] {
  return byName(state.limits).map(([name, limit]) => limitRecord(state, name, limit))
}

export function instances(state: OracleState): InstanceRecord[] {
  return byName(state.instances).map(([, instance]) => instanceRecord(state, instance))
}

export function held(state: OracleState, instance: string): Held[] {
  return runningUnder(state, instance).map(({ job, run }) => ({
    id: job.id,
    token: run.token,
    ageMs: state.now - run.startedAt,
  }))
}

export function byName<T>(named: ReadonlyMap<string, T>): [string, T][] {
  return [...named].toSorted(([a], [b]) => (a < b ? -1 : 1))
}

/** How many ready jobs would be claimed before this one. */
export function position(state: OracleState, id: string, kinds?: readonly string[]): number | null {
  const job = state.jobs.get(id)
  if (job?.state !== 'ready') return null
  const lane = inClaimOrder(state).filter(({ queue }) => queue === job.queue)
  const before = lane.slice(0, lane.indexOf(job)).filter(({ kind }) => kinds?.includes(kind) ?? true)
  return Math.min(POSITION_MOST, before.length)
}

/** Kinds with waiting jobs that no running instance handles in their queue. */
export function unservedKinds(state: OracleState): UnservedKind[] {
  const alive = [...state.instances.values()].filter(({ id }) => isClaiming(state, id))
  const isServed = ({ queue, kind }: OracleJob): boolean =>
    alive.some(({ queues, kinds }) => queues.includes(queue) && kinds.includes(kind))
  const byQueue = Map.groupBy(inClaimOrder(state), ({ queue }) => queue)
  return byName(byQueue).flatMap(([queue, jobs]) => {
    const waiting = jobs.slice(0, UNSERVED_ROWS).filter((job) => !isServed(job))
    return byName(Map.groupBy(waiting, ({ kind }) => kind)).map(([kind, alike]) => ({
      queue,
      ...parseKind(kind),
      jobs: alike.length,
    }))
  })
}
