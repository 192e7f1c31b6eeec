/**
 * Fair claims, for stores that choose jobs in code: takes the ready jobs of one queue group after group. A
 * group gets as many jobs per lap as its weight says: of a weight of 0.5, one in every second lap.
 */

import type { Lease } from './types/claim.ts'

/** A place among the ready jobs of a queue. The places of a group are consecutive. */
interface Place {
  readonly priority: number
  readonly seq: number
}

/** Where the next claim continues. */
export interface Turn {
  /** The first place of the group that is next. */
  readonly group: number
  /** The jobs that this group had in this lap. */
  readonly taken: number
  readonly lap: number
}

export const FIRST_TURN: Turn = { group: Number.NEGATIVE_INFINITY, taken: 0, lap: 0 }

export interface TurnSource<Row extends Place> {
  /** The ready jobs from this place on, in order: at most `limit`. With null, from the first priority on. */
  readonly from: (place: Place | null, limit: number) => readonly Row[]
  /** The first place of the group of a job, and the first place after it. */
  readonly bounds: (row: Row) => readonly [start: number, end: number]
  readonly weight: (start: number) => number
}

/** A large claim takes several jobs of each group at once, so that it needs fewer looks. */
const LOOKS = 32

interface Group {
  readonly start: number
  readonly end: number
  /** The place after the last job that was taken. */
  next: number
}

/**
 * Takes up to `room` jobs: those of the best priority first, and of each priority in laps over its groups.
 */
export function takeTurns<Row extends Place>(
  room: number,
  from: Turn,
  source: TurnSource<Row>,
): { readonly rows: Row[]; readonly turn: Turn } {
  const rows: Row[] = []
  let { group, taken, lap } = from
  let several = Math.max(1, Math.floor(room / LOOKS))
  const shareOf = (start: number): number => {
    const weight = source.weight(start)
    return several * (Math.floor(weight * (lap + 1)) - Math.floor(weight * lap))
  }
  /** Takes jobs of one group, of which `found` are already read. Returns whether it may have more. */
  const take = (priority: number, one: Group, allowed: number, found?: readonly Row[]): boolean => {
    const limit = Math.min(allowed, room - rows.length)
    if (limit <= 0) return true
    const read =
      found !== undefined && found.length >= limit ? found : source.from({ priority, seq: one.next }, limit)
    const own = read.slice(0, limit).filter((row) => row.priority === priority && row.seq < one.end)
    rows.push(...own)
    one.next = (own.at(-1)?.seq ?? one.end) + 1
    return own.length === limit
  }

  let [first] = source.from(null, 1)
  while (first !== undefined && rows.length < room) {
    const { priority } = first
    // The groups that may have more jobs: those before the end of the lap, and those of the next lap.
    const [ending, next]: [Group[], Group[]] = [[], []]
    const begin = group
    let at = group
    let isWrapped = false
    for (;;) {
      const found = source.from({ priority, seq: at }, Math.min(several, room - rows.length))
      const [row] = found
      if (row?.priority !== priority || (isWrapped && row.seq >= begin)) {
        if (isWrapped) break
        isWrapped = true
        lap += 1
        at = Number.NEGATIVE_INFINITY
        continue
      }
      const [start, end] = source.bounds(row)
      if (start !== group) [group, taken] = [start, 0]
      const one = { start, end, next: row.seq }
      const before = rows.length
      const mayHaveMore = take(priority, one, shareOf(start) - taken, found)
      if (mayHaveMore) (isWrapped ? next : ending).push(one)
      if (rows.length >= room) return { rows, turn: { group, taken: taken + rows.length - before, lap } }
      at = end
    }
    // The lap continues with the groups at which it began. Each further one starts with the first group.
    for (let groups = ending, others = next; groups.length + others.length > 0;) {
      const more: Group[] = []
      for (const one of groups) {
        const before = rows.length
        if (take(priority, one, shareOf(one.start))) more.push(one)
        if (rows.length >= room) return { rows, turn: { group: one.start, taken: rows.length - before, lap } }
      }
      groups = [...others, ...more]
      others = []
      lap += 1
      const weights = groups.reduce((sum, { start }) => sum + source.weight(start), 0)
      several = Math.max(1, Math.floor((room - rows.length) / weights))
    }
    taken = 0
    ;[first] = source.from({ priority: priority + 1, seq: Number.NEGATIVE_INFINITY }, 1)
  }
  return { rows, turn: { group, taken, lap } }
}

type Turned = Pick<Lease, 'queue' | 'priority' | 'group'>

/**
 * The order in which an instance should start the jobs of a claim: by priority, and in fair queues the first
 * job of each group before the second of any. Jobs of other queues keep their order.
 */
export function spreadGroups<T extends Turned>(
  leases: readonly T[],
  isFair: (queue: string) => boolean,
): T[] {
  const taken = new Map<string, number>()
  return leases
    .map((lease) => {
      if (!isFair(lease.queue)) return { lease, lap: 0 }
      const group = `${lease.queue} ${lease.priority} ${lease.group ?? ''}`
      const lap = taken.get(group) ?? 0
      taken.set(group, lap + 1)
      return { lease, lap }
    })
    .toSorted((a, b) => a.lease.priority - b.lease.priority || a.lap - b.lap)
    .map(({ lease }) => lease)
}
