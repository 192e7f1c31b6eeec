/** Deletes ended jobs that exceed the retention of their queue, by age or by number. */
import { STATE_CODE } from '../../job/state.ts'
import type { Retained, RetainRequest } from '../../store/types/replies.ts'
import { askOne, type Context } from '../context.ts'
import { REMOVED } from '../operate/delete.ts'
import { GIVEN_CTE, NOW } from '../fragments.ts'

const { done, dead, cancelled } = STATE_CODE

/** The oldest entries of the index on ended attempts, for one queue and state. */
const oldest = (limit: number, condition: string): string => `
     SELECT t.job_id AS id, t.ended_at FROM jobmill.attempt AS t
      WHERE t.queue_id = q.id AND t.ended_as = q.state AND ${condition}
      ORDER BY t.ended_at, t.job_id LIMIT ${limit}`

/**
 * Reads the index on ended attempts from its old end for each queue and state, so it reads no more than it
 * deletes. The excess comes from the counts instead of a scan, in the same snapshot, so that concurrent
 * passes agree on it. The inner LIMIT is a literal, because the planner assumes a tenth of the table for a
 * variable one.
 *
 * The attempt that ended a job serves as its lock. SKIP LOCKED skips a job that is being retried.
 */
const retainStatement = (limit: number, which: string): string => `
WITH ${GIVEN_CTE}, kept AS MATERIALIZED (
  SELECT q.id, v.state, v.keep_ms, v.keep
    FROM jobmill.queue AS q CROSS JOIN LATERAL (VALUES
      (${done}::int2, q.retain_done_ms, q.keep_done), (${dead}::int2, q.retain_dead_ms, q.keep_dead),
      (${cancelled}::int2, q.retain_cancelled_ms, q.keep_cancelled)) AS v(state, keep_ms, keep)
   WHERE (v.keep_ms IS NOT NULL OR v.keep IS NOT NULL)${which}
), moves AS (
  SELECT queue_id, state, n FROM jobmill.total
  UNION ALL SELECT queue_id, from_state, -n FROM jobmill.tally
  UNION ALL SELECT queue_id, to_state, n FROM jobmill.tally
), excess AS MATERIALIZED (
  SELECT k.id, k.state, sum(m.n) - k.keep AS jobs FROM kept AS k JOIN moves AS m ON m.queue_id = k.id AND m.state = k.state
   WHERE k.keep IS NOT NULL GROUP BY k.id, k.state, k.keep HAVING sum(m.n) > k.keep
), too_old AS (
  SELECT a.id, a.ended_at FROM kept AS q CROSS JOIN LATERAL (
    ${oldest(limit, `t.ended_at <= ${NOW} - q.keep_ms`)}) AS a
   WHERE q.keep_ms IS NOT NULL
), too_many AS (
  SELECT a.id, a.ended_at FROM excess AS q CROSS JOIN LATERAL (
    SELECT * FROM (${oldest(limit, 'true')}) AS o LIMIT q.jobs) AS a
), chosen AS MATERIALIZED (
  SELECT id, ended_at FROM too_old UNION SELECT id, ended_at FROM too_many ORDER BY ended_at, id LIMIT ${limit}
), doomed AS MATERIALIZED (
  SELECT a.job_id AS id, a.queue_id, a.ended_as AS state, a.token FROM jobmill.attempt AS a
   WHERE a.job_id = ANY (ARRAY(SELECT id FROM chosen)) AND a.ended_as IS NOT NULL FOR UPDATE SKIP LOCKED
), ${REMOVED}
SELECT count(*)::int4 AS jobs, count(*) FILTER (WHERE state = ${done})::int4 AS done, count(*) FILTER (WHERE state = ${dead})::int4 AS dead,
       count(*) FILTER (WHERE state = ${cancelled})::int4 AS cancelled, (SELECT count(*) FROM chosen)::int4 AS found
  FROM doomed`

/** A separate statement, for passes over single queues after a pass over all queues failed. */
const OF_THESE = ` AND q.name IN (SELECT json_array_elements_text(p -> 'queues') FROM given)`

/** `found` is larger than `jobs` if some were locked by other transactions. */
type RetainedJobs = Pick<Retained, 'jobs' | 'done' | 'dead' | 'cancelled'> & { readonly found: number }

export function retainJobs(
  context: Context,
  { limit, queues }: Pick<RetainRequest, 'limit' | 'queues'>,
): Promise<RetainedJobs> {
  const statement = retainStatement(limit, queues === undefined ? '' : OF_THESE)
  return askOne(context, statement, { queues })
}
