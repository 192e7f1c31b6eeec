/**
 * Retention: deletes ended jobs that exceed the retention of their queue, by age or by number, and other
 * expired records, in bounded batches.
 */
import { DEFAULTS } from '../../job/defaults.ts'
import { RESOLUTIONS } from '../../store/types/metrics.ts'
import { sleep } from '../../platform/sleep.ts'
import type { Retained, RetainRequest } from '../../store/types/replies.ts'
import { ask, askOne, columnsOf, type Context } from '../context.ts'
import { GIVEN_CTE, NOW } from '../fragments.ts'
import { retainKeys } from '../limits/limit-keys.ts'
import { LOST_FORGOTTEN } from '../instances/lost-jobs.ts'
import { DELETE_EMPTY } from '../schema/functions/pieces.ts'
import { releaseStray } from './stray-keys.ts'
import { warnOfUnnamed } from '../names/unnamed-jobs.ts'
import { STATE_CODE } from '../../job/state.ts'
import { REMOVED } from '../operate/delete.ts'

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

function retainJobs(
  context: Context,
  { limit, queues }: Pick<RetainRequest, 'limit' | 'queues'>,
): Promise<RetainedJobs> {
  const statement = retainStatement(limit, queues === undefined ? '' : OF_THESE)
  return askOne(context, statement, { queues })
}

/** How long a deferred holder keeps its place in the queue of a limit, and how long a flush is remembered. */
const PLACES_MS = 600_000
const RECORDED_MS = 86_400_000
/** Most jobs of a batch end within this time, so that its last finish deletes it. */
const BATCH_MS = 60_000

/**
 * Deletes at most `limit` rows in the order of the index on this column. SKIP LOCKED lets concurrent passes
 * take different rows.
 */
const old = (limit: number, table: string, column: string, most: string): string => `
  DELETE FROM jobmill.${table} WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM jobmill.${table} WHERE ${column} <= ${most} ORDER BY ${column} LIMIT ${limit} FOR UPDATE SKIP LOCKED))
  RETURNING 1`

const ago = (ms: string): string => `${NOW} - (SELECT (${ms})::int8 FROM given)`

const retainAged = (limit: number): string => `
WITH ${GIVEN_CTE}, keys AS (${old(limit, 'dedupe', 'expires_at', NOW)}
), ticks AS (${old(limit, 'tick', 'served_at', ago(`p ->> 'ticks_ms'`))}
), events AS (${old(limit, 'event', 'at', ago(`p ->> 'events_ms'`))}
), metrics AS (
  DELETE FROM jobmill.metric WHERE ctid = ANY (ARRAY(
    SELECT m.tid FROM (VALUES ${RESOLUTIONS.map((size, n) => `(${n}, ${size})`).join(', ')}) AS v(n, size) CROSS JOIN LATERAL (
      SELECT t.ctid AS tid FROM jobmill.metric AS t
       WHERE t.resolution = v.size AND t.at <= ${NOW} - v.size - (SELECT (p -> 'metrics_ms' ->> v.n)::int8 FROM given)
       ORDER BY t.at, t.scope LIMIT ${limit} FOR UPDATE SKIP LOCKED) AS m LIMIT ${limit}))
  RETURNING 1
), places AS (${old(limit, 'limit_waiter', 'taken_at', `${NOW} - ${PLACES_MS}`)}
), recorded AS (${old(limit, 'recorded', 'recorded_at', `${NOW} - ${RECORDED_MS}`)}
)
SELECT ((SELECT count(*) FROM places) + (SELECT count(*) FROM recorded))::int4 AS others,
       (SELECT count(*) FROM keys)::int4 AS keys, (SELECT count(*) FROM ticks)::int4 AS ticks,
       (SELECT count(*) FROM events)::int4 AS events, (SELECT count(*) FROM metrics)::int4 AS metrics`

