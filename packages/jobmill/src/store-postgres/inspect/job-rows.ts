/** The columns of a job summary, and what rows with a state have in common. */
import { type JobState, STATE_CODE, stateOfCode } from '../../job/state.ts'
import { NEVER_DUE } from '../../store/types/step.ts'
import { GROUP_MARK, kindName, queueName } from '../fragments.ts'

/** OFFSET 0 prevents the planner from turning lookups by id into a scan of the whole table. */
const probe = (table: string): string =>
  `LATERAL (SELECT * FROM jobmill.${table} AS t WHERE t.id = w.id OFFSET 0)`

/** For rows `w(id)`: the job `j`. */
export const JOB_JOIN = `
  CROSS JOIN ${probe('job')} AS j`

/** For rows `w(id)`: the last attempt `a` of the job. */
export const LAST_ATTEMPT_JOIN = `
  LEFT JOIN LATERAL (SELECT * FROM jobmill.attempt AS t WHERE t.job_id = w.id ORDER BY t.token DESC LIMIT 1) AS a ON true`

/**
 * For rows `w(id)`: the job `j`, the table in which it waits or runs, and its last attempt `a`. Each lookup
 * uses an index on the id. Only a job in none of these tables is looked up in the batches, which are few.
 */
export const SUMMARY_JOINS = `${JOB_JOIN}
  LEFT JOIN ${probe('later')} AS la ON true
  LEFT JOIN ${probe('order_queue')} AS li ON true
  LEFT JOIN ${probe('ready')} AS re ON true
  LEFT JOIN ${probe('running')} AS ru ON true${LAST_ATTEMPT_JOIN}
  LEFT JOIN LATERAL (SELECT b.instance, b.started_at FROM jobmill.batch AS b WHERE coalesce(ru.id, re.id, la.id, li.id) IS NULL
      AND a.ended_as IS NULL AND w.id = ANY (b.ids) ORDER BY b.token DESC LIMIT 1) AS ba ON true`

/** Rows of queues and kinds may be deleted while triggers are disabled. The doctor reports such ids. */
const nameOrId = (table: 'queue' | 'kind'): string => {
  const id = `j.${table}_id`
  return `coalesce(${table === 'kind' ? kindName(id) : queueName(id)}, concat('(deleted ${table} ', ${id}, ')'))`
}

const MIN_VERSION = `(SELECT nullif(split_part(k.name, '@', 2), '')::int4 FROM jobmill.kind AS k WHERE k.id = j.kind_id)`

/** With SUMMARY_JOINS. */
export const STATE = `CASE WHEN ru.id IS NOT NULL THEN ${STATE_CODE.running} WHEN re.id IS NOT NULL THEN ${STATE_CODE.ready}
       WHEN la.id IS NOT NULL OR li.id IS NOT NULL THEN ${STATE_CODE.scheduled} ELSE coalesce(a.ended_as, ${STATE_CODE.running}) END`

const JOB_COLUMNS = `j.id, ${nameOrId('kind')} AS kind, ${MIN_VERSION} AS "minVersion", ${nameOrId('queue')} AS queue, j.priority, j.max_attempts AS "maxAttempts",
  coalesce(j.tags, '{}') AS tags, j.order_key AS "orderKey", j.group_name AS "group", j.enqueued_at AS "enqueuedAt"`

export const SUMMARY_COLUMNS = `${JOB_COLUMNS},
  ${STATE} AS state,
  coalesce(ru.attempt, re.attempt, la.attempt, li.attempt, a.spent, 1) AS attempt,
  coalesce(ru.crashes, re.crashes, la.crashes, li.crashes, a.crashes, 0) AS crashes,
  li.id IS NOT NULL AND NOT starts_with(li.order_key, ${GROUP_MARK}) AS "waitsForOrder", starts_with(li.order_key, ${GROUP_MARK}) IS TRUE AS "waitsForGroup", coalesce(nullif(la.due_at, ${NEVER_DUE}), li.due_at) AS "dueAt", coalesce(ru.started_at, ba.started_at) AS "startedAt",
  CASE WHEN a.ended_as IS NOT NULL THEN a.ended_at END AS "endedAt", coalesce(ru.instance, ba.instance) AS instance, ru.cancel_reason AS "cancelReason"`

/** For rows `w(id)` of jobs that have ended, which are in none of the other tables. */
export const ENDED_JOINS = JOB_JOIN + LAST_ATTEMPT_JOIN

/** With ENDED_JOINS. */
export const ENDED_COLUMNS = `${JOB_COLUMNS}, a.ended_as AS state, coalesce(a.spent, 1) AS attempt, coalesce(a.crashes, 0) AS crashes,
  false AS "waitsForOrder", false AS "waitsForGroup", NULL::int8 AS "dueAt", NULL::int8 AS "startedAt", a.ended_at AS "endedAt", NULL::uuid AS instance, NULL::text AS "cancelReason"`

/** OFFSET 0: the planner expects 100 jobs in a call, and would hash the whole table. */
const isIn = (table: string): string =>
  `EXISTS (SELECT FROM jobmill.${table} AS t WHERE t.id = w.id OFFSET 0)`

/**
 * The states of the jobs `from`, which has their ids, and columns of their last attempt `a`. A job is in one
 * of the small tables or has an attempt that ended it. Each lookup uses an index on the id, in one snapshot.
 * Only for a job in none of these tables, `job` says whether it runs in a batch or was deleted.
 */
export const statesOf = (from: string, columns = ''): string => `
SELECT s.id, s.state${columns}
  FROM (${from}) AS w${LAST_ATTEMPT_JOIN}
 CROSS JOIN LATERAL (SELECT w.id, CASE
         WHEN a.ended_as IS NOT NULL THEN a.ended_as
         WHEN ${isIn('running')} THEN ${STATE_CODE.running} WHEN ${isIn('ready')} THEN ${STATE_CODE.ready}
         WHEN ${isIn('later')} OR ${isIn('order_queue')} THEN ${STATE_CODE.scheduled}
         WHEN ${isIn('job')} THEN ${STATE_CODE.running} END AS state) AS s
 WHERE s.state IS NOT NULL`

/** A record with the code of its state, as its row has it. */
export type Coded<T> = Omit<T, 'state'> & { readonly state: number }

export function decode<T extends { readonly state: number }>(row: T): Omit<T, 'state'> & { state: JobState } {
  return { ...row, state: stateOfCode(row.state) }
}

/** In the order of the ids; null for those without a row. */
export function inOrder<T extends { readonly id: string }>(
  ids: readonly string[],
  rows: readonly T[],
): (T | null)[] {
  const found = new Map(rows.map((row) => [row.id, row]))
  return ids.map((id) => found.get(id) ?? null)
}
