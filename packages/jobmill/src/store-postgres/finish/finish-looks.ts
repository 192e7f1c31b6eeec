/** Reads for a finish: whether it was written before, and the names for its follow-ups. */
import type { Finish } from '../../store/types/finish.ts'
import type { Query, Row } from '../connection/connection.ts'
import { type Context, run } from '../context.ts'
import { forgets } from './finish-done.ts'
import { ensureNames } from '../enqueue/enqueue.ts'
import { GIVEN_CTE } from '../fragments.ts'

/**
 * A second statement, because the first snapshot may be older than the finish that took the row. A missing
 * job was forgotten by an earlier finish.
 */
const WRITTEN_BEFORE = `
WITH ${GIVEN_CTE}
SELECT x.id, a.ended_as, a.outcome, a.error, a.job_id IS NULL AS is_gone
  FROM given CROSS JOIN json_to_recordset(p -> 'items') AS x(id uuid, token int8, forget bool)
  LEFT JOIN jobmill.attempt AS a ON a.job_id = x.id AND a.token = x.token AND NOT a.taken_back
 WHERE a.job_id IS NOT NULL OR x.forget AND NOT EXISTS (SELECT FROM jobmill.job AS j WHERE j.id = x.id)`

const STILL_RUNNING = `
WITH ${GIVEN_CTE}
SELECT r.id FROM given, json_to_recordset(p -> 'items') AS x(id uuid, token int8), jobmill.running AS r
 WHERE r.id = x.id AND r.token = x.token`

/**
 * New names are written outside of any transaction, and only for jobs that will be enqueued. A refused finish
 * therefore creates no queue.
 */
export async function nameFollowUps(context: Context, items: readonly Finish[]): Promise<void> {
  const { names, connection } = context
  const nameless = items.filter(({ followUps = [] }) => !names.knowsAllOf(followUps))
  if (nameless.length === 0) return
  const pairs = JSON.stringify(nameless.map(({ id, token }) => ({ id, token })))
  const rows = await run(context, connection.query, STILL_RUNNING, `"items":${pairs}`)
  const running = new Set(rows.map((row) => row['id']))
  const jobs = nameless.flatMap(({ id, followUps = [] }) => (running.has(id) ? followUps : []))
  await ensureNames(context, jobs)
}

export async function writtenBefore(
  context: Context,
  query: Query,
  items: readonly Finish[],
): Promise<Map<string, Row>> {
  const pairs = JSON.stringify(
    items.map((item) => ({ id: item.id, token: item.token, forget: forgets(item) })),
  )
  const rows = await run(context, query, WRITTEN_BEFORE, `"items":${pairs}`)
  return new Map(rows.map((row) => [String(row['id']), row]))
}
