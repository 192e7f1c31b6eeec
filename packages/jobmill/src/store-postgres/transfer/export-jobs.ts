/** Exports jobs with their attempts, tags and order locks. */
import { outcomeOfCode } from '../../job/attempt/outcome.ts'
import {
  type TransferredAttempt,
  type TransferredJob,
  fitting,
  type Page,
} from '../../store/admin/transfer.ts'
import type { Row } from '../connection/connection.ts'
import { type Context, listOf, run } from '../context.ts'
import { GIVEN_CTE, INPUT_IDS } from '../fragments.ts'
import { holdOf } from '../enqueue/hold.ts'
import { SUMMARY_COLUMNS, SUMMARY_JOINS, summaryOf } from '../inspect/job-rows.ts'
import { idsField } from '../operate/states.ts'

/**
 * Reads the primary key of `job`, starting after the previous page. The LIMIT is a literal, because the
 * planner assumes a tenth of the table for a variable one.
 */
const next = (columns: string, { after, limit }: Page<'jobs'>): string => `
WITH ${GIVEN_CTE}
SELECT ${columns} FROM jobmill.job AS j
 WHERE ${after === null ? 'true' : `j.id > (SELECT (p ->> 'after')::uuid FROM given)`}
   AND NOT EXISTS (SELECT FROM jobmill.running AS r WHERE r.id = j.id)
 ORDER BY j.id LIMIT ${limit}`

/** Reads attempts by their primary key. */
const SIZED = `j.id, octet_length(j.payload::text) + coalesce((
    SELECT sum(coalesce(octet_length(a.log), 0) + coalesce(octet_length(a.error), 0) + coalesce(octet_length(a.result::text), 0))
      FROM jobmill.attempt AS a WHERE a.job_id = j.id), 0)::int8 AS bytes`

/** All lookups use an index on the id of the job. */
const JOBS = `
WITH ${GIVEN_CTE}, ${INPUT_IDS}
SELECT ${SUMMARY_COLUMNS}, j.payload, j.metadata, j.timeout_ms, j.dedupe_key, coalesce(j.hold_ms, 0) AS hold_ms,
       re.ready_at, coalesce(re.seq, li.pos) AS place, CASE WHEN a.ended_as IS NOT NULL THEN a.result END AS result,
       EXISTS (SELECT FROM jobmill.order_lock AS t WHERE t.job_id = w.id) AS has_order_lock,
       (SELECT json_agg(json_build_object('attempt', h.attempt, 'token', h.token, 'instance', h.instance, 'startedAt', h.started_at,
                 'endedAt', h.ended_at, 'outcome', h.outcome, 'error', h.error, 'log', h.log, 'takenBack', h.taken_back) ORDER BY h.token)
          FROM jobmill.attempt AS h WHERE h.job_id = w.id) AS attempts
  FROM input AS w ${SUMMARY_JOINS}
 WHERE ru.id IS NULL ORDER BY w.id`

export async function idsOut(context: Context, page: Page<'jobs'>): Promise<string[]> {
  const rows = await run(context, context.connection.query, next('j.id', page), afterField(page))
  return rows.map((row) => row['id'] as string)
}

export async function jobsOut(context: Context, page: Page<'jobs'>): Promise<TransferredJob[]> {
  const { connection } = context
  const sizes = await run(context, connection.query, next(SIZED, page), afterField(page))
  const ids = fitting(sizes.map((row) => ({ id: row['id'] as string, bytes: row['bytes'] as number })))
  if (ids.length === 0) return []
  const rows = await run(context, connection.query, JOBS, idsField(ids))
  return rows.map(transferredOf)
}

function afterField({ after }: Page<'jobs'>): string {
  return `"after":${JSON.stringify(after?.id ?? null)}`
}

function transferredOf(row: Row): TransferredJob {
  const { startedAt: _, instance: __, cancelReason: ___, state, ...job } = summaryOf(row)
  return {
    ...job,
    state: state as TransferredJob['state'],
    hasOrderLock: row['has_order_lock'] as boolean,
    place: row['place'] as number | null,
    readyAt: row['ready_at'] as number | null,
    timeoutMs: row['timeout_ms'] as number | null,
    dedupeKey: row['dedupe_key'] as string | null,
    ...holdOf(row['hold_ms'] as number),
    payload: row['payload'] as string,
    metadata: row['metadata'] as string | null,
    result: row['result'] as string | null,
    attempts: listOf<AttemptRow>(row['attempts']).map(attemptOf),
  }
}

type AttemptRow = Omit<TransferredAttempt, 'outcome'> & { readonly outcome: number }

function attemptOf({ outcome, ...attempt }: AttemptRow): TransferredAttempt {
  return { ...attempt, outcome: outcomeOfCode(outcome) }
}
