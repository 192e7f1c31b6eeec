/** Exports jobs with their attempts, tags and order locks. */
import { outcomeOfCode } from '../../job/attempt/outcome.ts'
import {
  type TransferredAttempt,
  type TransferredEvent,
  type TransferredStep,
  type TransferredJob,
  fitting,
  type Page,
  TRANSFERRED_PLACES,
} from '../../store/admin/transfer.ts'
import type { JobSummary } from '../../store/types/job-record.ts'
import { STEP_KINDS } from '../../store/types/step.ts'
import { ask, type Context, listOf } from '../context.ts'
import { childOf, type ChildRow } from '../steps/children.ts'
import { GIVEN_CTE, HAS_PASSED, INPUT_IDS } from '../fragments.ts'
import { type Coded, decode, SUMMARY_COLUMNS, SUMMARY_JOINS } from '../inspect/job-rows.ts'

/**
 * Reads the primary key of `job`, starting after the previous page. The LIMIT is a literal, because the
 * planner assumes a tenth of the table for a variable one.
 */
const next = (columns: string, { after, limit }: Page<'jobs'>): string => `
WITH ${GIVEN_CTE}
SELECT ${columns} FROM jobmill.job AS j
 WHERE ${after === null ? 'true' : `j.id > (SELECT (p ->> 'after')::uuid FROM given)`}
   AND NOT EXISTS (SELECT FROM jobmill.running AS r WHERE r.id = j.id)
   AND NOT EXISTS (SELECT FROM jobmill.batch AS b WHERE j.id = ANY (b.ids) AND NOT j.id = ANY (b.gone)
     AND NOT EXISTS (SELECT FROM jobmill.attempt AS a WHERE a.job_id = j.id AND a.token = b.token))
 ORDER BY j.id LIMIT ${limit}`

/** Reads attempts by their primary key. */
const SIZED = `j.id, octet_length(j.payload::text) + coalesce((
    SELECT sum(coalesce(octet_length(a.log), 0) + coalesce(octet_length(a.error), 0) + coalesce(octet_length(a.result::text), 0))
      FROM jobmill.attempt AS a WHERE a.job_id = j.id), 0)::int8 + coalesce((
    SELECT sum(coalesce(octet_length(s.result), 0) + coalesce(octet_length(s.checkpoint), 0))
      FROM jobmill.step AS s WHERE s.job_id = j.id), 0)::int8 AS bytes`

/** All lookups use an index on the id of the job. */
const JOBS = `
WITH ${GIVEN_CTE}, ${INPUT_IDS}
SELECT ${SUMMARY_COLUMNS}, coalesce(la.due_at, li.due_at) AS "rawDueAt", j.payload, j.metadata, j.timeout_ms AS "timeoutMs", j.dedupe_key AS "dedupeKey",
       j.hold_ms AS "holdMs", j.hold_after AS "holdAfter", re.ready_at AS "readyAt", CASE WHEN re.seq < 0 THEN re.seq & ${TRANSFERRED_PLACES - 1} ELSE coalesce(re.seq, li.pos) END AS place, coalesce(re.flags & ${HAS_PASSED} <> 0, false) AS "hasPassed", CASE WHEN a.ended_as IS NOT NULL THEN a.result END AS result,
       EXISTS (SELECT FROM jobmill.order_lock AS t WHERE t.job_id = w.id) AS "hasOrderLock",
       (SELECT json_agg(json_build_object('attempt', h.attempt, 'token', h.token, 'instance', h.instance, 'startedAt', h.started_at,
                 'endedAt', h.ended_at, 'outcome', h.outcome, 'error', h.error, 'log', h.log, 'takenBack', h.taken_back) ORDER BY h.token)
          FROM jobmill.attempt AS h WHERE h.job_id = w.id) AS attempts,
       (SELECT json_agg(json_build_object('name', s.name, 'place', s.place, 'kind', s.kind, 'token', s.token, 'startedAt', s.started_at, 'endedAt', s.ended_at,
                 'dueAt', s.due_at, 'events', coalesce(s.events, '{}'), 'result', s.result, 'checkpoint', s.checkpoint) ORDER BY s.place)
          FROM jobmill.step AS s WHERE s.job_id = w.id) AS steps,
       (SELECT json_agg(json_build_object('id', e.id, 'name', e.name, 'payload', e.payload, 'sentAt', e.sent_at, 'step', e.step) ORDER BY e.sent_at, e.id)
          FROM jobmill.job_event AS e WHERE e.job_id = w.id) AS events,
       (SELECT json_agg(json_build_object('id', c.id, 'step', c.step, 'place', c.place, 'endedAs', c.ended_as, 'result', c.result, 'error', c.error)
                        ORDER BY c.step COLLATE "C", c.place)
          FROM jobmill.child AS c WHERE c.parent_id = w.id) AS children,
       EXISTS (SELECT FROM jobmill.child AS c WHERE c.id = w.id) AS "isChild"
  FROM input AS w ${SUMMARY_JOINS}
 WHERE ru.id IS NULL ORDER BY w.id`

export async function idsOut(context: Context, page: Page<'jobs'>): Promise<string[]> {
  const rows = await ask<{ id: string }>(context, next('j.id', page), { after: page.after?.id })
  return rows.map(({ id }) => id)
}

export async function jobsOut(context: Context, page: Page<'jobs'>): Promise<TransferredJob[]> {
  const after = page.after?.id
  const ids = fitting(await ask<{ id: string; bytes: number }>(context, next(SIZED, page), { after }))
  return ids.length === 0 ? [] : (await ask<JobRow>(context, JOBS, { ids })).map(transferredOf)
}

type JobRow = Coded<JobSummary & TransferredJob> &
  Readonly<Record<'attempts' | 'steps' | 'events' | 'children', unknown>> & {
    readonly rawDueAt: number | null
  }
type StepRow = Omit<TransferredStep, 'kind'> & { readonly kind: number }
type AttemptRow = Omit<TransferredAttempt, 'outcome'> & { readonly outcome: number }

function transferredOf(row: JobRow): TransferredJob {
  const { startedAt: _, instance: __, cancelReason: ___, rawDueAt: dueAt, ...rest } = decode(row)
  const { state, attempts, steps, events, children, ...job } = rest
  return {
    ...job,
    dueAt,
    steps: listOf<StepRow>(steps).map((step) => ({ ...step, kind: STEP_KINDS[step.kind] ?? 'run' })),
    events: listOf<TransferredEvent>(events),
    children: listOf<ChildRow>(children).map(childOf),
    state: state as TransferredJob['state'],
    attempts: listOf<AttemptRow>(attempts).map((attempt) => ({
      ...attempt,
      outcome: outcomeOfCode(attempt.outcome),
    })),
  }
}
