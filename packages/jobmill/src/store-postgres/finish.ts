/**
 * Running → wherever the transition says. The fence is the DELETE: no row under this id and token means that the
 * attempt has lost its lease, and then nothing else of it is written either.
 */
import { DEFAULTS } from '../job/defaults.ts'
import { outcomeCode } from '../job/outcome.ts'
import { type JobState, STATE_CODE, stateOfCode } from '../job/state.ts'
import type { Enqueued, Finish, Finished } from '../store/finish.ts'
import { inRounds } from '../store/rounds.ts'
import type { Query, Row } from './connection.ts'
import { type Context, run } from './context.ts'
import { coolQueues } from './cool-down.ts'
import { enqueueWith } from './enqueue.ts'
import { FREED, GIVEN, NOW } from './fragments.ts'
import { trimHistory } from './history.ts'
import { type Tx, txQuery } from './tx.ts'

const { scheduled, ready, running, done, cancelled } = STATE_CODE

/**
 * `gone(…, state)`: rows taken out of running, with the state they go to; a cancel that was asked for wins over all but done.
 * By the primary key of `running`. Concurrent finishes of one row wait for each other, and the second finds nothing.
 */
const FINISH = `
WITH ${GIVEN}, input AS MATERIALIZED (
  SELECT x.* FROM given AS g, json_to_recordset(g.p -> 'items') AS x(
    n int4, id uuid, token int8, to_state int2, delay_ms int8, refund int2, outcome int2, error text, ran_ms int8,
    has_result bool, result json)
), gone AS (
  DELETE FROM jobmill.running AS r USING input AS i WHERE r.id = i.id AND r.token = i.token
  RETURNING r.*, i.n, i.delay_ms, i.refund, i.outcome, i.error, i.ran_ms,
    CASE WHEN i.has_result THEN coalesce(i.result, 'null'::json) END AS result,
    (r.cancel_reason IS NOT NULL AND i.to_state <> ${done}) AS forced,
    CASE WHEN r.cancel_reason IS NOT NULL AND i.to_state <> ${done} THEN ${cancelled}
         WHEN i.to_state = ${scheduled} AND i.delay_ms = 0 THEN ${ready}
         ELSE i.to_state END AS state,
    i.to_state = ${ready} AS handed_back
), to_ready AS (
  INSERT INTO jobmill.ready (queue_id, priority, seq, id, ready_at, kind_id, tries, attempt, crashes, flags)
  SELECT queue_id, priority, CASE WHEN handed_back THEN seq ELSE nextval('jobmill.seq') END, id,
         CASE WHEN handed_back THEN ready_at ELSE ${NOW} END, kind_id, tries, greatest(attempt - refund, 0), crashes, flags
    FROM (SELECT * FROM gone WHERE state = ${ready} ORDER BY n) AS g
), to_later AS (
  INSERT INTO jobmill.later (due_at, id, queue_id, kind_id, tries, priority, attempt, crashes, flags)
  SELECT ${NOW} + delay_ms, id, queue_id, kind_id, tries, priority, greatest(attempt - refund, 0), crashes, flags
    FROM gone WHERE state = ${scheduled}
), recorded AS (
  INSERT INTO jobmill.attempt (job_id, token, instance, started_at, ended_at, queue_id, attempt, spent, crashes,
                               outcome, ended_as, tries, error, result)
  SELECT id, token, instance, greatest(started_at, ${NOW} - coalesce(ran_ms, ${NOW})), ${NOW}, queue_id, attempt,
         greatest(attempt - refund, 0), crashes,
         CASE WHEN forced THEN ${outcomeCode('cancelled')} ELSE outcome END,
         CASE WHEN state >= ${done} THEN state END, tries, CASE WHEN forced THEN cancel_reason ELSE error END, result
    FROM gone WHERE outcome IS NOT NULL OR forced
), ended AS (
  SELECT id, state, flags FROM gone WHERE state >= ${done}
), ${FREED}, tallied AS (
  INSERT INTO jobmill.tally (queue_id, from_state, to_state, n)
  SELECT queue_id, ${running}, state, count(*) FROM gone GROUP BY 1, 3
)
SELECT id, state, queue_id, tries FROM gone`

/** A second statement, because the snapshot of the first may be older than the finish that took the row. */
const WRITTEN_BEFORE = `
WITH ${GIVEN}
SELECT a.job_id AS id, a.ended_as
  FROM given, json_to_recordset(p -> 'items') AS x(id uuid, token int8), jobmill.attempt AS a
 WHERE a.job_id = x.id AND a.token = x.token AND NOT a.taken_back`

