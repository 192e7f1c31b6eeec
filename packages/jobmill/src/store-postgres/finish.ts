/** Running → wherever the transitions say; what is accepted, what was written before, and what comes with it. */
import { DEFAULTS } from '../job/defaults.ts'
import { outcomeOfCode } from '../job/outcome.ts'
import { type JobState, stateOfCode } from '../job/state.ts'
import type { Finish, Finished } from '../store/finish.ts'
import type { Enqueued } from '../store/replies.ts'
import { inRounds } from '../store/rounds.ts'
import type { Query, Row } from './connection.ts'
import { type Context, run } from './context.ts'
import { coolQueues } from './cool-down.ts'
import { enqueueWith } from './enqueue.ts'
import { FINISH, finishText } from './finish-statement.ts'
import { GIVEN } from './fragments.ts'
import { trimHistory } from './history.ts'
import { type Tx, txQuery } from './tx.ts'

/** A second statement, because the snapshot of the first may be older than the finish that took the row. */
const WRITTEN_BEFORE = `
WITH ${GIVEN}
SELECT a.job_id AS id, a.ended_as, a.outcome, a.error
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

  const readyIn = new Set<number>()
  const work = (query: Query) => finishWith(context, query, items, (queueId) => readyIn.add(queueId))
  const needsTransaction =
    followUps.length > 0 ||
    items.some((item) => item.cool !== undefined) ||
    new Set(items.map(keyOf)).size < items.length
  const replies = await (needsTransaction
    ? context.connection.transaction(work)
    : work(context.connection.query))
  await context.names.learn(readyIn, [])
  const queues = [...readyIn].map((id) => context.names.queueName(id))
  context.ring([...queues, ...followUps.map((job) => job.queue)])
  return replies
}

async function finishWith(
  context: Context,
  query: Query,
  items: readonly Finish[],
  gotWork: (queueId: number) => void,
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
  gotWork: (queueId: number) => void,
): Promise<void> {
  const rows = await run(context, query, FINISH, `"items":[${items.map(finishText).join(',')}]`)
  const accepted = new Map(rows.map((row) => [String(row['id']), row]))
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
      if (state === 'ready') gotWork(Number(row['queue_id']))
      replies.set(item, {
        id: item.id,
        accepted: true,
        state,
        followUps: state === asked(item) ? await followUp(context, query, item) : [],
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

/**
 * An attempt that did not end its job, or whose job was retried since, says nothing of where it went: that is what the finish asked for,
 * unless a cancel was carried out instead, which shows in what was recorded.
 */
function acceptedBefore(item: Finish, row: Row): Finished {
  const endedAs = row['ended_as']
  const outcome = outcomeOfCode(Number(row['outcome']))
  const forced =
    outcome === 'cancelled' && (item.outcome !== outcome || row['error'] !== (item.error ?? null))
  const state: JobState = endedAs !== null ? stateOfCode(Number(endedAs)) : forced ? 'cancelled' : asked(item)
  return { id: item.id, accepted: true, state, followUps: [] }
}

function asked({ transition }: Finish): JobState {
  return transition.to === 'scheduled' && transition.delayMs === 0 ? 'ready' : transition.to
}

function keyOf(item: Finish): string {
  return item.id
}