/**
 * Deletes instances by the index on their end, and keeps their versions. Also removes the permits of jobs
 * that an operator deleted from `running` with SQL. Compares the token again, because the row may belong to a
 * new attempt by the time of the delete.
 */
const RETAIN_ENDED = `
WITH ${GIVEN_CTE}, gone AS (
  DELETE FROM jobmill.instance AS i WHERE i.ended_at <= ${NOW} - ${DEFAULTS.keepEndedInstanceMs}
     AND NOT EXISTS (SELECT FROM jobmill.running AS r WHERE r.instance = i.id)
     AND NOT EXISTS (SELECT FROM jobmill.batch AS b WHERE b.instance = i.id)
  RETURNING i.id, i.version, i.started_at, i.ended_at
), remembered AS (
  INSERT INTO jobmill.past_instance (id, version, started_at, ended_at)
  SELECT id, version, started_at, ended_at FROM gone WHERE version IS NOT NULL
      ON CONFLICT (id) DO UPDATE SET version = excluded.version, started_at = excluded.started_at, ended_at = excluded.ended_at
), forgotten_versions AS (
  DELETE FROM jobmill.past_instance WHERE ended_at <= greatest(${NOW} - ${DEFAULTS.keepVersionsMs},
    (SELECT p.ended_at FROM jobmill.past_instance AS p ORDER BY p.ended_at DESC OFFSET ${DEFAULTS.keepVersions} LIMIT 1))
     AND id NOT IN (SELECT id FROM gone)
), ${LOST_FORGOTTEN}, stray AS MATERIALIZED (
  SELECT t.limit_name, t.holder, t.token FROM jobmill.permit AS t
    LEFT JOIN LATERAL (SELECT r.token FROM jobmill.running AS r WHERE r.id = t.holder OFFSET 0) AS r ON true
   WHERE t.token <> coalesce(r.token, 0)
), swept AS (
  DELETE FROM jobmill.permit AS t USING stray AS s
   WHERE t.limit_name = s.limit_name AND t.holder = s.holder AND t.token = s.token
)
SELECT count(*)::int4 AS instances FROM gone`

/**
 * Batches that all jobs have left, but that no finish deleted, because the last ones ran at the same time.
 * SKIP LOCKED leaves batches in use to the next pass.
 */
const RETAIN_BATCHES = `
WITH ${GIVEN_CTE}, old AS MATERIALIZED (
  SELECT b.token FROM jobmill.batch AS b WHERE b.started_at < ${NOW} - ${BATCH_MS} FOR UPDATE SKIP LOCKED
)
${DELETE_EMPTY('ARRAY(SELECT token FROM old)')}`

type Aged = Pick<Retained, 'keys' | 'ticks' | 'events' | 'metrics'> & { readonly others: number }

export async function retain(context: Context, request: RetainRequest): Promise<Retained> {
  const { limit, ticksMs, eventsMs, metricsMs } = request
  const began = context.platform.monotonic()
  const { found, ...jobs } = await retainJobs(context, request)
  const ages = columnsOf({ ticksMs, eventsMs, metricsMs })
  const { others, ...aged } = await askOne<Aged>(context, retainAged(limit), ages)
  // Must follow the deletion of waiting requests, which keep their keys alive.
  const limitKeys = await retainKeys(context, limit)
  const { instances } = await askOne<{ instances: number }>(context, RETAIN_ENDED)
  await ask(context, RETAIN_BATCHES)
  const isFull = Math.max(found, limitKeys, others, ...Object.values(aged)) >= limit
  // Once per pass over all queues, at its end.
  const isLast = !isFull && (request.queues?.length ?? 0) === 0
  if (isLast) await warnOfUnnamed(context)
  // The caller continues at once. On a busy server, claims get a third of the time back.
  if (isFull) await sleep(context.platform, (context.platform.monotonic() - began) / 2)
  return {
    ...jobs,
    ...aged,
    instances,
    more: isFull || (isLast && (await releaseStray(context))),
  }
}
