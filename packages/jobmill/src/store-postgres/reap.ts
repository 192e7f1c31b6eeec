/** Takes back the jobs of instances that stopped renewing. */
import { crashError } from '../job/crash.ts'
import { DEFAULTS } from '../job/defaults.ts'
import type { NewJob } from '../job/new-job.ts'
import { onDeadJob } from '../job/on-dead.ts'
import { outcomeCode } from '../job/outcome.ts'
import { STATE_CODE, stateOfCode } from '../job/state.ts'
import type { Reaped, ReapedJob } from '../store/replies.ts'
import type { Query, Row } from './connection.ts'
import { type Context, run } from './context.ts'
import { enqueueWith } from './enqueue.ts'
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
  SELECT i.id, i.lost, i.on_dead FROM jobmill.instance AS i WHERE i.ended_at IS NOT NULL
), gone AS (
  DELETE FROM jobmill.running AS r USING over AS o WHERE r.instance = o.id AND r.id = ANY (ARRAY(
    SELECT h.id FROM jobmill.running AS h WHERE h.instance = ANY (ARRAY(SELECT id FROM over)) FOR UPDATE SKIP LOCKED))
  RETURNING r.*, o.lost, o.on_dead, r.crashes + o.lost::int4 AS crashes_now,
    CASE WHEN r.cancel_reason IS NOT NULL THEN ${cancelled}
         WHEN o.lost AND r.crashes + 1 >= (SELECT (p ->> 'crashes')::int4 FROM given) THEN ${dead}
         ELSE ${ready} END AS state
), recorded AS (
  SELECT *, CASE WHEN lost THEN ${outcomeCode('interrupted')} ELSE ${outcomeCode('cancelled')} END AS outcome
    FROM gone WHERE lost OR state = ${cancelled}
), ${HANDED_BACK}
SELECT id, queue_id, kind_id, crashes_now, state, tries, ${NOW} AS at, CASE WHEN state = ${dead} THEN on_dead END AS on_dead
  FROM gone ORDER BY id`

export async function reap(
  context: Context,
  { crashesUntilDead, limit }: { readonly crashesUntilDead: number; readonly limit: number },
): Promise<Reaped> {
  const [lost, rows, followUps] = await context.connection.transaction(async (query) => {
    const marked = await run(context, query, markLost(limit), '')
    const taken = await run(context, query, TAKE_BACK, `"crashes":${crashesUntilDead}`)
    const long = taken.filter((row) => Number(row['tries']) > DEFAULTS.historyPerJob)
    await trimHistory(
      context,
      query,
      long.map((row) => String(row['id'])),
    )
    return [marked, taken, await followDeaths(context, query, taken)] as const
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
  const ready = [...jobs.filter((job) => job.state === 'ready'), ...followUps]
  context.ring([...new Set(ready.map((job) => job.queue))])
  return { instances: lost.map((row) => String(row['id'])), jobs }
}

/**
 * Whoever deleted the row of the running job follows its death up in the same transaction, so it happens once however many reap. Names
 * are read through the transaction too: with a pool of one, a second connection would be waited for in vain.
 */
async function followDeaths(context: Context, query: Query, taken: readonly Row[]): Promise<NewJob[]> {
  const dead = taken.filter((row) => ((row['on_dead'] as string[] | null) ?? []).length > 0)
  if (dead.length === 0) return []
  const { names } = context
  await names.learnAll(query)
  const jobs = dead.flatMap((row) => {
    const kind = names.kindName(row['kind_id'] as number)
    if (!(row['on_dead'] as string[]).includes(kind)) return []
    const queue = names.queueName(row['queue_id'] as number)
    const error = crashError(row['crashes_now'] as number)
    return [onDeadJob({ id: row['id'] as string, kind, queue, error, at: row['at'] as number })]
  })
  if (jobs.length > 0) await enqueueWith(context, query, jobs, true)
  return jobs
}
