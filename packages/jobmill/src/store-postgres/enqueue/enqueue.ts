/**
 * Inserts new jobs, all of one call or none. One statement inserts them, unless a job replaces the holder of
 * its dedupe key, a key occurs twice, or the call is large.
 */
import { JobmillError } from '../../job/errors.ts'
import type { NewJob } from '../../job/enqueue/new-job.ts'
import type { DirectDispatchOffer } from '../../store/types/claim.ts'
import type { Enqueued } from '../../store/types/replies.ts'
import { isOneWrite } from '../../store/batch/one-write.ts'
import { slicesOf } from '../../store/batch/slices.ts'
import type { Query } from '../connection/connection.ts'
import { isRepeatedId, wasAnswered } from '../connection/errors.ts'
import type { Context } from '../context.ts'
import type { JobName } from '../names/names.ts'
import { MOST_TRIES, NAMES_KEEP_CHANGING, NamesChanged } from '../names/names-changed.ts'
import { type Tx, txQuery } from '../tx.ts'
import { insertJobs, type InsertOptions } from './insert-jobs.ts'
import { enqueueKeyed, holdersOf } from './keyed.ts'
import { notifyAfterCommit, notifyFor, type ReadyCounts, readyCounts } from './ready-counts.ts'
import { workerElsewhere, workersHere } from './workers.ts'

export interface EnqueueOptions {
  readonly tx?: Tx | undefined
  readonly mayRepeat?: boolean
  readonly directDispatch?: DirectDispatchOffer | undefined
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
  const [replies, counts] = await enqueueCommitted(context, jobs, options)
  // An existing job may have been written by a call that failed before it could notify.
  if (options.mayRepeat === true) {
    for (const { queue, delayMs, dueAt } of jobs) if (delayMs === 0 && dueAt === null) counts.add(queue, 0)
  }
  notifyFor(context, counts)
  return replies
}

type Committed = [Enqueued[], ReadyCounts]

async function enqueueCommitted(
  context: Context,
  jobs: readonly NewJob[],
  { mayRepeat = false, directDispatch }: EnqueueOptions,
): Promise<Committed> {
  const slices = slicesOf(jobs)
  if (slices.length > 1 || needsTransaction(jobs, mayRepeat)) return inOneTransaction(context, slices)
  if (mayRepeat) return inOneStatement(context, jobs, { mayRepeat })
  const workers = directDispatch === undefined ? undefined : workersHere(context, jobs, directDispatch)
  try {
    return await (workers === undefined
      ? withoutWorkersHere(context, jobs)
      : inOneStatement(context, jobs, { mayRepeat, workers }))
  } catch (error) {
    // An id existed although the caller did not set `mayRepeat`. Nothing was written, so the call is sent
    // again with a check of ids.
    if (!isRepeatedId(error)) throw error
    if (needsTransaction(jobs, true)) return inOneTransaction(context, slices)
    return inOneStatement(context, jobs, { mayRepeat: true, workers })
  }
}

/**
 * Only a single job uses remote dispatch. Several jobs are better claimed by all instances that have room.
 */
async function withoutWorkersHere(context: Context, jobs: readonly NewJob[]): Promise<Committed> {
  const [job] = jobs
  const workers = jobs.length === 1 && job !== undefined ? workerElsewhere(context, job) : undefined
  try {
    return await inOneStatement(context, jobs, { mayRepeat: false, workers })
  } catch (error) {
    // A failure of remote dispatch, such as a full NOTIFY queue, must not fail the enqueue. Nothing was
    // written, so it is sent again without the offer.
    if (workers === undefined || !wasAnswered(error)) throw error
    return inOneStatement(context, jobs, { mayRepeat: false })
  }
}

/** If ids may exist already, a key may have to be released again. */
function needsTransaction(jobs: readonly NewJob[], mayRepeat: boolean): boolean {
  return !isOneWrite(jobs) || (mayRepeat && jobs.some(({ dedupe }) => dedupe !== null))
}

async function inOneStatement(
  context: Context,
  jobs: readonly NewJob[],
  options: Pick<InsertOptions, 'mayRepeat' | 'workers'>,
): Promise<Committed> {
  const counts = readyCounts()
  return [await insertRun(context, jobs, { ...options, counts }), counts]
}

function inOneTransaction(context: Context, slices: Slices): Promise<Committed> {
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

function namesIn(jobs: readonly JobName[]): { queues: Set<string>; kinds: Set<string> } {
  return { queues: new Set(jobs.map((job) => job.queue)), kinds: new Set(jobs.map((job) => job.kind)) }
}

export function ensureNames({ names }: Context, jobs: readonly JobName[]): Promise<void> {
  const { queues, kinds } = namesIn(jobs)
  return names.ensure(queues, kinds)
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
      return await work({ ...context, names, isUserTransaction: true })
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

/** Works in any transaction: our own, or the user's. */
export async function enqueueWith(
  context: Context,
  query: Query,
  jobs: readonly NewJob[],
  mayRepeat: boolean,
  counts: ReadyCounts,
): Promise<Enqueued[]> {
  // The names were ensured earlier, but a replaced database may lack them.
  if (!context.names.knowsAllOf(jobs)) throw new NamesChanged(namesIn(jobs))
  const replies: Enqueued[] = []
  const replaced = jobs.flatMap(({ dedupe }) => (dedupe?.onConflict === 'replace' ? dedupe.key : []))
  const held = await holdersOf(context, query, replaced)
  for (const run of runsOf(jobs, held)) {
    // Not `push(...)`: a completion may have more jobs than a call may have arguments.
    for (const reply of await insertRun(context, run, { query, mayRepeat, counts })) replies.push(reply)
  }
  return replies
}

async function insertRun(
  context: Context,
  jobs: readonly NewJob[],
  options: InsertOptions,
): Promise<Enqueued[]> {
  if (jobs.some(({ dedupe }) => dedupe !== null)) return enqueueKeyed(context, jobs, options)
  return (await insertJobs(context, jobs, options)).replies
}

/**
 * Groups neighbors that can share a statement, so that sequence numbers follow the order of the call: jobs
 * that replace the holder of their key, and all others.
 */
function runsOf(jobs: readonly NewJob[], held: ReadonlyMap<string, unknown>): NewJob[][] {
  const runs: NewJob[][] = []
  let last: boolean | undefined
  for (const job of jobs) {
    const replaces = job.dedupe?.onConflict === 'replace' && held.has(job.dedupe.key)
    if (replaces === last) runs.at(-1)?.push(job)
    else runs.push([job])
    last = replaces
  }
  return runs
}
