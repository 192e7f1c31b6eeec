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
import { type ReadyCounts, readyCounts, ringFor } from './ready-counts.ts'
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
  if (options.tx !== undefined) return finishWith(context, txQuery(options.tx), items, readyCounts())

  const work = async (query: Query): Promise<[Finished[], ReadyCounts]> => {
    const counts = readyCounts()
    return [await finishWith(context, query, items, counts), counts]
  }
  const needsTransaction =
    followUps.length > 0 ||
    items.some((item) => item.cool !== undefined) ||
    new Set(items.map(keyOf)).size < items.length
  const [replies, counts] = await (needsTransaction
    ? context.connection.transaction(work)
    : work(context.connection.query))
  await ringFor(context, counts)
  return replies
}

async function finishWith(
  context: Context,
  query: Query,
  items: readonly Finish[],
  counts: ReadyCounts,
): Promise<Finished[]> {
  const replies = new Map<Finish, Finished>()
  for (const round of inRounds(items, keyOf)) {
    await finishRound(context, query, round, { replies, counts })
  }
  return items.map((item) => replies.get(item) ?? refused(item))
}

/** What a round adds to. */
interface Told {
  readonly replies: Map<Finish, Finished>
  readonly counts: ReadyCounts
}

async function finishRound(
  context: Context,
  query: Query,
  items: readonly Finish[],
  { replies, counts }: Told,
): Promise<void> {
  const rows = await run(context, query, FINISH, `"items":[${items.map(finishText).join(',')}]`)
  counts.freed(rows)
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
      if (state === 'ready') counts.add(Number(row['queue_id']), 1)
      replies.set(item, {
        id: item.id,
        accepted: true,
        state,
        followUps: state === asked(item) ? await followUp(context, query, item, counts) : [],
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

async function followUp(
  context: Context,
  query: Query,
  item: Finish,
  counts: ReadyCounts,
): Promise<Enqueued[]> {
  const jobs = item.followUps ?? []
  return jobs.length === 0 ? [] : enqueueWith(context, query, jobs, true, counts)
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
