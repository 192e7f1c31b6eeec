/** The tools of operations: the statements of a handle, the current instant, names, counters and sums. */
import { type Counters, createCounters } from './connection/counter.ts'
import { statementsOf, type Sql, type SqliteHandle } from './connection/handle.ts'
import { type LeaseCache, type Leases, leasesOn } from './claim/leases.ts'
import type { Turn } from '../store/take-turns.ts'
import { type NotificationRow, createMoves, type Moves } from './connection/moves.ts'
import { NameCache, type Names, namesOn } from './names.ts'

/** The tools of a read. */
export interface Look {
  readonly sql: Sql
  /** The current time of the database. */
  readonly now: number
  readonly names: Names
}

/** The cache of a store between transactions. */
export class Memory {
  readonly names = new NameCache()
  readonly leases: LeaseCache = new Map()
  /** Where the next claim of each fair queue continues, by the id of the queue. */
  readonly turns = new Map<number, QueueTurn>()
  #names: number | undefined

  /**
   * Drops the cache if the names version of the file differs: it may be another file or an older copy, in
   * which the same ids belong to other names.
   */
  forgetUnless(names: number): void {
    if (names === this.#names) return
    this.#names = names
    this.names.clear()
    this.leases.clear()
    this.turns.clear()
  }
}

/**
 * `rest` is the part of a job that the queue did not get yet in claims that were too small for all queues.
 */
export interface QueueTurn extends Turn {
  readonly rest: number
}

export interface Work extends Look {
  readonly counters: Counters
  readonly moves: Moves
  readonly leases: Leases
  readonly turns: Map<number, QueueTurn>
}

export interface Verb<T = unknown> {
  (work: Work): T
  /**
   * Runs consecutive operations of the same type at once and returns their values. After a failure they are
   * retried one by one.
   */
  readonly together?: (work: Work, verbs: readonly Verb[]) => T[]
}

/** The notification of a queue that got work. */
export interface Notification extends NotificationRow {
  readonly queue: string
}

export type Worked = ReturnType<typeof workOn>

export function lookAt(handle: SqliteHandle, now: number, cache: NameCache): Look {
  const sql = statementsOf(handle)
  return { sql, now, names: namesOn(sql, cache) }
}

/**
 * Runs operations inside the open transaction of the handle. They share counters and sums, which are written
 * at the end.
 */
export function workOn<T>(handle: SqliteHandle, now: number, memory: Memory, verbs: readonly Verb<T>[]) {
  const look = lookAt(handle, now, memory.names)
  const leases = leasesOn(memory.leases)
  const work = {
    ...look,
    counters: createCounters(look.sql),
    moves: createMoves(),
    leases,
    turns: memory.turns,
  }
  const values = runAll(work, verbs)
  work.counters.write()
  const notifications = [...work.moves.write(look.sql)].map(([id, row]): Notification => ({
    queue: look.names.queueName(id),
    ...row,
  }))
  /** Adds names and leases to the caches. Call it after the commit. */
  const updateCache = (): void => {
    look.names.updateCache()
    leases.updateCache()
  }
  return { values, notifications, updateCache }
}

function runAll<T>(work: Work, verbs: readonly Verb<T>[]): T[] {
  const values: T[] = []
  while (values.length < verbs.length) {
    const rest = verbs.slice(values.length)
    const together = rest[0]?.together
    const other = rest.findIndex((verb) => verb.together !== together)
    const alike = other === -1 ? rest : rest.slice(0, other)
    if (together === undefined || alike.length === 1) values.push(...alike.map((verb) => verb(work)))
    else values.push(...together(work, alike))
  }
  return values
}
