/**
 * The prefetch buffer: leases claimed before a worker is free, so that one claim serves many jobs. They start
 * in order as workers become free. A lease that does not start soon, or whose queue lost workers, is released
 * as if it had never been claimed.
 */
import type { Lease } from '../store/types/claim.ts'

export interface Buffer {
  readonly lanes: Map<string, Lane>
  total: number
  /** When to look for leases that waited too long. */
  checkAt: number
}

export interface Buffered {
  readonly lease: Lease
  /** On the monotonic clock. */
  readonly since: number
}

interface Lane {
  readonly queue: string
  /**
   * Entries before this index were taken. They are removed in batches, because each removal moves all later
   * ones.
   */
  entries: Buffered[]
  started: number
  /** The number of workers when the last entry was added. */
  workers: number
}

export const MAX_BUFFERED = 1000
/**
 * A lease that waits longer is released: the estimate was wrong, and another instance may have a free worker.
 */
export const LONGEST_MS = 250
/** How many started entries a lane keeps. */
const MAX_STARTED = 64

export function emptyBuffer(): Buffer {
  return { lanes: new Map(), total: 0, checkAt: Number.POSITIVE_INFINITY }
}

/** Keeps the leases of a queue sorted by priority. */
export function addLease(buffer: Buffer, lease: Lease, workers: number, now: number): void {
  let lane = buffer.lanes.get(lease.queue)
  if (lane === undefined)
    buffer.lanes.set(lease.queue, (lane = { queue: lease.queue, entries: [], started: 0, workers: 0 }))
  const entries = entriesOf(lane)
  const isLate = (entries.at(-1)?.lease.priority ?? lease.priority) > lease.priority
  entries.push({ lease, since: now })
  if (isLate) entries.sort((a, b) => a.lease.priority - b.lease.priority)
  lane.workers = workers
  buffer.total += 1
  buffer.checkAt = Math.min(buffer.checkAt, now + LONGEST_MS)
}

/** Removes and returns the first lease of a lane. */
export function shift(buffer: Buffer, lane: Lane): Buffered | undefined {
  const first = lane.entries[lane.started]
  if (first === undefined) return undefined
  lane.started += 1
  buffer.total -= 1
  if (buffer.total === 0) buffer.checkAt = Number.POSITIVE_INFINITY
  if (lane.started >= MAX_STARTED) entriesOf(lane)
  return first
}

export function countOf(buffer: Buffer, queue: string): number {
  const lane = buffer.lanes.get(queue)
  return lane === undefined ? 0 : lane.entries.length - lane.started
}

export function leasesOf(buffer: Buffer): Lease[] {
  return [...buffer.lanes.values()].flatMap((lane) => entriesOf(lane).map(({ lease }) => lease))
}

/** Removes and returns the matching leases of all queues. */
export function removeLeases(buffer: Buffer, matches: (entry: Buffered, lane: Lane) => boolean): Lease[] {
  const removed: Lease[] = []
  for (const lane of buffer.lanes.values()) {
    const kept: Buffered[] = []
    for (const entry of entriesOf(lane))
      if (matches(entry, lane)) removed.push(entry.lease)
      else kept.push(entry)
    if (kept.length < lane.entries.length) lane.entries = kept
  }
  buffer.total -= removed.length
  return removed
}

/** Removes and returns the leases that waited too long. */
export function removeOld(buffer: Buffer, now: number): Lease[] {
  const old = removeLeases(buffer, ({ since }) => since + LONGEST_MS <= now)
  const rest = [...buffer.lanes.values()].flatMap((lane) => entriesOf(lane).map(({ since }) => since))
  buffer.checkAt = rest.length === 0 ? Number.POSITIVE_INFINITY : Math.min(...rest) + LONGEST_MS
  return old
}

/** Excludes the entries that have started. */
function entriesOf(lane: Lane): Buffered[] {
  if (lane.started > 0) lane.entries.splice(0, lane.started)
  lane.started = 0
  return lane.entries
}
