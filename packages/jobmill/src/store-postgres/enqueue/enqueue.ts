/**
 * Inserts new jobs, all of one call or none. Due jobs without a key use one function call, and other plain
 * jobs use one statement. Jobs that may exist are checked by id first, and jobs with a dedupe key must win
 * their key.
 */
import { JobmillError } from '../../job/errors.ts'
import type { NewJob } from '../../job/new-job.ts'
import type { HandOff } from '../../store/types/claim.ts'
import type { Enqueued } from '../../store/types/replies.ts'
import { slicesOf } from '../../store/slices.ts'
import type { Query } from '../connection/connection.ts'
import { type Context, run } from '../context.ts'
import { areAlike, enqueueAlike } from './enqueue-alike.ts'
import { enqueueDue, isDue } from './enqueue-due.ts'
import { enqueueKeyed, heldKeys } from './enqueue-keyed.ts'
import { isRepeatedId } from '../connection/errors.ts'
import { GIVEN_CTE, NAMES_TRUE, XID } from '../fragments.ts'
import { chooseHandedOff, enqueueHandingOff, type HandedOff, mayHandOff } from './hand-off.ts'
import { INPUT_JOBS, JOB_COLUMNS, JOB_VALUES, jobsFields, PLACED, READY_COUNTS } from './job-input.ts'
import { MOST_TRIES, NAMES_KEEP_CHANGING, NamesChanged } from '../names/names-changed.ts'
import { type ReadyCounts, readyCounts, notifyAfterCommit, notifyFor } from './ready-counts.ts'
import { notRun, type Tx, txQuery } from '../tx.ts'

/** For new ids only: without a conflict clause, which would cost a third of the throughput. */
const ENQUEUE_NEW = `
WITH ${GIVEN_CTE}, ${INPUT_JOBS}, fresh AS (
  SELECT * FROM input
), written AS (
  INSERT INTO jobmill.job (${JOB_COLUMNS}) SELECT ${JOB_VALUES} FROM fresh
), ${PLACED}
SELECT count(*)::int4 AS jobs, ${NAMES_TRUE} AS names_true, ${READY_COUNTS} AS ready, ${XID} FROM input`

/**
 * For ids that may exist: waits for a concurrent insert of the same id and leaves existing jobs unchanged.
 */
const ENQUEUE_AGAIN = `
WITH ${GIVEN_CTE}, ${INPUT_JOBS}, written AS (
  INSERT INTO jobmill.job (${JOB_COLUMNS}) SELECT ${JOB_VALUES} FROM input ORDER BY id
  ON CONFLICT (id) DO NOTHING RETURNING id
), fresh AS (
  SELECT input.* FROM input JOIN written ON written.id = input.id
), ${PLACED}
SELECT count(*)::int4 AS jobs, ${NAMES_TRUE} AS names_true, ${READY_COUNTS} AS ready, ${XID} FROM input`

export interface EnqueueOptions {
  readonly tx?: Tx | undefined
  readonly mayRepeat?: boolean
  readonly handOff?: HandOff | undefined
}

export async function enqueue(
  context: Context,
  jobs: readonly NewJob[],
  options: EnqueueOptions = {},
): Promise<Enqueued[]> {
  if (jobs.length === 0) return []
  if (!context.names.knowsAllOf(jobs)) await ensureNames(context, jobs)
  if (options.tx !== undefined) {
    const query = txQuery(options.tx)
    const [replies, counts] = await inUserTransaction(context, query, async (there) => {
      const counted = readyCounts()
      return [await enqueueInSlices(there, query, slicesOf(jobs), counted), counted] as const
    })
    notifyAfterCommit(context, counts)
    return replies
  }
  const { mayRepeat = false } = options
  const handOff = mayRepeat ? undefined : options.handOff
  const [replies, counts] = await enqueueCommitted(context, jobs, mayRepeat, handOff)
  // An existing job may have been written by a call that failed before it could notify.
  if (mayRepeat) {
    for (const { queue, delayMs, dueAt } of jobs) if (delayMs === 0 && dueAt === null) counts.add(queue, 0)
  }
  notifyFor(context, counts)
  return replies
}

