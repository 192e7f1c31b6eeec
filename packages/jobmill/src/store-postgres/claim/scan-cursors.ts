/**
 * Scan cursors for claims: per queue and priority, the sequence number up to which this handle has
 * read. Claims start there instead of reading dead rows and jobs of other kinds again. Scan cursors are
 * hints, and a full scan finds jobs below them. See docs/internals/postgres-store.md.
 */

import { arrayOf } from '../connection/array-text.ts'
import type { NameMap } from '../names/name-map.ts'

/** The rows of a queue after (priority, seq), up to the priority `below`. */
interface Range {
  readonly queue: string
  readonly priority: number
  readonly seq: number
  readonly below: number
}

/** The results of one scan of a queue. */
export interface ScanResult {
  readonly wasFull: boolean
  /** For each priority, the seq up to which everything was read. Default: none. */
  readonly upTo?: ReadonlyMap<number, number>
  /**
   * For a scan that reached the end: the last sequence number, valid for all known priorities and those in
   * `lanes`. Null if there may be more.
   */
  readonly lastSeq: number | null
  readonly lanes?: readonly number[]
  /** How many jobs it leased (default 0). */
  readonly leases?: number
  /** Index pages that were read, and the time it took. */
  readonly pages: number
  readonly ms: number
}

export interface Look {
  readonly isFull: boolean
  readonly ranges: readonly Range[]
}

interface Lanes {
  readonly kinds: string
  /** Seq by priority. */
  readonly cursors: ReadonlyMap<number, number>
  readonly disturbed: boolean
  /** True if claims take many jobs at once, so that they leave many dead rows. */
  readonly isDrained: boolean
  readonly fullFrom: number
  readonly notBefore: number
}

const NONE: ReadonlyMap<number, number> = new Map()
/** The priority of most jobs. Dead rows do not reveal theirs. */
const USUAL = 0
/** Outside of all priorities, which are int2. */
const FIRST = -32_769
const BEHIND = 32_768

const FULL_EVERY_MS = 500
/** Full scans may use at most 1/SHARE of the time. */
const SHARE = 20
/** After a claim of fewer jobs than this, a full scan is cheap. */
const MANY_LEASES = 50
/** A claim that skips no dead rows reads at most this many index pages. */
const FEW_PAGES = 50
/** A scan of so few index pages is always allowed, even if the server took long. */
const LEAST_PAGES = 10
/** A queue with more priorities than this has no cursors: every claim reads it from the front. */
const MOST_LANES = 50

export type ScanCursors = ReturnType<typeof scanCursors>

/** `limitsTime`: whether full scans may use only a share of the time. */
export function scanCursors({ limitsTime = true } = {}) {
  const byQueue = new Map<string, Lanes>()

  return {
    /** The ranges to read now, for these kinds. */
    look(queue: string, kinds: string, now: number): Look {
      const lanes = byQueue.get(queue)
      if (lanes === undefined || lanes.kinds !== kinds) return fullLook(queue)
      const isDue = lanes.disturbed || !lanes.isDrained || now >= lanes.fullFrom
      if (!isDue || now < lanes.notBefore)
        return { isFull: false, ranges: rangesBehind(queue, lanes.cursors) }
      // Changes after this call count for the next scan.
      byQueue.set(queue, { ...lanes, disturbed: false })
      return fullLook(queue)
    },
    /** Like `look`, for a check without a claim: full, unless a full scan was recently expensive. */
    peek(queue: string, kinds: string, now: number): Look {
      const lanes = byQueue.get(queue)
      if (lanes === undefined || lanes.kinds !== kinds || now >= lanes.notBefore) return fullLook(queue)
      return { isFull: false, ranges: rangesBehind(queue, lanes.cursors) }
    },
    record(queue: string, kinds: string, now: number, seen: ScanResult): void {
      const before = byQueue.get(queue)
      const known = before?.kinds === kinds ? before : undefined
      const { wasFull, leases = 0, ms, lastSeq } = seen
      const next = raise(known?.cursors ?? NONE, seen)
      const pause = limitsTime && isExpensive(seen) ? SHARE * ms : 0
      byQueue.set(queue, {
        kinds,
        cursors: next.size > MOST_LANES ? NONE : next,
        disturbed: lastSeq !== null || known?.disturbed === true,
        isDrained: leases >= MANY_LEASES,
        fullFrom: wasFull ? now + FULL_EVERY_MS : (known?.fullFrom ?? now),
        notBefore: wasFull ? now + pause : (known?.notBefore ?? now),
      })
    },
    /** The database was replaced, so its sequence numbers have changed. */
    clear: (): void => byQueue.clear(),
    /** Jobs may have become ready below the cursors. */
    disturb(queues: readonly string[] | 'all'): void {
      for (const queue of queues === 'all' ? byQueue.keys() : queues) {
        const lanes = byQueue.get(queue)
        if (lanes !== undefined) byQueue.set(queue, { ...lanes, disturbed: true })
      }
    },
  }
}

/**
 * While an open transaction keeps dead rows, the scan looks up each of their index entries in the table. So
 * even a few index pages can take longer than a claim of this many jobs should.
 */
function isExpensive({ pages, ms, leases = 0 }: ScanResult): boolean {
  return pages > FEW_PAGES || (pages > LEAST_PAGES && ms > 1 + leases / 20)
}

/** A full scan that stopped early knows nothing about the rows after it, so only its own cursors remain. */
function raise(
  cursors: ReadonlyMap<number, number>,
  { wasFull, upTo = NONE, lastSeq, lanes = [] }: ScanResult,
): Map<number, number> {
  const next = new Map(wasFull && lastSeq === null ? NONE : cursors)
  for (const [priority, seq] of upTo) next.set(priority, Math.max(seq, next.get(priority) ?? 0))
  if (lastSeq !== null) {
    for (const priority of [USUAL, ...next.keys(), ...lanes])
      next.set(priority, Math.max(lastSeq, next.get(priority) ?? 0))
  }
  return next
}

export function fullLook(queue: string): Look {
  return { isFull: true, ranges: rangesBehind(queue, NONE) }
}

/**
 * From the start to the first cursor, and from each cursor to the next, so that new priorities are read too.
 */
function rangesBehind(queue: string, cursors: ReadonlyMap<number, number>): Range[] {
  const starts = [[FIRST, 0] as const, ...[...cursors].toSorted(([a], [b]) => a - b)]
  return starts.map(([priority, seq], at) => ({ queue, priority, seq, below: starts[at + 1]?.[0] ?? BEHIND }))
}

/** The key of the cursors: the sorted ids of the known kinds. */
export function kindsKey(map: NameMap, kinds: readonly string[]): string {
  const ids = new Set(kinds.map((kind) => map.kinds.idIfKnown(kind) ?? 0))
  return arrayOf([...ids].toSorted((a, b) => a - b))
}

/**
 * The ranges of these scans as function parameters: the number of the scan, from 1, and the start and end of
 * each range.
 */
export function rangeColumns(looks: readonly Look[]): string[] {
  const ranges = looks.flatMap((look, at) => look.ranges.map((range) => ({ ...range, number: at + 1 })))
  const columns = ['number', 'priority', 'seq', 'below'] as const
  return columns.map((column) => arrayOf(ranges.map((range) => range[column])))
}
