/** Ends attempts: applies their transitions, detects retried calls, and enqueues follow-ups. */
import { outcomeOfCode } from '../../job/attempt/outcome.ts'
import { DEFAULTS } from '../../job/defaults.ts'
import { JobmillError } from '../../job/errors.ts'
import { type JobState, stateOfCode } from '../../job/state.ts'
import { inRounds } from '../../store/rounds.ts'
import { slicesOf } from '../../store/slices.ts'
import type { Finish, Finished } from '../../store/types/finish.ts'
import type { Enqueued } from '../../store/types/replies.ts'
import type { Query, Row } from '../connection/connection.ts'
import { type Context, run } from '../context.ts'
import { enqueueInSlices, ensureNames, inUserTransaction } from '../enqueue/enqueue.ts'
import { notifyAfterCommit, notifyFor, type ReadyCounts, readyCounts } from '../enqueue/ready-counts.ts'
import { GIVEN_CTE } from '../fragments.ts'
import { trimHistory } from '../inspect/history.ts'
import { type Tx, txQuery } from '../tx.ts'
import { coolQueues } from './cool-down.ts'
import { areAlike, type Done, finishDone, forgets, isCommonFinish } from './finish-done.ts'
import { FINISH, FINISH_FORGETTING, finishText } from './finish-statement.ts'

/** Below this number, the extra statement costs more than the function saves. */
const MANY = 20
const NONE: ReadonlySet<string> = new Set()
/** Thrown to roll back a rehearsal. */
const REHEARSED = new JobmillError('TX_ROLLED_BACK', 'the finish was rehearsed')
/** Runs the checks that would otherwise run at the commit. */
const CHECK_NOW = 'SET CONSTRAINTS ALL IMMEDIATE'

export async function finish(
  context: Context,
  given: readonly Finish[],
  options: { readonly tx?: Tx | undefined; readonly rehearse?: boolean } = {},
): Promise<Finished[]> {
  if (given.length === 0) return []
  const isEachOnce = new Set(given.map(keyOf)).size === given.length
  // Replies are stored by item object, and the same object may occur twice in a call.
  const items = isEachOnce ? given : given.map((item) => ({ ...item }))
  await nameFollowUps(context, items)
  if (options.tx !== undefined) {
    const counts = readyCounts()
    const there: Context = { ...context, isUserTransaction: true }
    const replies = await finishWith(there, txQuery(options.tx), items, counts)
    notifyAfterCommit(context, counts)
    return replies
  }
  const isAlike = isEachOnce && areAlike(items)
  if (options.rehearse === true) return rehearse(context, items, isAlike ? items : [])
  if (isAlike) return finishAlike(context, items)
  const plain = isEachOnce ? items.filter(isCommonFinish) : []
  return finishGeneral(context, items, plain.length >= MANY && areAlike(plain) ? plain : [])
}

/** `plain`: the items to try with the function first. */
async function finishParts(
  context: Context,
  query: Query,
  items: readonly Finish[],
  plain: readonly Done[],
): Promise<[Finished[], ReadyCounts]> {
  const counts = readyCounts()
  const left = plain.length === 0 ? NONE : await finishDone(context, query, plain)
  const ended = new Set<Finish>(plain.filter(({ id }) => !left.has(id)))
  const rest = items.filter((item) => !ended.has(item))
  return [mergeReplies(items, rest, await finishWith(context, query, rest, counts)), counts]
}

async function rehearse(
  context: Context,
  items: readonly Finish[],
  plain: readonly Done[],
): Promise<Finished[]> {
  let replies: Finished[] = []
  const work = async (query: Query): Promise<never> => {
    replies = (await finishParts(context, query, items, plain))[0]
    await query(CHECK_NOW, [])
    throw REHEARSED
  }
  return context.connection.transaction(work).catch((error: unknown) => {
    if (error !== REHEARSED) throw error
    return replies
  })
}

async function finishGeneral(
  context: Context,
  items: readonly Finish[],
  plain: readonly Done[],
): Promise<Finished[]> {
  const work = (query: Query): ReturnType<typeof finishParts> => finishParts(context, query, items, plain)
  const needsTransaction =
    plain.length > 0 ||
    items.some((item) => item.cool !== undefined || (item.followUps?.length ?? 0) > 0) ||
    new Set(items.map(keyOf)).size < items.length
  const [replies, counts] = await (needsTransaction
    ? context.connection.transaction(work)
    : work(context.connection.query))
  notifyFor(context, counts)
  return replies
}

/** The common case: one call ends all of them. Items that it skipped take the general path. */
async function finishAlike(context: Context, items: readonly Done[]): Promise<Finished[]> {
  const { tuples } = context.connection
  const named: Query = async (text, values) =>
    (await tuples(text, values)).map(([left]) => ({ left_over: left }))
  const left = await finishDone(context, named, items)
  if (left.size === 0) return items.map(done)
  const rest = items.filter(({ id }) => left.has(id))
  try {
    return mergeReplies(items, rest, await finishGeneral(context, rest, []))
  } catch (error) {
    // Some finishes are written and some are not. A retry finds out which.
    if (rest.length === items.length) throw error
    throw new JobmillError('OUTCOME_UNKNOWN', 'not all outcomes could be written', {
      fix: 'Retry the call: ids and lease tokens make a retry safe',
      cause: error,
    })
  }
}

