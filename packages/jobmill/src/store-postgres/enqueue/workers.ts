/**
 * The free workers that new jobs may start on: in this process (direct dispatch), or one of another process
 * that made an offer (remote dispatch).
 */
import type { NewJob } from '../../job/enqueue/new-job.ts'
import type { DirectDispatchOffer } from '../../store/types/claim.ts'
import { type Look, rangeColumns } from '../claim/scan-cursors.ts'
import { arrayOf } from '../connection/array-text.ts'
import type { Context } from '../context.ts'
import type { NameMap } from '../names/name-map.ts'
import type { RemoteDispatch } from '../notifier/remote-dispatch.ts'

export interface Workers {
  readonly instance: string
  /** Keyed by queue. */
  readonly rooms: ReadonlyMap<string, number>
  readonly kinds: readonly string[]
  /** The scan ranges for the first ready job of each queue. */
  readonly looks: readonly Look[]
  readonly remote: RemoteDispatch | null
}

/** A search for the first ready job of a queue that had to read many rows. */
export interface Walked {
  readonly queue_id: number
  readonly priority: number
  readonly seq: number | null
  readonly last_seq: number
  readonly pages: number
  readonly ms: number
}

/** The free workers of this process for these jobs; undefined if there are none. */
export function workersHere(
  { readyCursors, platform }: Context,
  jobs: readonly NewJob[],
  { instance, queues, kinds }: DirectDispatchOffer,
): Workers | undefined {
  const used = new Set(jobs.flatMap((job) => (mayStart(job) && kinds.includes(job.kind) ? job.queue : [])))
  const rooms = roomsOf(queues.filter(({ queue }) => used.has(queue)))
  if (rooms.size === 0) return undefined
  const now = platform.monotonic()
  const looks = [...rooms.keys()].map((queue) => readyCursors.look(queue, '', now))
  return { instance, rooms, kinds, looks, remote: null }
}

function mayStart({ dedupe, orderKey, delayMs }: NewJob): boolean {
  return dedupe === null && orderKey === null && delayMs === 0
}

/** A worker of another process. Uses up its offer. */
export function workerElsewhere(
  { readyCursors, platform, notifier }: Context,
  job: NewJob,
): Workers | undefined {
  const remote = isPlain(job) ? notifier.remoteDispatcher.of(job) : undefined
  if (remote === undefined) return undefined
  const looks = [readyCursors.look(job.queue, '', platform.monotonic())]
  return { instance: remote.instance, rooms: new Map([[job.queue, 1]]), kinds: [job.kind], looks, remote }
}

/** Whether the job has only options that the message of remote dispatch can carry. */
function isPlain(job: NewJob): boolean {
  const { dueAt, timeoutMs, tags, metadata, group } = job
  const isBare = timeoutMs === null && tags.length === 0 && metadata === null && group === null
  return mayStart(job) && dueAt === null && isBare
}

/** Adds up the room of a queue that is listed twice. */
export function roomsOf(queues: DirectDispatchOffer['queues']): Map<string, number> {
  const rooms = new Map<string, number>()
  for (const { queue, room } of queues) if (room > 0) rooms.set(queue, (rooms.get(queue) ?? 0) + room)
  return rooms
}

const NO_WORKERS: readonly null[] = Array.from({ length: 10 }, () => null)

export function workersColumns(map: NameMap, workers: Workers | undefined): readonly (string | null)[] {
  if (workers === undefined) return NO_WORKERS
  const { instance, rooms, kinds, looks, remote } = workers
  return [
    instance,
    arrayOf([...rooms.keys()].map((queue) => map.queues.id(queue))),
    arrayOf([...rooms.values()]),
    arrayOf(kinds.flatMap((kind) => map.kinds.idIfKnown(kind) ?? [])),
    ...rangeColumns(looks),
    remote?.channel ?? null,
    remote?.message ?? null,
  ]
}

/**
 * Everything before the first ready job of a queue is dead; without one, everything is. The scan cursors keep
 * the next scans from reading these rows again.
 */
export function rememberFirst(
  { readyCursors, platform }: Context,
  map: NameMap,
  { rooms, looks }: Workers,
  walked: readonly Walked[],
): void {
  const now = platform.monotonic()
  const queues = [...rooms.keys()]
  for (const { queue_id: id, priority, seq, last_seq: lastSeq, pages, ms } of walked) {
    const queue = map.queues.name(id)
    readyCursors.record(queue, '', now, {
      wasFull: looks[queues.indexOf(queue)]?.isFull === true,
      ...(seq !== null && { upTo: new Map([[priority, seq - 1]]) }),
      lastSeq: seq === null ? lastSeq : null,
      pages,
      ms,
    })
  }
}
