/** Job rows as callers read them: lists, counts, and what retention deletes. */
import type { Outcome } from '../../job/attempt/outcome.ts'
import { type EndedState, isEnded, JOB_STATES, type JobState } from '../../job/state.ts'
import { parseKind } from '../../job/kind/kind-name.ts'
import type { QueueSettings } from '../../job/queue/queue-settings.ts'
import { systemPlatform } from '../../platform/platform.ts'
import { isDedupeKey } from '../dedupe-key.ts'
import { hasAll } from '../payload-at.ts'
import {
  type Chunk,
  type JobFilter,
  type JobPage,
  listWithinBudget,
  namesOf,
  orderOf,
  type PageRequest,
  type Position,
} from '../types/job-list.ts'
import type { JobRecord, JobResult, JobSummary } from '../types/job-record.ts'
import type { QueueCounts } from '../types/queue-record.ts'
import { NEVER_DUE } from '../types/step.ts'
import type { AttemptRow, JobRow } from './job-row.ts'

/** What a due job waits for; null if nothing. */
export type WaitsFor = 'order' | 'group' | null

export function jobSummary(row: JobRow, waitsFor: WaitsFor): JobSummary {
  const { id, queue, state, priority, attempt, maxAttempts, crashes, tags, orderKey, group } = row
  const common = { id, queue, state, priority, attempt, maxAttempts, crashes, tags, orderKey, group }
  return {
    ...common,
    ...parseKind(row.kind),
    waitsForOrder: waitsFor === 'order',
    waitsForGroup: waitsFor === 'group',
    enqueuedAt: row.enqueuedAt,
    dueAt: state === 'scheduled' && row.dueAt < NEVER_DUE ? row.dueAt : null,
    startedAt: row.run?.startedAt ?? null,
    endedAt: row.endedAt,
    instance: row.run?.instance ?? null,
    cancelReason: row.run?.cancelReason ?? null,
  }
}

export function jobRecord(row: JobRow, waitsFor: WaitsFor): JobRecord {
  const { payload, metadata, result, timeoutMs, run, dedupe } = row
  const running = { progress: run?.progress ?? null, log: run?.log ?? null }
  const rest = { ...running, error: lastError(row), timeoutMs, dedupeKey: dedupe?.key ?? null }
  return { ...jobSummary(row, waitsFor), payload, metadata, result, ...rest }
}

export function jobResult(row: JobRow): JobResult {
  return { id: row.id, state: row.state, result: row.result, error: lastError(row) }
}

function lastError({ attempts }: JobRow): string | null {
  return attempts.at(-1)?.error ?? null
}

const FAILED: readonly Outcome[] = ['failed', 'timed-out', 'failed-permanently']

export function isFailed(attempt: AttemptRow | undefined): attempt is AttemptRow {
  return attempt !== undefined && FAILED.includes(attempt.outcome)
}

/** How `listRows` reads what is not in the row of a job. */
export interface RowReader<Row extends JobRow> {
  readonly waitsFor: (row: Row) => WaitsFor
  /** The version of an instance, even of one that ended. */
  readonly versionOf: (instance: string | null) => string | null
}

/** `list` for a store that reads all its rows. */
export function listRows<Row extends JobRow>(
  rows: Iterable<Row>,
  filter: JobFilter,
  page: PageRequest,
  reader: RowReader<Row>,
): Promise<JobPage> {
  const order = orderOf(filter)
  const direction = order === undefined || isEnded(order) ? -1 : 1
  const compare = (a: Position, b: Position): number => comparePositions(a, b) * direction
  const all = Array.from(rows)
    .filter(({ state }) => filter.state === undefined || state === filter.state)
    .map((row) => ({ row, position: positionOf(row, order) }))
    .toSorted((a, b) => compare(a.position, b.position))
  const chunk = (from: Position | null, limit: number): Chunk => {
    const after = all.filter(({ position }) => from === null || compare(position, from) > 0)
    const scanned = after.slice(0, limit)
    const matching = scanned.filter(({ row }) => matches(row, filter, reader.versionOf))
    return {
      jobs: matching.map(({ row, position }) => ({
        job: jobSummary(row, reader.waitsFor(row)),
        position,
      })),
      scanned: scanned.length,
      last: scanned.at(-1)?.position ?? null,
      end: scanned.length === after.length,
    }
  }
  return listWithinBudget(systemPlatform, filter, page, async (from, limit) => chunk(from, limit))
}

