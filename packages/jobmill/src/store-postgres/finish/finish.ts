/** Ends attempts: applies their transitions, detects retried calls, and enqueues follow-ups. */
import { outcomeOfCode } from '../../job/attempt/outcome.ts'
import { JobmillError } from '../../job/errors.ts'
import { type JobState, stateOfCode } from '../../job/state.ts'
import { inRounds } from '../../store/batch/rounds.ts'
import { slicesOf } from '../../store/batch/slices.ts'
import type { Finish, Finished } from '../../store/types/finish.ts'
import type { Enqueued } from '../../store/types/replies.ts'
import { unpack, unpackKnown, unpackMissing } from '../claim/unpack.ts'
import type { Connection, Query, Row } from '../connection/connection.ts'
import type { Context } from '../context.ts'
import { enqueueInSlices, ensureNames, inUserTransaction } from '../enqueue/enqueue.ts'
import { notifyAfterCommit, notifyFor, type ReadyCounts, readyCounts } from '../enqueue/ready-counts.ts'
import { NamesChanged } from '../names/names-changed.ts'
import { type Tx, txQuery } from '../tx.ts'
import { coolQueues } from './cool-down.ts'
import { endAttempts, isRefused } from './end-attempts.ts'

/** Thrown to roll back a rehearsal. */
const REHEARSED = new JobmillError('TX_ROLLED_BACK', 'the finish was rehearsed')
/** Runs the constraint checks that would otherwise run at the commit. */
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
  const { connection, batches } = context
  if (options.tx !== undefined) {
    // A row must exist before the transaction of its handler begins. See TX_STALE.
    const tokens = batches.avoid()
    if (tokens.length > 0) await unpack(context, connection.query, { tokens })
    const there: Context = { ...context, isUserTransaction: true }
    const [replies, counts] = await finishWith(there, txQuery(options.tx), callOf(items, false))
    notifyAfterCommit(context, counts)
    return replies
  }
  if (options.rehearse === true) return inTransaction(context, items, rehearse)
  const needsTransaction = !isEachOnce || items.some((item) => item.cool !== undefined || hasFollowUps(item))
  const replies = needsTransaction
    ? await inTransaction(context, items, commit)
    : await commit(context, callOf(items, true), (work) => work(named(connection)))
  const isLeft = (at: number): boolean => replies[at]?.accepted !== true || replies[at].again === true
  const leftOver = items.filter((_, at) => isLeft(at))
  batches.ended(leftOver.length === 0 ? items : items.filter((_, at) => !isLeft(at)))
  batches.forget(leftOver.map(({ token }) => token))
  return replies
}

/**
 * A transaction of several statements may wait for one of the user, and must not lock a batch during that
 * time. So its jobs are unpacked first. Items that are refused write nothing, so they are sent again in case
 * they were in a batch that this handle did not know.
 */
async function inTransaction(
  context: Context,
  items: readonly Finish[],
  write: (context: Context, call: Call) => Promise<Finished[]>,
): Promise<Finished[]> {
  const { query } = context.connection
  await unpackKnown(context, query, items)
  const replies = await write(context, callOf(items, false))
  const missing = items.filter((_, at) => replies[at]?.accepted !== true)
  if (!(await unpackMissing(context, query, missing))) return replies
  const again = (await write(context, callOf(missing, false)))[Symbol.iterator]()
  return replies.map((reply) => (reply.accepted ? reply : (again.next().value as Finished)))
}

async function commit(
  context: Context,
  call: Call,
  run: Connection['transaction'] = context.connection.transaction,
): Promise<Finished[]> {
  const [replies, counts] = await run((query) => finishWith(context, query, call))
  notifyFor(context, counts)
  return replies
}

/** Sends a statement of one column under a name. */
function named({ tuples }: Connection): Query {
  return async (text, values) => (await tuples(text, values)).map(([told]) => ({ told }))
}

async function rehearse(context: Context, call: Call): Promise<Finished[]> {
  let replies: Finished[] = []
  const work = async (query: Query): Promise<never> => {
    replies = (await finishWith(context, query, call))[0]
    await query(CHECK_NOW, [])
    throw REHEARSED
  }
  return context.connection.transaction(work).catch((error: unknown) => {
    if (error !== REHEARSED) throw error
    return replies
  })
}

/** In each round, every job occurs once. `isAlone`: it is one statement, committed on its own. */
interface Call {
  readonly items: readonly Finish[]
  readonly rounds: readonly (readonly Finish[])[]
  readonly isAlone: boolean
}

