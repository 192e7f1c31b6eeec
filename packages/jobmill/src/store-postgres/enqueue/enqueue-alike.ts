/**
 * The most common enqueue: new, due jobs that differ only in id and payload. Calls the function
 * enqueue_alike.
 */
import type { NewJob } from '../../job/new-job.ts'
import { insertLeased } from '../../store/insert-leased.ts'
import type { HandOff } from '../../store/types/claim.ts'
import type { Enqueued } from '../../store/types/replies.ts'
import { arrayOf, jsonListOf } from '../connection/array-text.ts'
import type { Context } from '../context.ts'
import { type Free, isDue, rememberHeads, type Walked } from './enqueue-due.ts'
import { wasAnswered } from '../connection/errors.ts'
import { rangeColumns } from '../claim/floors.ts'
import { nowIfNamesTrue } from '../fragments.ts'
import type { HandOver } from '../notifier/hand-over.ts'
import type { ReadyCounts } from './ready-counts.ts'

const ENQUEUE_ALIKE = `SELECT * FROM jobmill.enqueue_alike(${nowIfNamesTrue('$15')}, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`

type Alike = readonly [NewJob, ...NewJob[]]

export function areAlike(jobs: readonly NewJob[]): jobs is Alike {
  const [first] = jobs
  return first !== undefined && jobs.every((job) => isPlain(job) && isLike(job, first))
}

function isPlain(job: NewJob): boolean {
  return isDue(job) && job.timeoutMs === null && job.tags.length === 0 && job.metadata === null
}

function isLike(a: NewJob, b: NewJob): boolean {
  return (
    a.queue === b.queue && a.kind === b.kind && a.priority === b.priority && a.maxAttempts === b.maxAttempts
  )
}

/** The free workers for these jobs: in this process, or in another one that made an offer. */
interface Workers {
  readonly instance: string
  readonly room: number
  readonly free: Free
  readonly elsewhere: HandOver | null
}

/** Runs in its own transaction. All names are known. */
export async function enqueueAlike(
  context: Context,
  jobs: Alike,
  handOff: HandOff | undefined,
  counts: ReadyCounts,
): Promise<Enqueued[]> {
  const here = workersHere(context, jobs[0], handOff)
  if (here !== undefined) return write(context, jobs, here, counts)
  const elsewhere = workersElsewhere(context, jobs)
  try {
    return await write(context, jobs, elsewhere, counts)
  } catch (error) {
    // A failure of remote dispatch, such as a full NOTIFY queue, must not fail the enqueue. Nothing was
    // written, so it is sent again without the offer.
    if (elsewhere === undefined || !wasAnswered(error)) throw error
    return write(context, jobs, undefined, counts)
  }
}

async function write(
  context: Context,
  jobs: Alike,
  workers: Workers | undefined,
  counts: ReadyCounts,
): Promise<Enqueued[]> {
  const { clock } = context
  const map = context.names.current
  const { queue, kind, priority, maxAttempts } = jobs[0]
  // With free workers, the number of jobs left for other instances is not known in advance.
  const notification = workers === undefined ? context.notifyAlong([{ queue, jobs: jobs.length }]) : null
  const values = [
    clock?.() ?? null,
    arrayOf(jobs.map((job) => job.id)),
    map.queues.id(queue),
    map.kinds.id(kind),
    priority,
    maxAttempts,
    jsonListOf(jobs.map((job) => job.payload)),
    ...workersColumns(workers),
    map.version,
  ]
  const [row = []] = await context.connection.tuples(
    context.sql(ENQUEUE_ALIKE),
    values,
    notification?.statement,
  )
  const [at, token, leased, walked] = row as [number, number | null, number, string | null]
  notification?.wakeLocal()
  if (workers !== undefined && walked !== null)
    rememberHeads(context, map, workers.free, JSON.parse(walked) as Walked)
  if (notification === null && leased < jobs.length) counts.add(queue, jobs.length - leased)
  const leasedHere = token === null || workers?.elsewhere !== null ? 0 : leased
  return jobs.map((job, n) =>
    n < leasedHere
      ? { id: job.id, outcome: 'enqueued', lease: insertLeased(job, token ?? 0, at) }
      : { id: job.id, outcome: 'enqueued' },
  )
}

function workersHere(
  context: Context,
  { queue, kind }: NewJob,
  handOff: HandOff | undefined,
): Workers | undefined {
  if (handOff?.kinds.includes(kind) !== true) return undefined
  const { instance, queues } = handOff
  const room = queues.reduce((sum, free) => (free.queue === queue ? sum + Math.max(free.room, 0) : sum), 0)
  return room === 0 ? undefined : { instance, room, free: freeIn(context, queue, room), elsewhere: null }
}

/**
 * Only a single job uses remote dispatch. Several jobs are better claimed by all instances that have room.
 */
function workersElsewhere(context: Context, jobs: Alike): Workers | undefined {
  const elsewhere = jobs.length === 1 ? context.handOver(jobs[0]) : undefined
  if (elsewhere === undefined) return undefined
  const { instance } = elsewhere
  return { instance, room: 1, free: freeIn(context, jobs[0].queue, 1), elsewhere }
}

function freeIn({ heads, platform }: Context, queue: string, room: number): Free {
  return { rooms: new Map([[queue, room]]), looks: [heads.look(queue, '', platform.monotonic())] }
}

function workersColumns(workers: Workers | undefined): readonly (string | number | null)[] {
  if (workers === undefined) return [null, null, null, null, null, null, null]
  const { instance, room, free, elsewhere } = workers
  const [, priorities = null, seqs = null, ends = null] = rangeColumns(free.looks)
  return [instance, room, priorities, seqs, ends, elsewhere?.channel ?? null, elsewhere?.message ?? null]
}
