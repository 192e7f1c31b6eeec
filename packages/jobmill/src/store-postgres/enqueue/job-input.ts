/** The parameter format of new jobs, and the CTEs that insert them into the tables where they wait. */
import { FIRST_PLACES, type NewJob } from '../../job/new-job.ts'
import { STATE_CODE } from '../../job/state.ts'
import type { Context } from '../context.ts'
import { KEYED, NAMES_TRUE, ORDERED } from '../fragments.ts'
import { keptHold } from './hold.ts'

const { scheduled, ready } = STATE_CODE

/**
 * `input`: the jobs of the parameter, with due time and flags. Empty if their queue and kind ids do not
 * belong to this database. The payload `null` arrives as SQL NULL.
 */
export const INPUT_JOBS = `input AS MATERIALIZED (
  SELECT x.*, g.now, coalesce(x.due_at, g.now + x.delay_ms) AS due,
         (CASE WHEN x.dedupe_key IS NULL THEN 0 ELSE ${KEYED} END
          + CASE WHEN x.order_key IS NULL THEN 0 ELSE ${ORDERED} END)::int2 AS flags
    FROM given AS g, json_to_recordset(g.p -> 'jobs') AS x(
      n int4, id uuid, queue_id int4, kind_id int4, priority int2, max_attempts int2, payload json, due_at int8,
      delay_ms int8, timeout_ms int8, tags text[], metadata json, dedupe_key text, hold_ms int8, order_key text,
      first bool)
   WHERE ${NAMES_TRUE}
)`

export const JOB_COLUMNS = `id, queue_id, kind_id, priority, max_attempts, payload, enqueued_at,
  timeout_ms, tags, metadata, dedupe_key, hold_ms, order_key`
export const JOB_VALUES = `id, queue_id, kind_id, priority, max_attempts, coalesce(payload, 'null'::json), now,
  timeout_ms, tags, metadata, dedupe_key, hold_ms, order_key`

/**
 * Inserts the jobs of `fresh` (rows of `input`) into the tables where they wait. `seq` rises in the order of
 * the call. Tags are written for all of `taggedFrom`, which may include jobs that start running at once.
 */
export const placementSql = (seq: string, taggedFrom: string): string => `to_ready AS (
  INSERT INTO jobmill.ready (queue_id, priority, seq, id, ready_at, kind_id, tries, attempt, crashes, flags)
  SELECT queue_id, priority, ${seq}, id, now, kind_id, 0, 0, 0, flags
    FROM (SELECT * FROM fresh WHERE due <= now AND order_key IS NULL ORDER BY n) AS f
), to_later AS (
  INSERT INTO jobmill.later (due_at, id, queue_id, kind_id, tries, priority, attempt, crashes, flags)
  SELECT due, id, queue_id, kind_id, 0, priority, 0, 0, flags FROM fresh WHERE due > now
), to_line AS (
  INSERT INTO jobmill.order_queue (queue_id, order_key, pos, id, due_at, kind_id, tries, priority, flags)
  SELECT queue_id, order_key, nextval('jobmill.seq') - CASE WHEN first THEN ${FIRST_PLACES} ELSE 0 END, id, due, kind_id, 0, priority, flags
    FROM (SELECT * FROM fresh WHERE due <= now AND order_key IS NOT NULL ORDER BY n) AS f
), called AS (
  INSERT INTO jobmill.order_check (queue_id, order_key)
  SELECT DISTINCT queue_id, order_key FROM fresh WHERE due <= now AND order_key IS NOT NULL
), tagged AS (
  INSERT INTO jobmill.job_tag (tag, job_id) SELECT unnest(tags), id FROM ${taggedFrom} WHERE tags IS NOT NULL
), tallied AS (
  INSERT INTO jobmill.tally (queue_id, to_state, n)
  SELECT queue_id, CASE WHEN due <= now AND order_key IS NULL THEN ${ready} ELSE ${scheduled} END, count(*)
    FROM fresh GROUP BY 1, 2
)`

export const PLACED = placementSql(`nextval('jobmill.seq')`, 'fresh')

/**
 * How many jobs of `fresh` became ready, by queue id; 0 if all due jobs of a queue wait in order queues. JSON
 * text, null for none.
 */
export const READY_COUNTS = `(SELECT json_object_agg(d.queue_id, d.jobs) FROM (
  SELECT queue_id, count(*) FILTER (WHERE order_key IS NULL) AS jobs FROM fresh WHERE due <= now GROUP BY 1) AS d)`

/**
 * The jobs as fields of the parameter, with the version of their ids. Payload and metadata are JSON text and
 * are embedded unchanged.
 */
export function jobsFields({ names }: Context, jobs: readonly NewJob[]): string {
  const items = jobs.map((job, n) => {
    const { id, queue, kind, priority, maxAttempts, dueAt, delayMs, payload } = job
    const rare =
      (dueAt === null ? '' : `,"due_at":${dueAt}`) +
      (job.timeoutMs === null ? '' : `,"timeout_ms":${job.timeoutMs}`) +
      (job.tags.length === 0 ? '' : `,"tags":${JSON.stringify(job.tags)}`) +
      (job.metadata === null ? '' : `,"metadata":${job.metadata}`) +
      (job.dedupe === null
        ? ''
        : `,"dedupe_key":${JSON.stringify(job.dedupe.key)},"hold_ms":${keptHold(job.dedupe)}`) +
      (job.orderKey === null ? '' : `,"order_key":${JSON.stringify(job.orderKey)}`) +
      (job.first === true ? ',"first":true' : '')
    return (
      `{"n":${n},"id":"${id}","queue_id":${names.queueId(queue)},"kind_id":${names.kindId(kind)},` +
      `"priority":${priority},"max_attempts":${maxAttempts},"delay_ms":${delayMs}${rare},"payload":${payload}}`
    )
  })
  return `"names":"${names.current.version}","jobs":[${items.join(',')}]`
}
