/** Returns the jobs of expired instances to their queues. */
import { crashError } from '../../job/attempt/crash.ts'
import { DEFAULTS } from '../../job/defaults.ts'
import { onDeadJob } from '../../job/attempt/on-dead.ts'
import { outcomeCode } from '../../job/attempt/outcome.ts'
import { STATE_CODE, stateOfCode } from '../../job/state.ts'
import type { Reaped, ReapedJob } from '../../store/types/replies.ts'
import type { Query, Row } from '../connection/connection.ts'
import { unpack } from '../claim/unpack.ts'
import { type Context, run } from '../context.ts'
import { enqueueWith } from '../enqueue/enqueue.ts'
import { freedFor, GIVEN_CTE, kindName, NOW, queueName } from '../fragments.ts'
import { RETURN_JOBS } from './return-jobs.ts'
import { LOST_NOTED } from './lost-jobs.ts'
import { trimHistory } from '../inspect/history.ts'
import { MEMBER_LEFT, MEMBERS_CHANGED } from './members.ts'
import { type ReadyCounts, readyCounts, notifyFor } from '../enqueue/ready-counts.ts'
import { idsField } from '../operate/states.ts'

const { ready, dead, cancelled } = STATE_CODE

/**
 * Uses the partial index on the expiry of live instances. SKIP LOCKED skips an instance whose renewal is in
 * progress. A renewal that committed first is seen, because PostgreSQL checks the condition again after
 * locking.
 */
const markLost = (limit: number): string => `
WITH ${GIVEN_CTE}, expired AS MATERIALIZED (
  SELECT id FROM jobmill.instance WHERE ended_at IS NULL AND expires_at <= ${NOW}
   ORDER BY expires_at, id LIMIT ${limit} FOR UPDATE SKIP LOCKED
)
UPDATE jobmill.instance AS i SET ended_at = ${NOW}, lost = true FROM expired AS e WHERE i.id = e.id RETURNING i.id`

/**
 * A separate statement, so that its snapshot is newer than the mark. It reads the jobs of all ended
 * instances, so that it also finds claims that arrived after the mark. For an instance that stopped normally,
 * this is not a crash. It deletes only existing rows, so an accepted finish stays accepted. SKIP LOCKED skips
 * a job that a user's transaction is finishing; after a rollback, the next pass finds it. FOR SHARE orders it
 * with a concurrent registration: the instance either registers first, or finds its jobs in `lost_job`.
 */
const TAKE_BACK = `
WITH ${GIVEN_CTE}, over AS MATERIALIZED (
  SELECT i.id, i.lost, i.on_dead FROM jobmill.instance AS i WHERE i.ended_at IS NOT NULL FOR SHARE
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
), ${RETURN_JOBS}, ${LOST_NOTED}
SELECT id, ${queueName('gone.queue_id')} AS queue, ${kindName('gone.kind_id')} AS kind, crashes_now, state, tries, ${NOW} AS at, CASE WHEN state = ${dead} THEN on_dead END AS on_dead,
       CASE WHEN state = ${dead} THEN (SELECT j.order_key FROM jobmill.job AS j WHERE j.id = gone.id) END AS order_key,
       ${freedFor('permit_freed')} AS freed
  FROM gone ORDER BY id`

/** The ended instances with jobs in a batch. */
const OVER = `
SELECT DISTINCT b.instance AS id FROM jobmill.batch AS b JOIN jobmill.instance AS i ON i.id = b.instance WHERE i.ended_at IS NOT NULL`

/** Releases the duties, the slots and the other permits of the newly marked instances. */
const LEAVE = `
WITH ${GIVEN_CTE}, over AS MATERIALIZED (
  SELECT v.id::uuid AS id FROM given, json_array_elements_text(p -> 'ids') AS v(id)
), ${MEMBER_LEFT}
SELECT ${freedFor('others_freed')} AS freed`

export async function reap(
  context: Context,
  { crashesUntilDead, limit }: { readonly crashesUntilDead: number; readonly limit: number },
): Promise<Reaped> {
  const [lost, rows, counts] = await context.connection.transaction(async (query) => {
    const counted = readyCounts()
    const marked = await run(context, query, markLost(limit), '')
    const over = await query(context.sql(OVER), [])
    if (over.length > 0) await unpack(context, query, { instances: over.map((row) => String(row['id'])) })
    const taken = await run(context, query, TAKE_BACK, `"crashes":${crashesUntilDead}`)
    counted.addFreed(taken)
    for (const row of taken) if (row['state'] === ready) counted.add(row['queue'], 1)
    const long = taken.filter((row) => Number(row['tries']) > DEFAULTS.historyPerJob)
    await trimHistory(
      context,
      query,
      long.map((row) => String(row['id'])),
    )
    await followDeaths(context, query, taken, counted, (row) => crashError(row['crashes_now'] as number))
    if (marked.length > 0) await leave(context, query, marked, counted)
    return [marked, taken, counted] as const
  })
  notifyFor(context, counts)
  return { instances: lost.map((row) => String(row['id'])), jobs: rows.map(reapedJob) }
}

function reapedJob(row: Row): ReapedJob {
  return {
    id: String(row['id']),
    queue: String(row['queue']),
    kind: String(row['kind']),
    crashes: Number(row['crashes_now']),
    state: stateOfCode(Number(row['state'])) as ReapedJob['state'],
  }
}

/**
 * The transaction that deletes the row of a job also enqueues the follow-up, so concurrent calls enqueue it
 * once. A name without an id rolls back the transaction. The name is then added, and the call runs again.
 */
export async function followDeaths(
  context: Context,
  query: Query,
  taken: readonly Row[],
  counts: ReadyCounts,
  errorOf: (row: Row) => string,
): Promise<void> {
  const dead = taken.filter((row) => ((row['on_dead'] as string[] | null) ?? []).length > 0)
  if (dead.length === 0) return
  const jobs = dead.flatMap((row) => {
    const kind = String(row['kind'])
    if (!(row['on_dead'] as string[]).includes(kind)) return []
    const queue = String(row['queue'])
    const error = errorOf(row)
    const [id, orderKey, at] = [row['id'] as string, row['order_key'] as string | null, row['at'] as number]
    return [onDeadJob({ id, kind, queue, orderKey, error, at })]
  })
  if (jobs.length > 0) await enqueueWith(context, query, jobs, true, counts)
}

/** Comes last, because the version row stays locked until the commit. */
async function leave(
  context: Context,
  query: Query,
  marked: readonly Row[],
  counts: ReadyCounts,
): Promise<void> {
  counts.addFreed(await run(context, query, LEAVE, idsField(marked.map((row) => String(row['id'])))))
  await query(context.sql(MEMBERS_CHANGED), [])
}
