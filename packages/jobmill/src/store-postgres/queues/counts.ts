/** Counts the jobs of each queue by state: totals plus tallies that are not folded yet, in one snapshot. */
import { JOB_STATES } from '../../job/state.ts'
import type { QueueCounts } from '../../store/types/queue-record.ts'
import { ask, askOne, type Context } from '../context.ts'
import { GIVEN_CTE } from '../fragments.ts'

/**
 * To find the oldest ready job, reads the first row of each priority, skipping from one priority to the next
 * along the primary key.
 */
const COUNTS = `
WITH ${GIVEN_CTE}, moves AS (
  SELECT queue_id, state, n FROM jobmill.total
  UNION ALL SELECT queue_id, from_state, -n FROM jobmill.tally WHERE from_state IS NOT NULL
  UNION ALL SELECT queue_id, to_state, n FROM jobmill.tally WHERE to_state IS NOT NULL
), sums AS (
  SELECT queue_id, state, sum(n) AS n FROM moves GROUP BY queue_id, state
)
SELECT q.name AS queue, (SELECT json_object_agg(s.state, s.n) FROM sums AS s WHERE s.queue_id = q.id) AS counts,
       g.now - o.ready_at AS "oldestReadyMs"
  FROM given AS g, jobmill.queue AS q CROSS JOIN LATERAL (
    WITH RECURSIVE first_of AS (
      (SELECT r.priority, r.ready_at FROM jobmill.ready AS r WHERE r.queue_id = q.id ORDER BY r.priority, r.seq LIMIT 1)
      UNION ALL
      SELECT n.* FROM first_of AS f CROSS JOIN LATERAL (
        SELECT r.priority, r.ready_at FROM jobmill.ready AS r
         WHERE r.queue_id = q.id AND r.priority > f.priority ORDER BY r.priority, r.seq LIMIT 1) AS n
    )
    SELECT min(ready_at) AS ready_at FROM first_of) AS o
 ORDER BY q.name COLLATE "C"`

/** The counts are JSON text, by state. */
type CountsRow = Pick<QueueCounts, 'queue' | 'oldestReadyMs'> & { readonly counts: string | null }

export async function counts(context: Context): Promise<QueueCounts[]> {
  const rows = await ask<CountsRow>(context, COUNTS)
  return rows.map(({ counts: text, ...row }) => {
    const found = JSON.parse(text ?? '{}') as Record<string, number>
    const byState: unknown = Object.fromEntries(JOB_STATES.map((state, code) => [state, found[code] ?? 0]))
    return { ...(byState as Pick<QueueCounts, (typeof JOB_STATES)[number]>), ...row }
  })
}

/** Merges tally rows into totals. SKIP LOCKED lets concurrent folds take different rows. */
const foldStatement = (limit: number): string => `
WITH ${GIVEN_CTE}, gone AS (
  DELETE FROM jobmill.tally WHERE ctid = ANY (ARRAY(SELECT ctid FROM jobmill.tally LIMIT ${limit} FOR UPDATE SKIP LOCKED))
  RETURNING *
), sums AS (
  SELECT queue_id, state, sum(n) AS n FROM (
    SELECT queue_id, from_state AS state, -n AS n FROM gone WHERE from_state IS NOT NULL
    UNION ALL SELECT queue_id, to_state, n FROM gone WHERE to_state IS NOT NULL) AS moves
   GROUP BY queue_id, state
), folded AS (
  INSERT INTO jobmill.total AS t (queue_id, state, n) SELECT queue_id, state, n FROM sums ORDER BY queue_id, state
  ON CONFLICT (queue_id, state) DO UPDATE SET n = t.n + excluded.n
)
SELECT count(*)::int4 AS folded FROM gone`

export async function fold(context: Context, limit: number): Promise<number> {
  return (await askOne<{ folded: number }>(context, foldStatement(limit))).folded
}