export async function finish(
  context: Context,
  items: readonly Finish[],
  options: { readonly tx?: Tx | undefined } = {},
): Promise<Finished[]> {
  if (items.length === 0) return []
  const followUps = items.flatMap((item) => item.followUps ?? [])
  await context.names.ensure(
    new Set(followUps.map((job) => job.queue)),
    new Set(followUps.map((job) => job.kind)),
  )
  if (options.tx !== undefined) return finishWith(context, txQuery(options.tx), items, () => {})

  const queues = new Set<string>()
  const work = (query: Query) => finishWith(context, query, items, (queue) => queues.add(queue))
  const needsTransaction =
    followUps.length > 0 ||
    items.some((item) => item.cool !== undefined) ||
    new Set(items.map(keyOf)).size < items.length
  const replies = await (needsTransaction
    ? context.connection.transaction(work)
    : work(context.connection.query))
  context.ring([...queues, ...followUps.map((job) => job.queue)])
  return replies
}

async function finishWith(
  context: Context,
  query: Query,
  items: readonly Finish[],
  gotWork: (queue: string) => void,
): Promise<Finished[]> {
  const replies = new Map<Finish, Finished>()
  for (const round of inRounds(items, keyOf)) {
    await finishRound(context, query, round, replies, gotWork)
  }
  return items.map((item) => replies.get(item) ?? refused(item))
}

async function finishRound(
  context: Context,
  query: Query,
  items: readonly Finish[],
  replies: Map<Finish, Finished>,
  gotWork: (queue: string) => void,
): Promise<void> {
  const rows = await run(context, query, FINISH, `"items":[${items.map(itemText).join(',')}]`)
  const accepted = new Map(rows.map((row) => [String(row['id']), row]))
  await context.names.learn(
    rows.map((row) => Number(row['queue_id'])),
    [],
  )
  const missing = items.filter((item) => !accepted.has(item.id))
  const before = missing.length === 0 ? new Map<string, Row>() : await writtenBefore(context, query, missing)

  await coolQueues(
    context,
    query,
    items.filter((item) => accepted.has(item.id)),
    (item) => Number(accepted.get(item.id)?.['queue_id']),
  )
  for (const item of items) {
    const row = accepted.get(item.id)
    if (row !== undefined) {
      const state = stateOfCode(Number(row['state']))
      if (state === 'ready') gotWork(context.names.queueName(Number(row['queue_id'])))
      replies.set(item, {
        id: item.id,
        accepted: true,
        state,
        followUps: await followUp(context, query, item),
      })
    } else {
      const earlier = before.get(item.id)
      replies.set(item, earlier === undefined ? refused(item) : acceptedBefore(item, earlier))
    }
  }
  await trimHistory(
    context,
    query,
    rows.filter((row) => Number(row['tries']) > DEFAULTS.historyPerJob).map((row) => String(row['id'])),
  )
}

async function writtenBefore(
  context: Context,
  query: Query,
  items: readonly Finish[],
): Promise<Map<string, Row>> {
  const pairs = JSON.stringify(items.map(({ id, token }) => ({ id, token })))
  const rows = await run(context, query, WRITTEN_BEFORE, `"items":${pairs}`)
  return new Map(rows.map((row) => [String(row['id']), row]))
}

async function followUp(context: Context, query: Query, item: Finish): Promise<Enqueued[]> {
  const jobs = item.followUps ?? []
  return jobs.length === 0 ? [] : enqueueWith(context, query, jobs, true)
}

function refused(item: Finish): Finished {
  return { id: item.id, accepted: false, state: null, followUps: [] }
}

/** An attempt that did not end its job says nothing of where it went; that is what the finish asked for. */
function acceptedBefore(item: Finish, row: Row): Finished {
  const endedAs = row['ended_as']
  const state: JobState = endedAs === null ? asked(item) : stateOfCode(Number(endedAs))
  return { id: item.id, accepted: true, state, followUps: [] }
}

function asked({ transition }: Finish): JobState {
  return transition.to === 'scheduled' && transition.delayMs === 0 ? 'ready' : transition.to
}

function keyOf(item: Finish): string {
  return item.id
}

function itemText(item: Finish, n: number): string {
  const { transition } = item
  const refund = transition.to === 'ready' || (transition.to === 'scheduled' && transition.refund) ? 1 : 0
  const result = transition.to === 'done' ? transition.result : null
  return (
    `{"n":${n},"id":"${item.id}","token":${item.token},"to_state":${STATE_CODE[transition.to]},"refund":${refund},` +
    `"delay_ms":${transition.to === 'scheduled' ? transition.delayMs : 0},` +
    `"outcome":${item.outcome === null ? 'null' : outcomeCode(item.outcome)}` +
    (item.error === undefined ? '' : `,"error":${JSON.stringify(item.error)}`) +
    (item.ranMs === undefined ? '' : `,"ran_ms":${Math.round(item.ranMs)}`) +
    (result === null ? '}' : `,"has_result":true,"result":${result}}`)
  )
}