type Committed = [Enqueued[], ReadyCounts]

async function enqueueCommitted(
  context: Context,
  jobs: readonly NewJob[],
  mayRepeat: boolean,
  handOff: HandOff | undefined,
): Promise<Committed> {
  const slices = slicesOf(jobs)
  if (slices.length > 1) return inSlices(context, slices)
  if (mayRepeat) return inGeneral(context, jobs, true)
  try {
    const counts = readyCounts()
    if (areAlike(jobs)) return [await enqueueAlike(context, jobs, handOff, counts), counts]
    if (jobs.every(isDue)) return [await enqueueDue(context, jobs, handOff, counts), counts]
    if (handOff === undefined || !mayHandOff(jobs, handOff)) return await inGeneral(context, jobs, false)
  } catch (error) {
    // An id existed although the caller did not set `mayRepeat`. Nothing was written, so the call is sent
    // again with a check of ids.
    if (!isRepeatedId(error)) throw error
    if (handOff === undefined) return inGeneral(context, jobs, true)
  }
  return context.connection.transaction(async (query) => {
    const counts = readyCounts()
    const handedOff = await chooseHandedOff(context, query, jobs, handOff)
    return [await enqueueWith(context, query, jobs, true, counts, handedOff), counts]
  })
}

function inSlices(context: Context, slices: Slices): Promise<Committed> {
  return context.connection.transaction(async (query) => {
    const counts = readyCounts()
    return [await enqueueInSlices(context, query, slices, counts), counts]
  })
}

type Slices = ReturnType<typeof slicesOf>

/**
 * For a `query` of one transaction. The event loop and other transactions run while the server processes a
 * slice.
 */
export async function enqueueInSlices(
  context: Context,
  query: Query,
  slices: Slices,
  counts: ReadyCounts,
): Promise<Enqueued[]> {
  const replies: Enqueued[] = []
  for (const slice of slices)
    for (const reply of await enqueueWith(context, query, slice, true, counts)) replies.push(reply)
  return replies
}

/** A single statement commits on its own; several need a transaction. */
async function inGeneral(context: Context, jobs: readonly NewJob[], mayRepeat: boolean): Promise<Committed> {
  const { query, transaction } = context.connection
  const keyed = jobs.filter((job) => job.dedupe !== null)
  const keys = new Set(keyed.map((job) => job.dedupe?.key))
  // With ids that may exist, a key may have to be returned, which needs a second statement.
  const oneStatement =
    keyed.length === 0 ||
    (!mayRepeat &&
      keyed.length === jobs.length &&
      keys.size === keyed.length &&
      keyed.every((job) => job.dedupe?.onConflict === 'keep'))
  // Starts a new count with every attempt, because a rolled-back one made nothing ready.
  const write = async (through: Query, repeats: boolean): Promise<Committed> => {
    const counts = readyCounts()
    return [await enqueueWith(context, through, jobs, repeats, counts), counts]
  }
  return oneStatement ? write(query, mayRepeat) : transaction((inside) => write(inside, true))
}

function namesIn(jobs: readonly NewJob[]): { queues: Set<string>; kinds: Set<string> } {
  return { queues: new Set(jobs.map((job) => job.queue)), kinds: new Set(jobs.map((job) => job.kind)) }
}

export async function ensureNames({ names }: Context, jobs: readonly NewJob[]): Promise<void> {
  const { queues, kinds } = namesIn(jobs)
  await names.ensure(queues, kinds)
}

/**
 * A user's transaction must not be aborted by an avoidable error. There, a statement with outdated queue or
 * kind ids does nothing and reports it. It then runs again with the version that the transaction sees, which
 * may be older under REPEATABLE READ. Enqueuing the same ids twice writes them once.
 */
