/**
 * Releases order locks and dedupe keys whose job does not exist, and removes entries of jobs that do not
 * exist, in bounded passes. See store/admin/stray-keys.ts. Every statement that moves a job moves its row
 * between the tables in one transaction. So a job that one snapshot finds in none of them is gone.
 */
import { STATE_CODE } from '../../job/state.ts'
import { STRAY_ROWS, type StrayCounts, warnOfStray } from '../../store/admin/stray-keys.ts'
import type { Query } from '../connection/connection.ts'
import { askOne, type Context, listOf } from '../context.ts'
import { notifyQueues } from '../enqueue/ready-counts.ts'
import { GIVEN_CTE } from '../fragments.ts'

const { scheduled, ready, running } = STATE_CODE

/** OFFSET 0 forces an index lookup per row. Statistics of tables with high turnover mislead the planner. */
const looks = (id: string, ...tables: readonly string[]): string =>
  tables
    .map(
      (table) =>
        `LEFT JOIN LATERAL (SELECT true AS found FROM jobmill.${table} AS s WHERE s.id = ${id} OFFSET 0) AS in_${table} ON true`,
    )
    .join(' ')
const missingFrom = (...tables: readonly string[]): string =>
  tables.map((table) => `in_${table}.found IS NULL`).join(' AND ')

const LOCK_TABLES = ['later', 'ready', 'running'] as const
const KEY_TABLES = ['later', 'ready', 'running', 'order_queue'] as const

/** All of a small table, and random pages of a large one. The LIMIT is for the planner. */
const sample = (table: string): string => `(SELECT a.* FROM jobmill.${table} AS a TABLESAMPLE SYSTEM (
  (SELECT least(100, ${STRAY_ROWS * 100} / greatest(c.reltuples, 1)) FROM pg_class AS c WHERE c.oid = 'jobmill.${table}'::regclass))
  LIMIT ${STRAY_ROWS * 2}) AS t`

const strayLocks = (from: string): string => `
  SELECT t.queue_id, t.order_key, t.job_id FROM ${from} ${looks('t.job_id', ...LOCK_TABLES)} WHERE ${missingFrom(...LOCK_TABLES)}`
/** The key of an ended job has an expiry. */
const strayKeys = (from: string): string => `
  SELECT t.key, t.job_id FROM ${from} ${looks('t.job_id', ...KEY_TABLES)} WHERE t.expires_at IS NULL AND ${missingFrom(...KEY_TABLES)}`

const RELEASE = `
WITH ${GIVEN_CTE}, lock AS MATERIALIZED (${strayLocks(sample('order_lock'))}
), lock_freed AS (
  DELETE FROM jobmill.order_lock AS t USING lock AS s
   WHERE t.queue_id = s.queue_id AND t.order_key = s.order_key AND t.job_id = s.job_id RETURNING t.queue_id, t.order_key
), called AS (
  INSERT INTO jobmill.order_check (queue_id, order_key) SELECT queue_id, order_key FROM lock_freed
), key AS MATERIALIZED (${strayKeys(sample('dedupe'))}
), key_freed AS (
  DELETE FROM jobmill.dedupe AS t USING key AS s WHERE t.key = s.key AND t.job_id = s.job_id AND t.expires_at IS NULL RETURNING 1
)
SELECT (SELECT count(*) FROM lock_freed)::int4 AS locks, (SELECT count(*) FROM key_freed)::int4 AS keys,
       (SELECT json_agg(DISTINCT q.name) FROM jobmill.queue AS q JOIN lock_freed AS f ON f.queue_id = q.id) AS queues`

const entryGone = (table: string): string => `${table}_gone AS (
  DELETE FROM jobmill.${table} WHERE id = ANY (ARRAY(
    SELECT t.id FROM jobmill.${table} AS t WHERE t.id = ANY (ARRAY(SELECT id FROM stray)) FOR UPDATE SKIP LOCKED))
  RETURNING queue_id
)`

/**
 * Entries at the front of each table, which would be claimed or promoted next, and those that run. A claim of
 * such an entry gets no job, and the entry returns to its queue.
 */
const REMOVE = `
WITH ${GIVEN_CTE}, front AS MATERIALIZED (
  SELECT r.id FROM jobmill.queue AS q CROSS JOIN LATERAL (
    SELECT t.id FROM jobmill.ready AS t WHERE t.queue_id = q.id ORDER BY t.priority, t.seq LIMIT 100) AS r
  UNION ALL (SELECT id FROM jobmill.later ORDER BY due_at, id LIMIT ${STRAY_ROWS})
  UNION ALL (SELECT id FROM jobmill.order_queue ORDER BY due_at, id LIMIT ${STRAY_ROWS})
  UNION ALL SELECT t.id FROM ${sample('running')}
), stray AS MATERIALIZED (
  SELECT f.id FROM front AS f ${looks('f.id', 'job')} WHERE ${missingFrom('job')} LIMIT ${STRAY_ROWS}
), ${KEY_TABLES.map(entryGone).join(', ')}, gone AS (
  SELECT queue_id, ${scheduled} AS state FROM later_gone UNION ALL SELECT queue_id, ${scheduled} FROM order_queue_gone
  UNION ALL SELECT queue_id, ${ready} FROM ready_gone UNION ALL SELECT queue_id, ${running} FROM running_gone
), tallied AS (
  INSERT INTO jobmill.tally (queue_id, from_state, n) SELECT queue_id, state, count(*) FROM gone GROUP BY 1, 2
)
SELECT count(*)::int4 AS states FROM gone`

/** The queues are JSON text. */
type Released = Pick<StrayCounts, 'locks' | 'keys'> & { readonly queues: string | null }

/** Returns whether there may be more. */
export async function releaseStray(context: Context): Promise<boolean> {
  const { states } = await askOne<{ states: number }>(context, REMOVE)
  // A newer snapshot, without the removed entries.
  const { locks, keys, queues } = await askOne<Released>(context, RELEASE)
  if (states + locks + keys === 0) return false
  notifyQueues(context, listOf(queues))
  warnOfStray(locks, keys, states)
  return states > 0
}

const countOf = (text: string): string => `(SELECT count(*)::int4 FROM (${text}) AS t)`
const COUNT = `SELECT ${countOf(strayLocks('jobmill.order_lock AS t'))} AS locks, ${countOf(strayKeys('jobmill.dedupe AS t'))} AS keys,
  ${countOf(`SELECT FROM jobmill.permit AS t ${looks('t.holder', 'running')} WHERE t.token IS NOT NULL AND ${missingFrom('running')}`)} AS permits,
  ${KEY_TABLES.map((table) => countOf(`SELECT FROM jobmill.${table} AS t WHERE NOT EXISTS (SELECT FROM jobmill.job AS j WHERE j.id = t.id)`)).join(' + ')} AS states`

/** For the doctor: reads the tables in full. */
export async function countStray(query: Query, sql: (text: string) => string): Promise<StrayCounts> {
  const [row] = await query(sql(COUNT), [])
  return row as unknown as StrayCounts
}
