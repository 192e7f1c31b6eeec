/**
 * The reads: jobs, attempts, counts, queues and instances as callers see them, and which jobs wait for what.
 */
import {
  type AttemptRecord,
  type AttemptRun,
  countRows,
  type Held,
  instanceRecord,
  type InstanceRecord,
  isFailed,
  type JobFailure,
  type JobFilter,
  type JobPage,
  jobRecord,
  type JobRecord,
  type WaitsFor,
  jobResult,
  type JobResult,
  type LimitRecord,
  listRows,
  LOG_END,
  type PageRequest,
  parseKind,
  POSITION_MOST,
  type QueueCounts,
  queueRecord,
  type QueueRecord,
  UNSERVED_ROWS,
  type UnservedKind,
} from 'jobmill/store'
import { inClaimOrder } from '../jobs/claim.ts'
import { holdOf } from '../jobs/enqueue.ts'
import { limitRecord } from '../limits.ts'
import { isClaiming, runningUnder } from '../instances/liveness.ts'
import { versionOf } from './versions.ts'
import { isInGroup } from '../jobs/group-line.ts'
import { isInOrderQueue } from '../jobs/order-key.ts'
import type { OracleJob, OracleState } from '../state.ts'

export function get(state: OracleState, ids: readonly string[]): (JobRecord | null)[] {
  return ids.map((id) => {
    const job = state.jobs.get(id)
    return job === undefined ? null : jobRecord(job, waitsFor(state, job))
  })
}

function waitsFor(state: OracleState, job: OracleJob): WaitsFor {
  if (isInOrderQueue(state, job)) return 'order'
  return isInGroup(state, job) ? 'group' : null
}

export function list(state: OracleState, filter: JobFilter, page: PageRequest): Promise<JobPage> {
  return listRows(state.jobs.values(), filter, page, {
    waitsFor: (job) => waitsFor(state, job),
    versionOf: (instance) => versionOf(state, instance),
  })
}

export function holders(state: OracleState, keys: readonly string[]): (string | null)[] {
  return keys.map((key) => holdOf(state, key)?.holder ?? null)
}

export function results(state: OracleState, ids: readonly string[]): (JobResult | null)[] {
  return ids.map((id) => {
    const job = state.jobs.get(id)
    return job === undefined ? null : jobResult(job)
  })
}

export function failures(state: OracleState, ids: readonly string[]): (JobFailure | null)[] {
  return ids.map((id) => {
    const job = state.jobs.get(id)
    const last = job?.attempts.at(-1)
    if (job === undefined || last === undefined || !(job.state === 'dead' || isFailed(last))) return null
    const first = job.attempts.find((one) => one !== last && isFailed(one))
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
  return countRows(state.queues.keys(), [...state.jobs.values()], state.now)
}

export function queues(state: OracleState): QueueRecord[] {
  return byName(state.queues).map(([name, queue]) => queueRecord(name, queue, state.now))
}

export function limits(state: OracleState): LimitRecord[] {
  return byName(state.limits).map(([name, limit]) => limitRecord(state, name, limit))
}

export function instances(state: OracleState): InstanceRecord[] {
  return byName(state.instances).map(([, instance]) => instanceRecord(instance, state.now))
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
  const isFair = state.queues.get(job.queue)?.settings.groupFair === true && job.group !== null
  const lane = inClaimOrder(state).filter(
    ({ queue, group, priority }) =>
      queue === job.queue && (!isFair || (group === job.group && priority === job.priority)),
  )
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
