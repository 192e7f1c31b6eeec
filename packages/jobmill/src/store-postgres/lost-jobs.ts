/**
 * Takes back the crashes of an instance that was reaped although its process lives. The reaper notes in `lost_job` what it took from whom; the instance
 * finds these jobs there when it registers again, wherever they are by then.
 */
import { NO_CRASH, STOOD_STILL } from '../job/crash.ts'
import { outcomeCode } from '../job/outcome.ts'
import { STATE_CODE } from '../job/state.ts'
import type { Query } from './connection.ts'
import { type Context, run } from './context.ts'
import { GIVEN } from './fragments.ts'
import type { ReadyCounts } from './ready-counts.ts'
import { revive } from './retry.ts'

/** A piece of the reaper's statement, which defines `gone`. A job that was cancelled has ended: its crashes decide nothing any more. */
export const LOST_NOTED = `noted AS (
  INSERT INTO jobmill.lost_job (instance, job_id, token)
  SELECT instance, id, token FROM gone WHERE lost AND state <> ${STATE_CODE.cancelled}
)`

/** By the primary keys. The attempt keeps its place in the history and tells what happened instead of a crash. */
const find = (error: string): string => `
WITH ${GIVEN}, mine AS (
  DELETE FROM jobmill.lost_job WHERE instance = (SELECT (p ->> 'instance')::uuid FROM given) RETURNING job_id, token
), retold AS (
  UPDATE jobmill.attempt AS a SET error = ${error} FROM mine AS m WHERE a.job_id = m.job_id AND a.token = m.token
)
SELECT job_id AS id, count(*)::int4 AS n FROM mine GROUP BY job_id ORDER BY job_id`

const FIND = find(`'${NO_CRASH}'`)
const FIND_STILL = find(`a.error || '${STOOD_STILL}'`)

/**
 * Each by the unique index on the id. One snapshot may miss a job that moves between the tables at this moment, so the answer tells which of them were
 * found: a job of which only the last attempt is left has ended, and one that is nowhere was deleted or waits in line, where it has no crashes.
 */
const UNCOUNT = `
WITH ${GIVEN}, input AS MATERIALIZED (
  SELECT x.id, x.n FROM given, json_to_recordset(p -> 'jobs') AS x(id uuid, n int4)
), ready AS (
  UPDATE jobmill.ready AS t SET crashes = greatest(t.crashes - i.n, 0) FROM input AS i WHERE t.id = i.id RETURNING t.id
), later AS (
  UPDATE jobmill.later AS t SET crashes = greatest(t.crashes - i.n, 0) FROM input AS i WHERE t.id = i.id RETURNING t.id
), running AS (
  UPDATE jobmill.running AS t SET crashes = greatest(t.crashes - i.n, 0) FROM input AS i WHERE t.id = i.id RETURNING t.id
), ended AS (
  UPDATE jobmill.attempt AS t SET crashes = greatest(t.crashes - i.n, 0) FROM input AS i
   WHERE t.job_id = i.id AND t.ended_as IS NOT NULL
  RETURNING t.job_id AS id, t.ended_as = ${STATE_CODE.dead} AND t.taken_back AND t.outcome = ${outcomeCode('interrupted')} AS crashed
), nowhere AS (
  SELECT i.id FROM input AS i
   WHERE EXISTS (SELECT FROM jobmill.order_queue AS t WHERE t.id = i.id) OR NOT EXISTS (SELECT FROM jobmill.job AS t WHERE t.id = i.id)
)
SELECT id, false AS crashed FROM ready UNION ALL SELECT id, false FROM later UNION ALL SELECT id, false FROM running
UNION ALL SELECT id, crashed FROM ended UNION ALL SELECT id, false FROM nowhere`

/** A job moves between two looks at most as often as processes claim and finish it. */
const MOST_LOOKS = 20

/** Within the transaction that registers the instance, which holds its row: the reaper cannot note more at the same time. */
export async function takeCrashesBack(
  context: Context,
  query: Query,
  { id, stoodStill = false }: { readonly id: string; readonly stoodStill?: boolean | undefined },
  counts: ReadyCounts,
): Promise<void> {
  const found = await run(context, query, stoodStill ? FIND_STILL : FIND, `"instance":${JSON.stringify(id)}`)
  if (stoodStill) return
  let open = found.map((row) => ({ id: String(row['id']), n: Number(row['n']) }))
  const crashed: string[] = []
  for (let looks = 0; open.length > 0 && looks < MOST_LOOKS; looks += 1) {
    const rows = await run(context, query, UNCOUNT, `"jobs":${JSON.stringify(open)}`)
    const settled = new Set(rows.map((row) => String(row['id'])))
    for (const row of rows) if (row['crashed'] === true) crashed.push(String(row['id']))
    open = open.filter(({ id }) => !settled.has(id))
  }
  if (crashed.length === 0) return
  const { ready } = await revive(context, query, crashed.toSorted())
  for (const [queueId, jobs] of ready) counts.add(queueId, jobs)
}

/** With the instances that nobody waits for any more. A piece of a statement that defines `gone(id)`. */
export const LOST_FORGOTTEN = `forgotten AS (
  DELETE FROM jobmill.lost_job WHERE instance = ANY (ARRAY(SELECT id FROM gone))
)`
