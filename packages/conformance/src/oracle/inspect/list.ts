/** list: the order of each listing, its filters and its pages. */
import {
  type Chunk,
  hasAll,
  isDedupeKey,
  isEnded,
  type JobFilter,
  type JobPage,
  type JobState,
  listWithinBudget,
  namesOf,
  orderOf,
  type PageRequest,
  type Position,
  systemPlatform,
  parseKind,
} from 'jobmill/store'
import { lastError, lastFailed, lastFailure, summary } from './read.ts'
import { versionOf } from '../instances/versions.ts'
import type { OracleJob, OracleState } from '../state.ts'

export function list(state: OracleState, filter: JobFilter, page: PageRequest): Promise<JobPage> {
  return listWithinBudget(systemPlatform, filter, page, (from, rows) =>
    Promise.resolve(chunk(state, filter, from, rows)),
  )
}

function chunk(state: OracleState, filter: JobFilter, from: Position | null, rows: number): Chunk {
  const order = orderOf(filter)
  const newestFirst = order === undefined || isEnded(order)
  const compare = (a: Position, b: Position): number => comparePositions(a, b) * (newestFirst ? -1 : 1)
  const after = [...state.jobs.values()]
    .filter((job) => filter.state === undefined || job.state === filter.state)
    .map((job) => ({ job, position: positionOf(job, order) }))
    .toSorted((a, b) => compare(a.position, b.position))
    .filter(({ position }) => from === null || compare(position, from) > 0)
  const looked = after.slice(0, rows)
  return {
    jobs: looked
      .filter(({ job }) => matches(state, job, filter))
      .map(({ job, position }) => ({ job: summary(state, job), position })),
    scanned: looked.length,
    last: looked.at(-1)?.position ?? null,
    end: looked.length === after.length,
  }
}

function positionOf(job: OracleJob, order: JobState | undefined): Position {
  if (order === undefined) return [job.id]
  if (order === 'scheduled') return [job.dueAt, job.id]
  if (order === 'ready') return [job.priority, job.seq, job.id]
  return [job.run?.startedAt ?? job.endedAt ?? 0, job.id]
}

/** Parts at the same index have the same type. */
function comparePositions(a: Position, b: Position): number {
  const at = a.findIndex((part, index) => part !== b[index])
  if (at === -1) return 0
  return (a[at] ?? 0) < (b[at] ?? 0) ? -1 : 1
}

function matches(state: OracleState, job: OracleJob, filter: JobFilter): boolean {
  const {
    tags,
    endedFrom,
    endedBefore,
    retrying,
    enqueuedFrom,
    enqueuedBefore,
    startedFrom,
    startedBefore,
    failedFrom,
    failedBefore,
    version,
    orderKey,
    dedupeKey,
    payloadText,
    payloadAt,
    errorText,
  } = filter
  const last = job.run ?? job.attempts.at(-1)
  return (
    (namesOf(filter.queue)?.includes(job.queue) ?? true) &&
    (namesOf(filter.kind)?.includes(parseKind(job.kind).kind) ?? true) &&
    (retrying !== true || lastFailed(job)) &&
    (endedFrom === undefined || (isEnded(job.state) && (job.endedAt ?? 0) >= endedFrom)) &&
    (endedBefore === undefined || (isEnded(job.state) && (job.endedAt ?? 0) < endedBefore)) &&
    (namesOf(version)?.some((one) => one === versionOf(state, last?.instance)) ?? true) &&
    isWithin(last?.startedAt, startedFrom, startedBefore) &&
    isWithin(lastFailure(job)?.endedAt, failedFrom, failedBefore) &&
    (orderKey === undefined || job.orderKey === orderKey) &&
    (dedupeKey === undefined || isDedupeKey(job.dedupe?.key, dedupeKey)) &&
    (tags === undefined || tags.every((tag) => job.tags.includes(tag))) &&
    (enqueuedFrom === undefined || job.enqueuedAt >= enqueuedFrom) &&
    (enqueuedBefore === undefined || job.enqueuedAt < enqueuedBefore) &&
    (payloadText === undefined || job.payload.includes(payloadText)) &&
    (payloadAt === undefined || hasAll(job.payload, payloadAt)) &&
    (errorText === undefined || (job.state !== 'done' && (lastError(job) ?? '').includes(errorText)))
  )
}

/** A job without this instant is outside of every range. */
function isWithin(
  at: number | null | undefined,
  from: number | undefined,
  before: number | undefined,
): boolean {
  if (from === undefined && before === undefined) return true
  return at !== null && at !== undefined && at >= (from ?? -Infinity) && at < (before ?? Infinity)
}