function callOf(items: readonly Finish[], isAlone: boolean): Call {
  return { items, rounds: isAlone ? [items] : inRounds(items, keyOf), isAlone }
}

async function finishWith(
  context: Context,
  query: Query,
  { items, rounds, isAlone }: Call,
): Promise<[Finished[], ReadyCounts]> {
  const counts = readyCounts()
  const replies = new Map<Finish, Finished>()
  for (const round of rounds) {
    const found = await finishRound(context, query, round, { counts, isAlone })
    if (rounds.length === 1) return [found, counts]
    for (const [at, item] of round.entries()) replies.set(item, found[at] ?? refused(item))
  }
  return [items.map((item) => replies.get(item) ?? refused(item)), counts]
}

async function finishRound(
  context: Context,
  query: Query,
  items: readonly Finish[],
  { counts, isAlone }: { readonly counts: ReadyCounts; readonly isAlone: boolean },
): Promise<Finished[]> {
  const { ended, left, notes } = await endAttempts(context, query, items, isAlone)
  counts.noteTransaction(notes[0])
  if (ended.size + left.size === 0 && !items.some(hasFollowUps)) return items.map(done)
  for (const note of notes) counts.addFreed([note])
  const cooling = items.filter(({ id, cool }) => cool !== undefined && ended.has(id))
  await coolQueues(context, query, cooling, ({ id }) => Number(ended.get(id)?.['queue_id']))
  const replies = items.map((item) => {
    const earlier = left.get(item.id)
    return earlier === undefined ? endedReply(item, ended.get(item.id), counts) : earlierReply(item, earlier)
  })
  const follows = (item: Finish, at: number): boolean =>
    hasFollowUps(item) && !left.has(item.id) && replies[at]?.state === requestedState(item)
  await nameFollowUps(context, items.filter(follows))
  for (const [at, item] of items.entries()) {
    const reply = replies[at]
    if (reply === undefined || !follows(item, at)) continue
    replies[at] = { ...reply, followUps: await followUp(context, query, item, counts) }
  }
  return replies
}

function endedReply(item: Finish, row: Row | undefined, counts: ReadyCounts): Finished {
  if (row === undefined) return done(item)
  const state = stateOfCode(Number(row['state']))
  if (state === 'ready') counts.add(row['queue'], 1)
  return { id: item.id, accepted: true, state, followUps: [] }
}

/**
 * Only jobs that will be enqueued create queues and kinds. New names are written outside of any transaction:
 * that of the finish is rolled back for it and runs again, unless it is the user's.
 */
async function nameFollowUps(context: Context, items: readonly Finish[]): Promise<void> {
  const jobs = items.flatMap(({ followUps = [] }) => followUps)
  if (context.names.knowsAllOf(jobs)) return
  if (context.isUserTransaction === true) return ensureNames(context, jobs)
  throw new NamesChanged({ queues: jobs.map(({ queue }) => queue), kinds: jobs.map(({ kind }) => kind) })
}

async function followUp(
  context: Context,
  query: Query,
  item: Finish,
  counts: ReadyCounts,
): Promise<Enqueued[]> {
  const slices = slicesOf(item.followUps ?? [])
  const write = (there: Context): Promise<Enqueued[]> => enqueueInSlices(there, query, slices, counts)
  return context.isUserTransaction === true ? inUserTransaction(context, query, write) : write(context)
}

function done({ id }: Finish): Finished {
  return { id, accepted: true, state: 'done', followUps: [] }
}

function refused({ id }: Finish): Finished {
  return { id, accepted: false, state: null, followUps: [] }
}

/**
 * The attempt record has no next state if the attempt did not end the job, or if the job was retried since.
 * The reply then has the state that this finish requests, with two exceptions. A recorded outcome of
 * cancelled shows that a requested cancel was applied. If this finish requests done, the earlier one did not,
 * because done is always recorded; the job was scheduled instead.
 */
function earlierReply(item: Finish, row: Row): Finished {
  if (isRefused(row)) return refused(item)
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
  if (transition.to === 'parked') return 'scheduled'
  return transition.to === 'scheduled' && transition.delayMs === 0 ? 'ready' : transition.to
}

function keyOf(item: Finish): string {
  return item.id
}

function hasFollowUps({ followUps }: Finish): boolean {
  return followUps !== undefined && followUps.length > 0
}
