/**
 * The common enqueue: new, due jobs with neither dedupe key nor order key. Calls the function enqueue_due.
 */
import type { NewJob } from '../../job/new-job.ts'
import { insertLeased } from '../../store/insert-leased.ts'
import type { HandOff } from '../../store/types/claim.ts'
import type { Enqueued } from '../../store/types/replies.ts'
import { arrayOf, jsonListOf, textArrayOf } from '../connection/array-text.ts'
import type { Context } from '../context.ts'
import { type Look, rangeColumns } from '../claim/floors.ts'
import { nowIfNamesTrue } from '../fragments.ts'
import type { NameMap } from '../names/name-map.ts'
import type { ReadyCounts } from './ready-counts.ts'

const ENQUEUE_DUE = `SELECT * FROM jobmill.enqueue_due(${nowIfNamesTrue('$19')}, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14,
  $15, $16, $17, $18)`

const NO_HAND_OFF: readonly null[] = [null, null, null, null, null, null, null, null]

export function isDue({ dueAt, delayMs, dedupe, orderKey }: NewJob): boolean {
  return dueAt === null && delayMs === 0 && dedupe === null && orderKey === null
}

/** Runs in its own transaction. All names are known. */
export async function enqueueDue(
  context: Context,
  jobs: readonly NewJob[],
  handOff: HandOff | undefined,
  counts: ReadyCounts,
): Promise<Enqueued[]> {
  const { clock } = context
  const map = context.names.current
  const free = handOff === undefined ? undefined : freeRooms(context, jobs, handOff)
  // With direct dispatch, the number of jobs left for other instances is not known in advance.
  const notification =
    handOff === undefined ? context.notifyAlong(jobs.map(({ queue }) => ({ queue, jobs: 1 }))) : null
  const values = [
    clock?.() ?? null,
    arrayOf(jobs.map((job) => job.id)),
    arrayOf(jobs.map((job) => map.queues.id(job.queue))),
    arrayOf(jobs.map((job) => map.kinds.id(job.kind))),
    arrayOf(jobs.map((job) => job.priority)),
    arrayOf(jobs.map((job) => job.maxAttempts)),
    jsonListOf(jobs.map((job) => job.payload)),
    ...rareColumns(jobs),
    ...handOffColumns(map, handOff, free),
    map.version,
  ]
  const [row = []] = await context.connection.tuples(
    context.sql(ENQUEUE_DUE),
    values,
    notification?.statement,
  )
  const [at, token, leased, walked] = row as [number, number | null, string | null, string | null]
  notification?.wakeLocal()
  if (free !== undefined && walked !== null) rememberHeads(context, map, free, JSON.parse(walked) as Walked)
  return jobs.map((job, n) => {
    const { id } = job
    if (token !== null && leased?.[n] === 't')
      return { id, outcome: 'enqueued', lease: insertLeased(job, token, at) }
    if (notification === null) counts.add(job.queue, 1)
    return { id, outcome: 'enqueued' }
  })
}

/** Timeouts, tags and metadata. Most calls have none and send null instead of a list. */
function rareColumns(jobs: readonly NewJob[]): (string | null)[] {
  const has = (one: (job: NewJob) => boolean): boolean => jobs.some(one)
  return [
    has((job) => job.timeoutMs !== null) ? arrayOf(jobs.map((job) => job.timeoutMs)) : null,
    has((job) => job.tags.length > 0)
      ? textArrayOf(jobs.map(({ tags }) => (tags.length === 0 ? null : textArrayOf(tags))))
      : null,
    has((job) => job.metadata !== null) ? jsonListOf(jobs.map((job) => job.metadata)) : null,
  ]
}

/** Queues with free workers, and the scan ranges for their first ready jobs. */
export interface Free {
  readonly rooms: ReadonlyMap<string, number>
  readonly looks: readonly Look[]
}

/** What a scan for the first ready jobs found, if it had to read far. */
export interface Walked {
  readonly pages: number
  readonly ms: number
  readonly last_seq: number
  readonly heads:
    | readonly { readonly queue_id: number; readonly priority: number; readonly seq: number | null }[]
    | null
}

/** For the queues that this call writes to. */
function freeRooms({ heads, platform }: Context, jobs: readonly NewJob[], handOff: HandOff): Free {
  const used = new Set(jobs.map(({ queue }) => queue))
  const rooms = roomsOf(handOff.queues, (queue) => (used.has(queue) ? queue : undefined))
  const now = platform.monotonic()
  return { rooms, looks: [...rooms.keys()].map((queue) => heads.look(queue, '', now)) }
}

function handOffColumns(
  map: NameMap,
  handOff: HandOff | undefined,
  free: Free | undefined,
): (string | null)[] {
  if (handOff === undefined || free === undefined || free.rooms.size === 0) return [...NO_HAND_OFF]
  const queues = [...free.rooms.keys()].map((queue) => map.queues.id(queue))
  const kinds = handOff.kinds.flatMap((kind) => map.kinds.idIfKnown(kind) ?? [])
  return [
    handOff.instance,
    arrayOf(queues),
    arrayOf([...free.rooms.values()]),
    arrayOf(kinds),
    ...rangeColumns(free.looks),
  ]
}

/**
 * Everything before the first ready job of a queue is dead; without one, everything is. The scan cursors keep
 * the next scans from reading these rows again.
 */
export function rememberHeads(
  { heads, platform }: Context,
  map: NameMap,
  { rooms, looks }: Free,
  walked: Walked,
): void {
  const now = platform.monotonic()
  const queues = [...rooms.keys()]
  for (const { queue_id: id, priority, seq } of walked.heads ?? []) {
    const queue = map.queues.name(id)
    heads.record(queue, '', now, {
      wasFull: looks[queues.indexOf(queue)]?.isFull === true,
      upTo: seq === null ? new Map() : new Map([[priority, seq - 1]]),
      lastSeq: seq === null ? walked.last_seq : null,
      lanes: [],
      leases: 0,
      pages: walked.pages,
      ms: walked.ms,
    })
  }
}

/** Adds up the room of a queue that is listed twice. */
export function roomsOf<Key>(
  queues: HandOff['queues'],
  keyOf: (queue: string) => Key | undefined,
): Map<Key, number> {
  const rooms = new Map<Key, number>()
  for (const { queue, room } of queues) {
    const key = keyOf(queue)
    if (key !== undefined && room > 0) rooms.set(key, (rooms.get(key) ?? 0) + room)
  }
  return rooms
}
