/** What verbs work with: the statements of a handle, the instant they happen at, names, counters and sums. */
import { type Counters, createCounters } from './counter.ts'
import { prepared, type Sql, type SqliteHandle } from './handle.ts'
import { type BellRow, createMoves, type Moves } from './moves.ts'
import { type NameCache, type Names, namesOn } from './names.ts'

/** Enough to read. */
export interface Look {
  readonly sql: Sql
  /** The database's now. */
  readonly now: number
  readonly names: Names
}

export interface Work extends Look {
  readonly counters: Counters
  readonly moves: Moves
}

export type Verb<T = unknown> = (work: Work) => T

/** The bell of a queue that got something to do. */
export interface Bell extends BellRow {
  readonly queue: string
}

export interface Worked<T = unknown> {
  readonly values: readonly T[]
  readonly bells: readonly Bell[]
  readonly names: Names
}

export function lookAt(handle: SqliteHandle, now: number, cache: NameCache): Look {
  const sql = prepared(handle)
  return { sql, now, names: namesOn(sql, cache) }
}

/** Runs verbs inside the transaction that is open on the handle. They share counters and sums, written at the end. */
export function workOn<T>(
  handle: SqliteHandle,
  now: number,
  cache: NameCache,
  verbs: readonly Verb<T>[],
): Worked<T> {
  const look = lookAt(handle, now, cache)
  const work = { ...look, counters: createCounters(look.sql), moves: createMoves() }
  const values = verbs.map((verb) => verb(work))
  work.counters.write()
  const bells = [...work.moves.write(look.sql)].map(([id, row]) => ({
    queue: look.names.queueName(id),
    ...row,
  }))
  return { values, bells, names: look.names }
}
