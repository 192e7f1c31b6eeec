/**
 * Numbers that only rise: places in the order, tokens, the version of the settings. A transaction reads a counter at
 * its first use, counts in memory, and writes it once at its end; the write lock keeps others from doing so meanwhile.
 */
import type { Sql } from './handle.ts'

// Both by primary key.
const LOOK = `SELECT value FROM jobmill_counter WHERE name = ?`
const SET = `UPDATE jobmill_counter SET value = ? WHERE name = ?`

type Counter = 'seq' | 'token' | 'settings'

export interface Counters {
  /** The first of `amount` numbers that nobody had before. */
  take(counter: Counter, amount?: number): number
  write(): void
}

export function createCounters(sql: Sql): Counters {
  const values = new Map<Counter, number>()
  return {
    take(counter, amount = 1) {
      const value = values.get(counter) ?? latest(sql, counter)
      values.set(counter, value + amount)
      return value + 1
    },
    write() {
      for (const [counter, value] of values) sql(SET).run(value, counter)
    },
  }
}

/** The last number that a committed transaction took. */
export function latest(sql: Sql, counter: Counter): number {
  return (sql(LOOK).get(counter) as { value: number }).value
}
