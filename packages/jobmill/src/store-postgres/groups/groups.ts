/** Groups: lists them, and changes the settings of one. */
import {
  GROUP_WAITING_MOST,
  type GroupListRequest,
  type GroupPatch,
  type GroupRecord,
} from '../../store/types/group.ts'
import { queueUnknown } from '../../store/types/queue-record.ts'
import { ask, askWith, type Context, inTransaction } from '../context.ts'
import { notifyQueues } from '../enqueue/ready-counts.ts'
import { batched, GIVEN_CTE, GROUP_MARK, NOW } from '../fragments.ts'

const QUEUE = `
WITH ${GIVEN_CTE}
SELECT q.id, q.group_fair AS fair FROM jobmill.queue AS q, given WHERE q.name = p ->> 'queue'`

interface QueueRow {
  readonly id: number
  readonly fair: boolean
}

/** A field that is not in the parameter keeps its value. */
const kept = (field: string): string =>
  `CASE WHEN (p -> 'patch')::jsonb ? '${field}' THEN EXCLUDED.${field} ELSE g.${field} END`

/** Uses the primary key. */
const CHANGE = `
WITH ${GIVEN_CTE}, patch AS (
  SELECT (p ->> 'queue_id')::int4 AS queue_id, p ->> 'group' AS name, x.*, p ->> 'by' AS by, now
    FROM given, json_to_record(p -> 'patch') AS x(weight float8, concurrency int4, rate int4, rate_per_ms int8, paused bool)
)
INSERT INTO jobmill.job_group AS g (queue_id, name, first_place, weight, concurrency, rate, rate_per_ms, paused, changed_by, changed_at)
SELECT queue_id, name, jobmill.group_start(queue_id, name), weight, concurrency, rate, rate_per_ms, coalesce(paused, false), by, now FROM patch
ON CONFLICT (queue_id, name) DO UPDATE SET (weight, concurrency, rate, rate_per_ms, paused, changed_by, changed_at) = (
  SELECT ${['weight', 'concurrency', 'rate', 'rate_per_ms', 'paused'].map(kept).join(', ')}, EXCLUDED.changed_by, EXCLUDED.changed_at FROM given)
RETURNING g.paused OR g.concurrency IS NOT NULL OR g.rate IS NOT NULL AS has_limits, g.weight IS NOT NULL AS has_weight`

/** Nothing is set any more. Stage deletes the row when it has no other use. */
const UNCHANGED = `UPDATE jobmill.job_group SET changed_by = NULL, changed_at = NULL WHERE queue_id = $1 AND name = $2`
const CHECK = `INSERT INTO jobmill.order_check (queue_id, order_key) VALUES ($1, ${GROUP_MARK} || $2)`
const HOLD = `SELECT jobmill.hold_group($1, $2, 2000) AS jobs`

