/**
 * Where claims begin to look. In front of the jobs that wait lie the rows of those that were claimed before, dead until the database may remove them, and jobs
 * of kinds that this process does not run; so a handle remembers for every queue and priority up to where it has looked, and begins behind that.
 *
 * These floors are hints: a job that becomes visible below one (its transaction committed late, or it was handed back to its old place) is found by the next
 * full look. There is one whenever something may be there: after a claim of few jobs or of less than it asked for, after a ring, and every 500 ms; unless the last one
 * had so far to walk that it would cost more than a twentieth of the time.
 */

import { arrayOf } from './array-text.ts'
import type { NameMap } from './name-map.ts'

/** The rows of a queue behind (priority, seq), up to the priority `below`. */
interface Range {
  readonly queue: string
  readonly priority: number
  readonly seq: number
  readonly below: number
}

/** What one look at a queue found out. */
export interface Seen {
  readonly wasFull: boolean
  /** The seq up to which everything was looked at, by priority. */
  readonly upTo: ReadonlyMap<number, number>
  /** For a look that went to the end: every place up to this one was seen, in the priorities that are known and in these. Null: there may be more. */
  readonly lastSeq: number | null
  readonly lanes: readonly number[]
  /** How many jobs it got. */
  readonly leases: number
  /** Pages of the index that were walked over, and how long it took. */
  readonly pages: number
  readonly ms: number
}

export interface Look {
  readonly isFull: boolean
  readonly ranges: readonly Range[]
}

export interface Floors {
  /** How to look at a queue now, for these kinds. */
  look(queue: string, kinds: string, now: number): Look
  /** The same for who only wants to know: in full, unless that cost much a moment ago. */
  peek(queue: string, kinds: string, now: number): Look
  seen(queue: string, kinds: string, now: number, seen: Seen): void
  /** Something may have become ready below the floors. */
  disturb(queues: readonly string[] | 'all'): void
  /** The database was replaced: places in it are other places now. */
  clear(): void
}

interface Lanes {
  readonly kinds: string
  /** Seq by priority. */
  readonly floors: ReadonlyMap<number, number>
  readonly disturbed: boolean
  /** Much is taken at once, so that much lies dead behind it. */
  readonly isDrained: boolean
  readonly fullFrom: number
  readonly notBefore: number
}

const NONE: ReadonlyMap<number, number> = new Map()
/** The priority that most jobs have. Rows that are dead do not tell theirs. */
const USUAL = 0
/** Outside of all priorities, which are int2. */
const FIRST = -32_769
const BEHIND = 32_768

const FULL_EVERY_MS = 500
/** A full look may take one of so many parts of the time. */
const SHARE = 20
/** After a claim of fewer jobs than this a full look costs nothing to speak of. */
const MANY_LEASES = 50
/** A claim touches no more pages of the index than this when it walks over nothing in vain; that may happen at any time. */
const FEW_PAGES = 50
/** More priorities at once than this, and a queue is looked at in full. */
const MOST_LANES = 50

export function floors(): Floors {
  const byQueue = new Map<string, Lanes>()

  return {
    look(queue, kinds, now) {
      const lanes = byQueue.get(queue)
      if (lanes === undefined || lanes.kinds !== kinds) return fullLook(queue)
      const isDue = lanes.disturbed || !lanes.isDrained || now >= lanes.fullFrom
      if (!isDue || now < lanes.notBefore) return { isFull: false, ranges: behind(queue, lanes.floors) }
      // What happens from now on disturbs the next look.
      byQueue.set(queue, { ...lanes, disturbed: false })
      return fullLook(queue)
    },
    peek(queue, kinds, now) {
      const lanes = byQueue.get(queue)
      if (lanes === undefined || lanes.kinds !== kinds || now >= lanes.notBefore) return fullLook(queue)
      return { isFull: false, ranges: behind(queue, lanes.floors) }
    },
    seen(queue, kinds, now, seen) {
      const before = byQueue.get(queue)
      const known = before?.kinds === kinds ? before : undefined
      const { wasFull, leases, pages, ms, lastSeq } = seen
      const next = raised(known?.floors ?? NONE, seen)
      byQueue.set(queue, {
        kinds,
        floors: next.size > MOST_LANES ? NONE : next,
        disturbed: lastSeq !== null || known?.disturbed === true,
        isDrained: leases >= MANY_LEASES,
        fullFrom: wasFull ? now + FULL_EVERY_MS : (known?.fullFrom ?? now),
        notBefore: !wasFull ? (known?.notBefore ?? now) : pages > FEW_PAGES ? now + SHARE * ms : now,
      })
    },
    clear: () => byQueue.clear(),
    disturb(queues) {
      for (const queue of queues === 'all' ? byQueue.keys() : queues) {
        const lanes = byQueue.get(queue)
        if (lanes !== undefined) byQueue.set(queue, { ...lanes, disturbed: true })
      }
    },
  }
}

/** A full look that did not go to the end saw nothing of what lies behind, so that only its own floors count from then on. */
function raised(
  floors: ReadonlyMap<number, number>,
  { wasFull, upTo, lastSeq, lanes }: Seen,
): Map<number, number> {
  const next = new Map(wasFull && lastSeq === null ? NONE : floors)
  for (const [priority, seq] of upTo) next.set(priority, Math.max(seq, next.get(priority) ?? 0))
  if (lastSeq !== null) {
    for (const priority of [USUAL, ...next.keys(), ...lanes])
      next.set(priority, Math.max(lastSeq, next.get(priority) ?? 0))
  }
  return next
}

export function fullLook(queue: string): Look {
  return { isFull: true, ranges: behind(queue, NONE) }
}

/** From the front to the first floor, and from behind each floor to the next: so a priority that is new is seen too. */
function behind(queue: string, floors: ReadonlyMap<number, number>): Range[] {
  const starts = [[FIRST, 0] as const, ...[...floors].toSorted(([a], [b]) => a - b)]
  return starts.map(([priority, seq], at) => ({ queue, priority, seq, below: starts[at + 1]?.[0] ?? BEHIND }))
}

/** What floors are for: kinds that have a number, in the order of their numbers. */
export function kindsKey(map: NameMap, kinds: readonly string[]): string {
  const ids = new Set(kinds.map((kind) => map.kinds.idIfKnown(kind) ?? 0))
  return arrayOf([...ids].toSorted((a, b) => a - b))
}

/** The ranges of these looks as parameters of a function: the number of the look, from 1, and where each range begins and ends. */
export function rangeColumns(looks: readonly Look[]): string[] {
  const ranges = looks.flatMap((look, at) => look.ranges.map((range) => ({ ...range, number: at + 1 })))
  return [
    arrayOf(ranges.map(({ number }) => number)),
    arrayOf(ranges.map(({ priority }) => priority)),
    arrayOf(ranges.map(({ seq }) => seq)),
    arrayOf(ranges.map(({ below }) => below)),
  ]
}
