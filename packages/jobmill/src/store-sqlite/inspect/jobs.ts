/** Reads jobs by id: their summary, the complete record, the result, the history and the last failure. */
import { outcomeCode, outcomeOfCode } from '../../job/attempt/outcome.ts'
import { parseKind } from '../../job/kind/kind-name.ts'
import { stateOfCode } from '../../job/state.ts'
import {
  type AttemptRecord,
  type AttemptRun,
  type JobFailure,
  type JobRecord,
  type JobResult,
  type JobSummary,
  LOG_END,
} from '../../store/types/job-record.ts'
import { NEVER_DUE } from '../../store/types/step.ts'
import { versionOf } from './versions.ts'
import { DEAD, DONE, IN_GROUP, IN_ORDER_QUEUE, tagsIn } from '../job-row.ts'
import type { Look } from '../work.ts'

// Columns that are meaningless in the state of the job are null.
export const SUMMARY = `j.id, j.kind_id, j.queue_id, j.state, j.priority, j.attempt, j.max_attempts AS maxAttempts, j.crashes, j.tags,
  j.order_key AS orderKey, j.group_name AS "group", j.in_order_queue AS waitsIn, j.enqueued_at AS enqueuedAt, iif(j.state = 0 AND j.due_at < ${NEVER_DUE}, j.due_at, NULL) AS dueAt,
  iif(j.state = 2, j.started_at, NULL) AS startedAt, iif(j.state >= 3, j.ended_at, NULL) AS endedAt,
  iif(j.state = 2, j.cancel_reason, NULL) AS cancelReason,
  CASE j.state WHEN 2 THEN (SELECT i.id FROM jobmill_instance AS i WHERE i.pk = j.instance_pk) END AS instance`

/** The columns of a job that differ from its fields. */
export interface Coded {
  readonly kind_id: number
  readonly queue_id: number
  readonly state: number
  readonly tags: string | null
  /** 1 for its order queue, 2 for its group. */
  readonly waitsIn: number
}

export type SummaryRow = Coded & Omit<JobSummary, Decoded | keyof Coded>

type Decoded = 'kind' | 'minVersion' | 'queue' | 'waitsForOrder' | 'waitsForGroup'

/** Keeps further columns as they are. */
export function decode<Row extends Coded>({ names }: Look, row: Row) {
  const { kind_id: kindId, queue_id: queueId, state, tags, waitsIn, ...same } = row
  return {
    ...same,
    ...parseKind(names.storedKind(kindId)),
    queue: names.queueName(queueId),
    state: stateOfCode(state),
    tags: tagsIn(tags),
    waitsForOrder: waitsIn === IN_ORDER_QUEUE,
    waitsForGroup: waitsIn === IN_GROUP,
  }
}

// The error of the newest attempt, by primary key; for a done job, only that of its own last attempt.
export const LAST_ERROR = `(SELECT a.error FROM jobmill_attempt AS a
     WHERE a.job_pk = j.pk AND (j.state <> ${DONE} OR a.token = j.token) ORDER BY a.token DESC LIMIT 1)`

// Both use jobmill_job_id. Columns that callers await come before the payload, so that a large payload is not
// read.
const GET = `
  SELECT ${SUMMARY}, j.payload, j.metadata, j.result, iif(j.state = 2, j.progress, NULL) AS progress,
    iif(j.state = 2, j.log, NULL) AS log, j.timeout_ms AS timeoutMs, j.dedupe_key AS dedupeKey, ${LAST_ERROR} AS error
  FROM jobmill_job AS j WHERE j.id = ?`

const RESULT = `SELECT j.id, j.state, j.result, ${LAST_ERROR} AS error FROM jobmill_job AS j WHERE j.id = ?`

type RecordRow = SummaryRow & Omit<JobRecord, keyof JobSummary>

export function get(look: Look, ids: readonly string[]): (JobRecord | null)[] {
  return ids.map((id) => {
    const row = look.sql(GET).get(id) as RecordRow | undefined
    return row === undefined ? null : decode(look, row)
  })
}

export function results({ sql }: Look, ids: readonly string[]): (JobResult | null)[] {
  return ids.map((id) => {
    const row = sql(RESULT).get(id) as (Omit<JobResult, 'state'> & { readonly state: number }) | undefined
    return row === undefined ? null : { ...row, state: stateOfCode(row.state) }
  })
}

