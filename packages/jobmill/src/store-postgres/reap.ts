/** Takes back the jobs of instances that stopped renewing. */
import { DEFAULTS } from '../job/defaults.ts'
import { outcomeCode } from '../job/outcome.ts'
import { STATE_CODE, stateOfCode } from '../job/state.ts'
import type { Reaped, ReapedJob } from '../store/replies.ts'
import { type Context, run } from './context.ts'
import { GIVEN, NOW } from './fragments.ts'
import { HANDED_BACK } from './hand-back.ts'
import { trimHistory } from './history.ts'

const { ready, dead, cancelled } = STATE_CODE

/**
 * By the partial index on the expiry of living instances. A renewal at the same moment holds the row: SKIP LOCKED passes it by;
 * one that committed first is seen, because a locked row is checked again.
 */
const markLost = (limit: number): string => `
WITH ${GIVEN}, expired AS MATERIALIZED (
  SELECT id FROM jobmill.instance WHERE ended_at IS NULL AND expires_at <= ${NOW}
   ORDER BY expires_at, id LIMIT ${limit} FOR UPDATE SKIP LOCKED
)
UPDATE jobmill.instance AS i SET ended_at = ${NOW}, lost = true FROM expired AS e WHERE i.id = e.id RETURNING i.id`

/**
 * A statement of its own, so that its snapshot is younger than the mark. By the index on the instance of running, over all
 * instances that have ended: also a claim that arrived after its instance was marked is found;
 * under one that stopped in good order that is no crash. It deletes
 * what is there and asks no history, so a finish that was accepted a moment ago stays accepted. SKIP LOCKED: one that is being written in a
 * transaction of a user's that stays open must not hold up the others; if it is rolled back, the next pass finds the row.
 */
const TAKE_BACK = `
WITH ${GIVEN}, over AS MATERIALIZED (
  SELECT i.id, i.lost FROM jobmill.instance AS i WHERE i.ended_at IS NOT NULL
), gone AS (
  DELETE FROM jobmill.running AS r USING over AS o WHERE r.instance = o.id AND r.id = ANY (ARRAY(
    SELECT h.id FROM jobmill.running AS h WHERE h.instance = ANY (ARRAY(SELECT id FROM over)) FOR UPDATE SKIP LOCKED))
  RETURNING r.*, o.lost, r.crashes + o.lost::int4 AS crashes_now,
    CASE WHEN r.cancel_reason IS NOT NULL THEN ${cancelled}
         WHEN o.lost AND r.crashes + 1 >= (SELECT (p ->> 'crashes')::int4 FROM given) THEN ${dead}
         ELSE ${ready} END AS state
), recorded AS (
  SELECT *, CASE WHEN lost THEN ${outcomeCode('interrupted')} ELSE ${outcomeCode('cancelled')} END AS outcome
    FROM gone WHERE lost OR state = ${cancelled}
), ${HANDED_BACK}
SELECT id, queue_id, kind_id, crashes_now, state, tries FROM gone ORDER BY id`

export async function reap(
  context: Context,
  { crashesUntilDead, limit }: { readonly crashesUntilDead: number; readonly limit: number },
): Promise<Reaped> {
  const [lost, rows] = await context.connection.transaction(async (query) => {
    const marked = await run(context, query, markLost(limit), '')
    const taken = await run(context, query, TAKE_BACK, `"crashes":${crashesUntilDead}`)
    const long = taken.filter((row) => Number(row['tries']) > DEFAULTS.historyPerJob)
    await trimHistory(
      context,
      query,
      long.map((row) => String(row['id'])),
    )
    return [marked, taken] as const
  })
  const { names } = context
  await names.learn(
    rows.map((row) => Number(row['queue_id'])),
    rows.map((row) => Number(row['kind_id'])),
  )
  const jobs = rows.map((row) => ({
    id: String(row['id']),
    queue: names.queueName(Number(row['queue_id'])),
    kind: names.kindName(Number(row['kind_id'])),
    crashes: Number(row['crashes_now']),
    state: stateOfCode(Number(row['state'])) as ReapedJob['state'],
  }))
  context.ring([...new Set(jobs.filter((job) => job.state === 'ready').map((job) => job.queue))])
  return { instances: lost.map((row) => String(row['id'])), jobs }
}