/** The position of a row in the order of a list: its index in a database. */
function positionOf(row: JobRow, order: JobState | undefined): Position {
  if (order === undefined) return [row.id]
  if (order === 'scheduled') return [row.dueAt, row.id]
  if (order === 'ready') return [row.priority, row.seq, row.id]
  return [row.run?.startedAt ?? row.endedAt ?? 0, row.id]
}

/** Parts at the same index have the same type. */
function comparePositions(a: Position, b: Position): number {
  const at = a.findIndex((part, index) => part !== b[index])
  return at === -1 ? 0 : (a[at] ?? 0) < (b[at] ?? 0) ? -1 : 1
}

function matches(row: JobRow, filter: JobFilter, versionOf: RowReader<JobRow>['versionOf']): boolean {
  const last = row.run ?? row.attempts.at(-1)
  const { tags = [], payloadText = '', payloadAt = [], errorText } = filter
  return (
    (namesOf(filter.queue)?.includes(row.queue) ?? true) &&
    (namesOf(filter.kind)?.includes(parseKind(row.kind).kind) ?? true) &&
    (filter.retrying !== true || isFailed(row.attempts.at(-1))) &&
    isWithin(row.endedAt, filter.endedFrom, filter.endedBefore) &&
    (namesOf(filter.version)?.some((one) => one === versionOf(last?.instance ?? null)) ?? true) &&
    isWithin(last?.startedAt, filter.startedFrom, filter.startedBefore) &&
    isWithin(lastFailure(row)?.endedAt, filter.failedFrom, filter.failedBefore) &&
    (filter.orderKey === undefined || row.orderKey === filter.orderKey) &&
    (filter.group === undefined || row.group === filter.group) &&
    (filter.dedupeKey === undefined || isDedupeKey(row.dedupe?.key, filter.dedupeKey)) &&
    isWithin(row.enqueuedAt, filter.enqueuedFrom, filter.enqueuedBefore) &&
    tags.every((tag) => row.tags.includes(tag)) &&
    row.payload.includes(payloadText) &&
    hasAll(row.payload, payloadAt) &&
    (errorText === undefined || (row.state !== 'done' && (lastError(row) ?? '').includes(errorText)))
  )
}

/** A job without this instant is outside of every range. */
function isWithin(at: number | null | undefined, from?: number, before?: number): boolean {
  if (from === undefined && before === undefined) return true
  return at !== null && at !== undefined && at >= (from ?? -Infinity) && at < (before ?? Infinity)
}

/** The last attempt of a dead job failed, even if it was interrupted. */
function lastFailure({ state, attempts }: JobRow): AttemptRow | undefined {
  return state === 'dead' ? attempts.at(-1) : attempts.findLast(isFailed)
}

/** `counts` for a store that reads all its rows. A real store keeps counters instead. */
export function countRows(queues: Iterable<string>, rows: readonly JobRow[], now: number): QueueCounts[] {
  return [...queues].toSorted().map((queue) => {
    const own = rows.filter((row) => row.queue === queue)
    const count = (state: JobState): number => own.filter((row) => row.state === state).length
    const states = Object.fromEntries(JOB_STATES.map((state) => [state, count(state)]))
    const readyAts = own.filter(({ state }) => state === 'ready').map(({ readyAt }) => readyAt)
    const oldestReadyMs = readyAts.length === 0 ? null : now - Math.min(...readyAts)
    return { queue, ...(states as Record<JobState, number>), oldestReadyMs }
  })
}

const KEPT = {
  done: ['retainDoneMs', 'keepDone'],
  cancelled: ['retainCancelledMs', 'keepCancelled'],
  dead: ['retainDeadMs', 'keepDead'],
} as const satisfies Record<EndedState, readonly (keyof QueueSettings)[]>

/** The ended jobs beyond the age or the number that their queue keeps, oldest first. */
export function surplusRows<Row extends JobRow>(
  rows: Iterable<Row>,
  settingsOf: (queue: string) => QueueSettings | undefined,
  now: number,
): Row[] {
  const ended = Array.from(rows)
    .filter(({ endedAt }) => endedAt !== null)
    .toSorted((a, b) => (a.endedAt ?? 0) - (b.endedAt ?? 0) || (a.id < b.id ? -1 : 1))
  return ended.filter((row) => {
    const [age, number] = KEPT[row.state as EndedState]
    const settings = settingsOf(row.queue)
    const [ageMs = null, most = null] = [settings?.[age], settings?.[number]]
    if (ageMs !== null && now - (row.endedAt ?? 0) >= ageMs) return true
    const alike = ended.filter((one) => one.queue === row.queue && one.state === row.state)
    return most !== null && alike.indexOf(row) < alike.length - most
  })
}
