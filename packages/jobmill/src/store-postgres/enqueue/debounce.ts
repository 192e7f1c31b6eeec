/**
 * Debounced jobs: another enqueue with the key changes the job that waits. Once that job is due or has
 * started, the key is free.
 */
import { DEFAULTS } from '../../job/defaults.ts'
import type { NewJob } from '../../job/enqueue/new-job.ts'
import type { Query } from '../connection/connection.ts'
import { type Context, run } from '../context.ts'
import { GIVEN_CTE, HAS_STEPS, NOW, queueName } from '../fragments.ts'
import { NEW_TAGS, retagged } from './entries.ts'
import type { ReadyCounts } from './ready-counts.ts'

/**
 * The row in `later` is the lock, so its conditions hold for the row that this statement changes, even if it
 * waited for another enqueue. Locks by id, so that two calls cannot deadlock. See debouncedUntil for the
 * time.
 */
const DEBOUNCE = `
WITH ${GIVEN_CTE}, input AS MATERIALIZED (
  SELECT x.* FROM given AS g, json_to_recordset(g.p -> 'jobs') AS x(
    id uuid, key text, payload json, metadata json, entries text[], wait_ms int8, max_ms int8)
), waiting AS MATERIALIZED (
  SELECT w.id FROM jobmill.later AS w
   WHERE w.id = ANY (ARRAY(SELECT id FROM input)) AND w.due_at > ${NOW} AND w.tries = 0 AND w.flags & ${HAS_STEPS} = 0
   ORDER BY w.id FOR UPDATE
), changing AS MATERIALIZED (
  SELECT i.*, greatest(${NOW}, least(${NOW} + i.wait_ms, CASE WHEN i.max_ms > 0 THEN j.enqueued_at + i.max_ms END)) AS due
    FROM input AS i JOIN waiting AS w ON w.id = i.id CROSS JOIN LATERAL (SELECT t.enqueued_at FROM jobmill.job AS t WHERE t.id = i.id OFFSET 0) AS j
), ${retagged('changing', true)}, changed AS (
  UPDATE jobmill.job AS j SET payload = coalesce(c.payload, 'null'::json), metadata = c.metadata, tags = ${NEW_TAGS}
    FROM changing AS c LEFT JOIN retagged AS r ON r.id = c.id WHERE j.id = c.id
), key_held AS (
  UPDATE jobmill.dedupe AS d SET expires_at = c.due FROM changing AS c
   WHERE d.key = ANY (ARRAY(SELECT key FROM changing)) AND d.key = c.key AND d.job_id = c.id
), moved AS (
  UPDATE jobmill.later AS w SET due_at = c.due FROM changing AS c
   WHERE w.id = ANY (ARRAY(SELECT id FROM changing)) AND w.id = c.id RETURNING w.id, w.queue_id, w.due_at
)
SELECT id, CASE WHEN due_at <= ${NOW} + ${DEFAULTS.dueSoonMs} THEN ${queueName('moved.queue_id')} END AS look FROM moved`

/** Returns the holders that were still waiting, and now have the new payload, metadata and tags. */
export async function debounceHolders(
  context: Context,
  query: Query,
  items: readonly { readonly job: NewJob; readonly holder: string }[],
  counts: ReadyCounts,
): Promise<Set<string>> {
  if (items.length === 0) return new Set()
  const rows = await run(context, query, DEBOUNCE, `"jobs":[${items.map(itemText).join(',')}]`)
  for (const { look } of rows) counts.addLook(look)
  return new Set(rows.map(({ id }) => String(id)))
}

function itemText({ job, holder }: { readonly job: NewJob; readonly holder: string }): string {
  const { key, holdMs } = job.dedupe ?? { key: '', holdMs: 0 }
  const names = JSON.stringify({ key, entries: job.tags }).slice(1, -1)
  return `{"id":"${holder}",${names},"payload":${job.payload},"metadata":${job.metadata},"wait_ms":${job.delayMs},"max_ms":${holdMs}}`
}
