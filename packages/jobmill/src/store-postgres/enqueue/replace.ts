/**
 * Replaces the payload, due time and enqueue time of waiting jobs (dedupe with `replace`). The statement
 * removes the job from its table and inserts it where it now belongs. A claim therefore gets either the old
 * payload before, or the new one after.
 */
import { DEFAULTS } from '../../job/defaults.ts'
import type { NewJob } from '../../job/enqueue/new-job.ts'
import { STATE_CODE } from '../../job/state.ts'
import type { Query } from '../connection/connection.ts'
import { type Context, run } from '../context.ts'
import {
  FREES_KEY,
  GIVEN_CTE,
  GROUP_MARK,
  HAS_PASSED,
  INPUT_IDS,
  NEXT_PLACE,
  queueName,
  READY_FLAGS,
  slotsFreed,
  TAKEN_CTE,
  turnKey,
  waitsAgain,
  WAITS_FOR_TURN,
} from '../fragments.ts'
import { keptChanging, lookAgain } from '../look-again.ts'
import { entriesIn, NEW_TAGS, retagged } from './entries.ts'
import type { ReadyCounts } from './ready-counts.ts'

const { scheduled, ready } = STATE_CODE

const REPLACE = `
WITH ${GIVEN_CTE}, input AS MATERIALIZED (
  SELECT x.n, x.id, x.payload, coalesce(x.entries, '{}') AS entries, coalesce(x.due_at, g.now + x.delay_ms) AS due, g.now
    FROM given AS g, json_to_recordset(g.p -> 'jobs') AS x(n int4, id uuid, payload json, entries text[], due_at int8, delay_ms int8)
   WHERE NOT EXISTS (SELECT FROM jobmill.step AS s WHERE s.job_id = x.id)
), ${TAKEN_CTE}, moved AS (
  SELECT t.*, i.n, i.due, i.now, i.payload, i.entries FROM taken AS t JOIN input AS i ON i.id = t.id ORDER BY i.n
), ${retagged('moved')}, changed AS (
  UPDATE jobmill.job AS j SET payload = coalesce(m.payload, 'null'::json), enqueued_at = m.now, tags = ${NEW_TAGS}
    FROM moved AS m LEFT JOIN retagged AS r ON r.id = m.id WHERE j.id = m.id
  RETURNING j.id, j.order_key, j.group_name
), to_later AS (
  INSERT INTO jobmill.later (due_at, id, queue_id, kind_id, tries, priority, attempt, crashes, flags)
  SELECT due, id, queue_id, kind_id, tries, priority, attempt, crashes, ${waitsAgain('moved.id')} | (flags & ${FREES_KEY}) FROM moved WHERE due > now
), slot_freed AS (
  ${slotsFreed(`SELECT m.id FROM moved AS m WHERE m.due > m.now AND m.flags & ${HAS_PASSED} <> 0`)}
), to_ready AS (
  INSERT INTO jobmill.ready (queue_id, priority, seq, id, ready_at, kind_id, tries, attempt, crashes, flags)
  SELECT queue_id, priority, coalesce(seq, ${NEXT_PLACE}), id, coalesce(ready_at, now), kind_id, tries, attempt,
         crashes, ${READY_FLAGS}
    FROM (SELECT * FROM moved WHERE due <= now AND NOT ${WAITS_FOR_TURN} ORDER BY n) AS m
), to_line AS (
  INSERT INTO jobmill.order_queue (queue_id, order_key, pos, id, due_at, kind_id, tries, priority, flags, attempt, crashes)
  SELECT m.queue_id, ${turnKey('c')}, coalesce(m.pos, nextval('jobmill.seq')), m.id, m.due, m.kind_id, m.tries, m.priority, m.flags, m.attempt, m.crashes
    FROM (SELECT * FROM moved WHERE due <= now AND ${WAITS_FOR_TURN}) AS m JOIN changed AS c ON c.id = m.id
  RETURNING queue_id, order_key
), called AS (
  INSERT INTO jobmill.order_check (queue_id, order_key)
  SELECT queue_id, order_key FROM to_line UNION ALL SELECT queue_id, ${GROUP_MARK} || name FROM slot_freed
), tallied AS (
  INSERT INTO jobmill.tally (queue_id, from_state, to_state, n)
  SELECT queue_id, state, CASE WHEN due <= now AND NOT ${WAITS_FOR_TURN} THEN ${ready} ELSE ${scheduled} END, count(*)
    FROM moved GROUP BY 1, 2, 3
)
SELECT id, ${queueName('moved.queue_id')} AS queue, CASE WHEN state = ${scheduled} AND due <= now THEN (NOT ${WAITS_FOR_TURN})::int4 END AS ready,
       CASE WHEN due > now AND due <= now + ${DEFAULTS.dueSoonMs} THEN ${queueName('moved.queue_id')} END AS look FROM moved`

/**
 * Holders that cannot be replaced: they run, have steps of their payload, or their key no longer belongs to a
 * live job. Uses primary keys.
 */
const BEGUN = `
WITH ${GIVEN_CTE}, ${INPUT_IDS}
SELECT input.id FROM input
 WHERE EXISTS (SELECT FROM jobmill.running AS r WHERE r.id = input.id)
    OR EXISTS (SELECT FROM jobmill.step AS s WHERE s.job_id = input.id)
    OR NOT EXISTS (SELECT FROM jobmill.job AS j JOIN jobmill.dedupe AS d ON d.key = j.dedupe_key
                    WHERE j.id = input.id AND d.job_id = j.id AND d.expires_at IS NULL)`

/** Returns the holders that were still waiting and now have the new payload. */
export async function replaceHolders(
  context: Context,
  query: Query,
  items: readonly { readonly job: NewJob; readonly holder: string }[],
  counts: ReadyCounts,
): Promise<Set<string>> {
  const replaced = new Set<string>()
  // A missing holder may be moving between tables (stage, another replace). Only a holder that is known to
  // have started keeps its payload.
  const moving = await lookAgain(items, async (open) => {
    for (const row of await run(context, query, REPLACE, `"jobs":[${open.map(itemText).join(',')}]`)) {
      replaced.add(String(row['id']))
      counts.addLook(row['look'])
      if (row['ready'] !== null) counts.add(row['queue'], Number(row['ready']))
    }
    const rest = open.filter(({ holder }) => !replaced.has(holder))
    if (rest.length === 0) return rest
    const rows = await run(context, query, BEGUN, { ids: rest.map(({ holder }) => holder) })
    const begun = new Set(rows.map((row) => String(row['id'])))
    return rest.filter(({ holder }) => !begun.has(holder))
  })
  if (moving.length > 0) throw keptChanging('a job kept changing state while it was being replaced')
  return replaced
}

function itemText({ job, holder }: { readonly job: NewJob; readonly holder: string }, n: number): string {
  const entries = entriesIn(job.tags)
  const more = entries === undefined ? '' : `,"entries":${JSON.stringify(entries)}`
  return `{"n":${n},"id":"${holder}","due_at":${job.dueAt},"delay_ms":${job.delayMs},"payload":${job.payload}${more}}`
}