export const ATTEMPT = `a.attempt, a.token, a.instance, a.started_at AS startedAt, a.ended_at AS endedAt, a.outcome, a.error, a.log`

// The job by jobmill_job_id, its attempts by primary key: at most 32.
const HISTORY = `
  SELECT ${ATTEMPT}, ${versionOf('a.instance')} AS version FROM jobmill_job AS j CROSS JOIN jobmill_attempt AS a ON a.job_pk = j.pk
  WHERE j.id = ? ORDER BY a.token`

export type AttemptRow = Omit<AttemptRecord, 'outcome' | 'version'> & { readonly outcome: number }

/** The attempts of one job, oldest first. */
export function history({ sql }: Look, id: string): AttemptRecord[] {
  const rows = sql(HISTORY).all(id) as (AttemptRow & Pick<AttemptRecord, 'version'>)[]
  return rows.map((row) => ({
    ...row,
    // The job was cancelled while waiting: there was no lease, and the stored token only keeps the order.
    token: row.instance === null ? 0 : row.token,
    outcome: outcomeOfCode(row.outcome),
  }))
}

export const FAILED_OUTCOMES = [
  outcomeCode('failed'),
  outcomeCode('timed-out'),
  outcomeCode('failed-permanently'),
].join(', ')

// Jobs by jobmill_job_id, the newest attempt and the first failed one of each by primary key: at most 32
// attempts of a job. A read, in a snapshot of its own.
const FAILURES = `
  SELECT j.id, a.error, a.ended_at AS at, a.outcome, f.error AS firstError, f.ended_at AS firstAt,
    ${versionOf('a.instance')} AS version,
    CASE WHEN octet_length(a.log) <= ${LOG_END.mostBytes} THEN substr(a.log, -${LOG_END.chars}) END AS logEnd
  FROM json_each(?) AS w
  CROSS JOIN jobmill_job AS j ON j.id = w.value
  CROSS JOIN jobmill_attempt AS a ON a.job_pk = j.pk
    AND a.token = (SELECT max(b.token) FROM jobmill_attempt AS b WHERE b.job_pk = j.pk)
  LEFT JOIN jobmill_attempt AS f ON f.job_pk = j.pk
    AND f.token = (SELECT min(b.token) FROM jobmill_attempt AS b
                   WHERE b.job_pk = j.pk AND b.token < a.token AND b.outcome IN (${FAILED_OUTCOMES}))
  WHERE j.state = ${DEAD} OR a.outcome IN (${FAILED_OUTCOMES})`

type FailureRow = Pick<JobFailure, 'error' | 'at' | 'logEnd' | 'version'> & {
  readonly id: string
  readonly outcome: number
  readonly firstError: string | null
  readonly firstAt: number | null
}

/** How the last attempts of failed jobs ended. */
export function failures({ sql }: Look, ids: readonly string[]): (JobFailure | null)[] {
  const rows = sql(FAILURES).all(JSON.stringify([...new Set(ids)])) as FailureRow[]
  const found = new Map(rows.map((row) => [row.id, failureOf(row)]))
  return ids.map((id) => found.get(id) ?? null)
}

function failureOf({ error, at, outcome, version, logEnd, firstError, firstAt }: FailureRow): JobFailure {
  const first = firstAt === null ? null : { at: firstAt, error: firstError }
  return { error, at, outcome: outcomeOfCode(outcome), version, logEnd, first }
}

// Jobs by jobmill_job_id, their attempts by primary key: at most 32 of each.
const RUNS = `
  SELECT j.id, a.attempt, a.instance, a.started_at AS startedAt, a.ended_at AS endedAt, a.outcome
  FROM json_each(?) AS w
  CROSS JOIN jobmill_job AS j ON j.id = w.value
  CROSS JOIN jobmill_attempt AS a ON a.job_pk = j.pk
  WHERE a.ended_at >= ? AND a.instance IS NOT NULL AND a.started_at IS NOT NULL`

/** Where and when attempts of these jobs ran. */
export function runs({ sql }: Look, ids: readonly string[], endedFrom: number): AttemptRun[] {
  const rows = sql(RUNS).all(JSON.stringify([...new Set(ids)]), endedFrom) as (Omit<AttemptRun, 'outcome'> & {
    readonly outcome: number
  })[]
  return rows
    .map((row) => ({ ...row, outcome: outcomeOfCode(row.outcome) }))
    .toSorted((a, b) => a.endedAt - b.endedAt || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))
}