export async function inUserTransaction<T>(
  context: Context,
  query: Query,
  work: (context: Context) => Promise<T>,
): Promise<T> {
  let { names } = context
  for (let tries = 1; ; tries += 1) {
    try {
      return await work({ ...context, names })
    } catch (error) {
      if (!(error instanceof NamesChanged)) throw error
      // Earlier writes of the transaction cannot be repeated, so the verb must not be retried as a whole.
      if (tries === MOST_TRIES)
        throw new JobmillError('STORE_BUSY', NAMES_KEEP_CHANGING, {
          fix: 'Roll back, then retry the transaction once the database is restored',
          cause: error,
        })
      await context.names.reload(error.missing)
      names = await context.names.seenBy(query)
    }
  }
}

/** Works with any `query`: the pool's, a transaction's, or the user's. */
export async function enqueueWith(
  context: Context,
  query: Query,
  jobs: readonly NewJob[],
  mayRepeat: boolean,
  counts: ReadyCounts,
  handedOff?: HandedOff,
): Promise<Enqueued[]> {
  // The names were ensured earlier, but a replaced database may lack them.
  if (!context.names.knowsAllOf(jobs)) throw new NamesChanged(namesIn(jobs))
  const enqueueAlike = (alike: readonly NewJob[]): Promise<Enqueued[]> => {
    if (alike[0]?.dedupe !== null) return enqueueKeyed(context, query, alike, counts)
    if (handedOff === undefined) return enqueuePlain(context, query, alike, mayRepeat, counts)
    return enqueueHandingOff(context, query, alike, handedOff, counts)
  }
  const replies: Enqueued[] = []
  const replacing = jobs.filter((job) => job.dedupe?.onConflict === 'replace')
  const held = replacing.length === 0 ? new Set<string>() : await heldKeys(context, query, replacing)
  for (const alike of runsOf(jobs, held)) {
    // Not `push(...)`: a completion may have more jobs than a call may have arguments.
    for (const reply of await enqueueAlike(alike)) replies.push(reply)
  }
  return replies
}

async function enqueuePlain(
  context: Context,
  query: Query,
  jobs: readonly NewJob[],
  mayRepeat: boolean,
  counts: ReadyCounts,
): Promise<Enqueued[]> {
  const map = context.names.current
  const statement = mayRepeat ? ENQUEUE_AGAIN : ENQUEUE_NEW
  const [row] = await run(context, query, statement, jobsFields(context, jobs))
  if (Number(row?.['jobs']) === 0 && row?.['names_true'] !== true) throw new NamesChanged()
  // Only a user-supplied function that ran another statement can cause this. Never report such jobs as
  // enqueued.
  if (Number(row?.['jobs']) !== jobs.length) throw notRun()
  counts.addCounts(row?.['ready'], map)
  counts.noteTransaction(row)
  return jobs.map(({ id }) => ({ id, outcome: 'enqueued' }))
}

/**
 * Groups neighbors that can share a statement, so that sequence numbers follow the order of the call. The
 * groups are jobs without a key, jobs that take their key, and jobs that replace the holder.
 */
function runsOf(jobs: readonly NewJob[], held: ReadonlySet<string>): NewJob[][] {
  const runs: NewJob[][] = []
  let last: string | undefined
  for (const { job, way } of jobs.map((job) => ({ job, way: wayOf(job, held) }))) {
    if (way === last) runs.at(-1)?.push(job)
    else runs.push([job])
    last = way
  }
  return runs
}

function wayOf({ dedupe }: NewJob, held: ReadonlySet<string>): 'plain' | 'takes' | 'replaces' {
  if (dedupe === null) return 'plain'
  return dedupe.onConflict === 'replace' && held.has(dedupe.key) ? 'replaces' : 'takes'
}