const LIST = `
WITH ${GIVEN_CTE}, q AS MATERIALIZED (
  SELECT * FROM jobmill.queue WHERE id = (SELECT (p ->> 'queue_id')::int4 FROM given)
), named AS MATERIALIZED (
  SELECT DISTINCT n.name FROM q, given, LATERAL (
    SELECT v.name FROM json_array_elements_text(p -> 'names') AS v(name)
    UNION ALL SELECT f FROM jobmill.group_names(CASE WHEN p ->> 'names' IS NULL THEN q.id END, 1000) AS f) AS n(name)
), active AS MATERIALIZED (
  SELECT j.group_name AS name, count(*)::int4 AS jobs FROM q, (
      SELECT r.id, r.queue_id FROM jobmill.running AS r UNION ALL SELECT m.id, m.queue_id FROM ${batched()} AS m) AS r
   CROSS JOIN LATERAL (SELECT t.group_name FROM jobmill.job AS t WHERE t.id = r.id OFFSET 0) AS j
   WHERE r.queue_id = q.id AND j.group_name IS NOT NULL GROUP BY 1
), seen AS (
  SELECT n.name, coalesce(g.weight, 1) AS weight, coalesce(g.concurrency, q.group_concurrency) AS concurrency,
         CASE WHEN g.rate IS NULL THEN q.group_rate ELSE g.rate END AS rate,
         CASE WHEN g.rate IS NULL THEN q.group_rate_per_ms ELSE g.rate_per_ms END AS "ratePerMs",
         coalesce(g.paused, false) AS paused, coalesce(a.jobs, 0) AS running, g.used_until,
         CASE WHEN g.changed_at IS NOT NULL THEN json_build_object('weight', g.weight, 'concurrency', g.concurrency, 'rate', g.rate,
           'ratePerMs', g.rate_per_ms, 'paused', g.paused, 'by', g.changed_by, 'at', g.changed_at)::text END AS overrides,
         w.jobs AS held, w.oldest AS held_at,
         CASE WHEN q.group_fair THEN r.jobs ELSE greatest(s.jobs - coalesce(a.jobs, 0), 0) END AS ready,
         CASE WHEN q.group_fair THEN r.oldest END AS ready_at
    FROM q, named AS n
    LEFT JOIN jobmill.job_group AS g ON g.queue_id = (SELECT id FROM q) AND g.name = n.name
    LEFT JOIN active AS a ON a.name = n.name
   CROSS JOIN LATERAL (SELECT count(*)::int4 AS jobs, min(l.due_at) AS oldest FROM (
     SELECT l.due_at FROM jobmill.order_queue AS l WHERE l.queue_id = (SELECT id FROM q) AND l.order_key = ${GROUP_MARK} || n.name
      ORDER BY l.pos LIMIT ${GROUP_WAITING_MOST}) AS l) AS w
   CROSS JOIN LATERAL (SELECT count(*)::int4 AS jobs FROM jobmill.group_slot AS t WHERE t.queue_id = (SELECT id FROM q) AND t.name = n.name) AS s
   CROSS JOIN LATERAL jobmill.group_ready((SELECT id FROM q), n.name, ${GROUP_WAITING_MOST}) AS r
)
SELECT name, weight, concurrency, rate, "ratePerMs", paused, running, overrides, least(held + ready, ${GROUP_WAITING_MOST}) AS waiting,
       ${NOW} - least(held_at, ready_at) AS "oldestMs",
       CASE WHEN rate IS NOT NULL THEN
         nullif(greatest(ceil((greatest(coalesce(used_until, 0), (${NOW} - "ratePerMs") * 1000) + "ratePerMs" * 1000::numeric / rate) / 1000) - ${NOW}, 0), 0)::int8 END AS "nextTokenMs"
  FROM seen WHERE (SELECT p ->> 'names' FROM given) IS NOT NULL OR held + ready + running > 0 OR overrides IS NOT NULL
 ORDER BY 9 DESC, name COLLATE "C" LIMIT (SELECT (p ->> 'limit')::int4 FROM given)`

async function queueOf(context: Context, queue: string): Promise<QueueRow> {
  const [row] = await ask<QueueRow>(context, QUEUE, { queue })
  if (row === undefined) throw queueUnknown(queue)
  return row
}

export async function groups(
  context: Context,
  queue: string,
  { limit, names }: GroupListRequest,
): Promise<GroupRecord[]> {
  const { id } = await queueOf(context, queue)
  const rows = await ask<Omit<GroupRecord, 'overrides'> & { overrides: string | null }>(context, LIST, {
    queue_id: id,
    limit,
    names,
  })
  return rows.map(({ overrides, ...row }) => ({
    ...row,
    overrides: overrides === null ? null : (JSON.parse(overrides) as GroupRecord['overrides']),
  }))
}

export async function changeGroup(
  context: Context,
  queue: string,
  group: string,
  patch: GroupPatch,
  by: string | null = null,
): Promise<GroupRecord> {
  const { id, fair } = await queueOf(context, queue)
  const { ratePerMs, ...rest } = patch
  const columns = { ...rest, ...(ratePerMs !== undefined && { rate_per_ms: ratePerMs }) }
  const hasLimits = await inTransaction(context, async (inside) => {
    const fields = { queue_id: id, group, patch: columns, by }
    const [row] = await ask<{ has_limits: boolean; has_weight: boolean }>(inside, CHANGE, fields)
    if (row?.has_limits === false && !row.has_weight) await askWith(inside, UNCHANGED, [id, group])
    await askWith(inside, CHECK, [id, group])
    return row?.has_limits === true
  })
  if (fair && hasLimits) await holdGroup(context, id, group)
  notifyQueues(context, [queue])
  const [record] = await groups(context, queue, { limit: 1, names: [group] })
  return record as GroupRecord
}

/** Its ready jobs wait in the group from now on. */
async function holdGroup(context: Context, queue: number, group: string): Promise<void> {
  for (;;) {
    const [held] = await askWith<{ jobs: number }>(context, HOLD, [queue, group])
    if ((held?.jobs ?? 0) === 0) break
  }
  await askWith(context, CHECK, [queue, group])
}