/** The replies of the general path; all other items are done. */
function mergeReplies(
  items: readonly Finish[],
  rest: readonly Finish[],
  replies: readonly Finished[],
): Finished[] {
  if (rest.length === items.length) return [...replies]
  const known = new Map(rest.map((item, at) => [item, replies[at]]))
  return items.map((item) => known.get(item) ?? done(item))
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
  return items.map((item) => replies.get(item) ?? refusedReply(item))
}

/** The results that a round adds to. */
interface Results {
  readonly replies: Map<Finish, Finished>
  readonly counts: ReadyCounts
}

async function finishRound(
  context: Context,
  query: Query,
  items: readonly Finish[],
  { replies, counts }: Results,
): Promise<void> {
  const statement = items.some(forgets) ? FINISH_FORGETTING : FINISH
  const rows = await run(context, query, statement, `"items":[${items.map(finishText).join(',')}]`)
  counts.addFreed(rows)
  counts.noteTransaction(rows[0])
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
      if (state === 'ready') counts.add(row['queue'], 1)
      replies.set(item, {
        id: item.id,
        accepted: true,
        state,
        followUps: state === requestedState(item) ? await followUp(context, query, item, counts) : [],
      })
    } else {
      const earlier = before.get(item.id)
      replies.set(item, earlier === undefined ? refusedReply(item) : acceptedBefore(item, earlier))
    }
  }
  await trimHistory(
    context,
    query,
    rows.filter((row) => Number(row['tries']) > DEFAULTS.historyPerJob).map((row) => String(row['id'])),
  )
}

async function followUp(
  context: Context,
  query: Query,
  item: Finish,
  counts: ReadyCounts,
): Promise<Enqueued[]> {
  const jobs = item.followUps ?? []
  if (jobs.length === 0) return []
  const slices = slicesOf(jobs)
  const write = (there: Context): Promise<Enqueued[]> => enqueueInSlices(there, query, slices, counts)
  return context.isUserTransaction === true ? inUserTransaction(context, query, write) : write(context)
}

function done({ id }: Finish): Finished {
  return { id, accepted: true, state: 'done', followUps: [] }
}

function refusedReply(item: Finish): Finished {
  return { id: item.id, accepted: false, state: null, followUps: [] }
}

/**
 * The attempt record has no next state if the attempt did not end the job, or if the job was retried since.
 * The reply then has the state that this finish requests, with two exceptions. A recorded outcome of
 * cancelled shows that a requested cancel was applied. If this finish requests done, the earlier one did not,
 * because done is always recorded; the job was scheduled instead.
 */
function acceptedBefore(item: Finish, row: Row): Finished {
  if (row['is_gone'] === true) return done(item)
  const endedAs = row['ended_as']
  const outcome = outcomeOfCode(Number(row['outcome']))
  const forced =
    outcome === 'cancelled' && (item.outcome !== outcome || row['error'] !== (item.error ?? null))
  const elsewhere = requestedState(item) === 'done' ? 'scheduled' : requestedState(item)
  const state: JobState = endedAs !== null ? stateOfCode(Number(endedAs)) : forced ? 'cancelled' : elsewhere
  return { id: item.id, accepted: true, state, followUps: [], again: true }
}

function requestedState({ transition }: Finish): JobState {
  return transition.to === 'scheduled' && transition.delayMs === 0 ? 'ready' : transition.to
}

function keyOf(item: Finish): string {
  return item.id
}

/**
 * A second statement, because the first snapshot may be older than the finish that took the row. A missing
 * job was forgotten by an earlier finish.
 */
const WRITTEN_BEFORE = `
WITH ${GIVEN_CTE}
SELECT x.id, a.ended_as, a.outcome, a.error, a.job_id IS NULL AS is_gone
  FROM given CROSS JOIN json_to_recordset(p -> 'items') AS x(id uuid, token int8, forget bool)
  LEFT JOIN jobmill.attempt AS a ON a.job_id = x.id AND a.token = x.token AND NOT a.taken_back
 WHERE a.job_id IS NOT NULL OR x.forget AND NOT EXISTS (SELECT FROM jobmill.job AS j WHERE j.id = x.id)`

const STILL_RUNNING = `
WITH ${GIVEN_CTE}
SELECT r.id FROM given, json_to_recordset(p -> 'items') AS x(id uuid, token int8), jobmill.running AS r
 WHERE r.id = x.id AND r.token = x.token`

/**
 * New names are written outside of any transaction, and only for jobs that will be enqueued. A refused finish
 * therefore creates no queue.
 */
async function nameFollowUps(context: Context, items: readonly Finish[]): Promise<void> {
  const { names, connection } = context
  const nameless = items.filter(({ followUps = [] }) => !names.knowsAllOf(followUps))
  if (nameless.length === 0) return
  const pairs = JSON.stringify(nameless.map(({ id, token }) => ({ id, token })))
  const rows = await run(context, connection.query, STILL_RUNNING, `"items":${pairs}`)
  const running = new Set(rows.map((row) => row['id']))
  const jobs = nameless.flatMap(({ id, followUps = [] }) => (running.has(id) ? followUps : []))
  await ensureNames(context, jobs)
}

async function writtenBefore(
  context: Context,
  query: Query,
  items: readonly Finish[],
): Promise<Map<string, Row>> {
  const pairs = JSON.stringify(
    items.map((item) => ({ id: item.id, token: item.token, forget: forgets(item) })),
  )
  const rows = await run(context, query, WRITTEN_BEFORE, `"items":${pairs}`)
  return new Map(rows.map((row) => [String(row['id']), row]))
}
