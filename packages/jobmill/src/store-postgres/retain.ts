/** Retention: what the settings no longer keep, in bounded batches. */
import { DEFAULTS } from '../job/defaults.ts'
import { STATE_CODE } from '../job/state.ts'
import type { Retained } from '../store/replies.ts'
import { type Context, run } from './context.ts'
import { REMOVED } from './delete.ts'
import { GIVEN, NOW } from './fragments.ts'

/**
 * Per queue and state the index on ended attempts from its old end, so it reads no more than it deletes. The attempt that
 * ended a job is its lock: a retry at the same moment has it, and is passed by.
 */
const retainJobs = (limit: number): string => `
WITH ${GIVEN}, doomed AS MATERIALIZED (
  SELECT a.id, a.queue_id, a.state
    FROM jobmill.queue AS q
   CROSS JOIN LATERAL (VALUES (${STATE_CODE.done}::int2, q.retain_done_ms), (${STATE_CODE.dead}::int2, q.retain_dead_ms),
                              (${STATE_CODE.cancelled}::int2, q.retain_cancelled_ms)) AS v(state, keep_ms)
   CROSS JOIN LATERAL (
     SELECT t.job_id AS id, t.queue_id, t.ended_as AS state, t.ended_at FROM jobmill.attempt AS t
      WHERE t.queue_id = q.id AND t.ended_as = v.state AND t.ended_at <= ${NOW} - v.keep_ms
      ORDER BY t.ended_at, t.job_id LIMIT ${limit} FOR UPDATE SKIP LOCKED) AS a
   WHERE v.keep_ms IS NOT NULL
   ORDER BY a.ended_at, a.id LIMIT ${limit}
), ${REMOVED}
SELECT count(*)::int4 AS jobs FROM doomed`

/** By the partial index on expiry. */
const retainKeys = (limit: number): string => `
WITH ${GIVEN}, gone AS (
  DELETE FROM jobmill.dedupe WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM jobmill.dedupe WHERE expires_at <= ${NOW} ORDER BY expires_at LIMIT ${limit} FOR UPDATE SKIP LOCKED))
  RETURNING 1
)
SELECT count(*)::int4 AS keys FROM gone`

const RETAIN_INSTANCES = `
WITH ${GIVEN}, gone AS (
  DELETE FROM jobmill.instance AS i WHERE i.ended_at <= ${NOW} - ${DEFAULTS.keepEndedInstanceMs}
     AND NOT EXISTS (SELECT FROM jobmill.running AS r WHERE r.instance = i.id)
  RETURNING 1
)
SELECT count(*)::int4 AS instances FROM gone`

export async function retain(context: Context, limit: number): Promise<Retained> {
  const { query } = context.connection
  const [jobRow] = await run(context, query, retainJobs(limit), '')
  const [keyRow] = await run(context, query, retainKeys(limit), '')
  const [instanceRow] = await run(context, query, RETAIN_INSTANCES, '')
  const jobs = Number(jobRow?.['jobs'])
  const keys = Number(keyRow?.['keys'])
  return { jobs, keys, instances: Number(instanceRow?.['instances']), more: jobs >= limit || keys >= limit }
}
