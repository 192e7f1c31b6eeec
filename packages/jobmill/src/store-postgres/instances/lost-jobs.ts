/**
 * Reverts the crash count of jobs whose instance was reaped although its process is alive. The reaper records
 * the jobs in `lost_job`, and the instance finds them there when it registers again, in any state. If the
 * process was blocked, the crash still counts, and only the error is extended.
 */
import { KEY_TAKEN, NO_CRASH, STOOD_STILL } from '../../job/attempt/crash.ts'
import { outcomeCode } from '../../job/attempt/outcome.ts'
import { STATE_CODE } from '../../job/state.ts'
import { ask, type Context } from '../context.ts'
import { GIVEN_CTE, INPUT_IDS } from '../fragments.ts'
import type { ReadyCounts } from '../enqueue/ready-counts.ts'
import { lookAgain } from '../look-again.ts'
import { revive } from '../operate/retry.ts'

/**
 * A fragment of the reaper's statement, which defines `gone`. Excludes cancelled jobs: they have ended, so
 * their crash count no longer matters.
 */
export const LOST_NOTED = `noted AS (
  INSERT INTO jobmill.lost_job (instance, job_id, token)
  SELECT instance, id, token FROM gone WHERE lost AND state <> ${STATE_CODE.cancelled}
)`

/**
 * Uses the primary keys. The attempt stays in the history, with an error text that says what happened instead
 * of a crash.
 */
const find = (error: string): string => `
WITH ${GIVEN_CTE}, mine AS (
  DELETE FROM jobmill.lost_job WHERE instance = (SELECT (p ->> 'instance')::uuid FROM given) RETURNING job_id, token
), retold AS (
  UPDATE jobmill.attempt AS a SET error = ${error} FROM mine AS m WHERE a.job_id = m.job_id AND a.token = m.token
)
SELECT job_id AS id, count(*)::int4 AS n FROM mine GROUP BY job_id ORDER BY job_id`

const FIND = find(`'${NO_CRASH}'`)
const FIND_STILL = find(`a.error || '${STOOD_STILL}'`)

/**
 * Uses the unique index on the id of each table. One snapshot may miss a job that moves between tables, so
 * the result lists the jobs found. A job with only its last attempt left has ended. A job in none of the
 * tables was deleted.
 */
const UNCOUNT = `
WITH ${GIVEN_CTE}, input AS MATERIALIZED (
  SELECT x.id, x.n FROM given, json_to_recordset(p -> 'jobs') AS x(id uuid, n int4)
), ready AS (
  UPDATE jobmill.ready AS t SET crashes = greatest(t.crashes - i.n, 0) FROM input AS i WHERE t.id = i.id RETURNING t.id
), later AS (
  UPDATE jobmill.later AS t SET crashes = greatest(t.crashes - i.n, 0) FROM input AS i WHERE t.id = i.id RETURNING t.id
), order_queue AS (
  UPDATE jobmill.order_queue AS t SET crashes = greatest(t.crashes - i.n, 0) FROM input AS i WHERE t.id = i.id RETURNING t.id
), running AS (
  UPDATE jobmill.running AS t SET crashes = greatest(t.crashes - i.n, 0) FROM input AS i WHERE t.id = i.id RETURNING t.id
), ended AS (
  UPDATE jobmill.attempt AS t SET crashes = greatest(t.crashes - i.n, 0) FROM input AS i
   WHERE t.job_id = i.id AND t.ended_as IS NOT NULL
  RETURNING t.job_id AS id, t.ended_as = ${STATE_CODE.dead} AND t.taken_back AND t.outcome = ${outcomeCode('interrupted')} AS crashed
), nowhere AS (
  SELECT i.id FROM input AS i WHERE NOT EXISTS (SELECT FROM jobmill.job AS t WHERE t.id = i.id)
)
SELECT id, false AS crashed FROM ready UNION ALL SELECT id, false FROM later UNION ALL SELECT id, false FROM order_queue UNION ALL SELECT id, false FROM running
UNION ALL SELECT id, crashed FROM ended UNION ALL SELECT id, false FROM nowhere`

/**
 * Uses the primary key. UNCOUNT has locked the rows. The text is added once, however many crashes of a job
 * are reverted.
 */
const SAY_KEY_TAKEN = `
WITH ${GIVEN_CTE}, ${INPUT_IDS}
UPDATE jobmill.attempt AS a SET error = replace(a.error, '${KEY_TAKEN}', '') || '${KEY_TAKEN}'
  FROM input WHERE a.job_id = input.id AND a.ended_as IS NOT NULL`

/**
 * Runs in the transaction that registers the instance and holds its row, so the reaper cannot add records
 * concurrently.
 */
export async function takeCrashesBack(
  inside: Context,
  { id, stoodStill = false }: { readonly id: string; readonly stoodStill?: boolean | undefined },
  counts: ReadyCounts,
): Promise<void> {
  const found = await ask<{ id: string; n: number }>(inside, stoodStill ? FIND_STILL : FIND, { instance: id })
  if (stoodStill) return
  const crashed: string[] = []
  // A job moves between two looks only when a process claims or finishes it.
  await lookAgain(found, async (open) => {
    const rows = await ask<{ id: string; crashed: boolean }>(inside, UNCOUNT, { jobs: open })
    const settled = new Set(rows.map(({ id }) => id))
    for (const { id, crashed: isCrashed } of rows) if (isCrashed) crashed.push(id)
    return open.filter(({ id }) => !settled.has(id))
  })
  if (crashed.length === 0) return
  const { refused, revived } = await revive(inside, crashed.toSorted())
  for (const { queue, in_order_queue: waits } of revived) counts.add(queue, waits ? 0 : 1)
  if (refused.length > 0) await ask(inside, SAY_KEY_TAKEN, { ids: refused.map(({ id }) => id) })
}

/** Deletes the records of removed instances. A fragment of a statement that defines `gone(id)`. */
export const LOST_FORGOTTEN = `forgotten AS (
  DELETE FROM jobmill.lost_job WHERE instance = ANY (ARRAY(SELECT id FROM gone))
)`
