/**
 * Numbers of the file. Most only rise: places in the order, tokens, numbers of events, the versions of settings and members. A transaction reads a counter at
 * its first use, counts in memory, and writes it once at its end; the write lock keeps others from doing so meanwhile.
 */
import type { Heartbeat } from '../store/instance.ts'
import { rowsMissing } from './errors.ts'
import type { Sql } from './handle.ts'

// All by primary key.
const LOOK = `SELECT value FROM jobmill_counter WHERE name = ?`
const VERSIONS = `
  SELECT (SELECT value FROM jobmill_counter WHERE name = 'settings') AS settingsVersion,
    (SELECT value FROM jobmill_counter WHERE name = 'members') AS membersVersion`
const SET = `UPDATE jobmill_counter SET value = ? WHERE name = ?`

type Counter = 'seq' | 'token' | 'event' | 'settings' | 'members'

export interface Counters {
  /** The first of `amount` numbers that nobody had before. */
  take(counter: Counter, amount?: number): number
  /** Nobody gets this number or a lower one from now on. */
  raise(counter: Counter, to: number): void
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
    raise(counter, to) {
      values.set(counter, Math.max(to, values.get(counter) ?? latest(sql, counter)))
    },
    write() {
      for (const [counter, value] of values) sql(SET).run(value, counter)
    },
  }
}

/** What the heartbeat compares: others have changed settings, or came and went. */
export function versions(sql: Sql): Pick<Heartbeat, 'settingsVersion' | 'membersVersion'> {
  const found = sql(VERSIONS).get() as Readonly<Record<'settingsVersion' | 'membersVersion', number | null>>
  const { settingsVersion, membersVersion } = found
  if (settingsVersion === null || membersVersion === null) throw rowsMissing()
  return { settingsVersion, membersVersion }
}

/** Changes whenever a queue or kind gets a name or loses it, and when the store opens the file again: what a store remembers is true until then. */
export function namesVersion(sql: Sql): number {
  return stored(sql, 'names')
}

/** Random for each file, and random again when transactions of the file may be lost. */
export function historyOf(sql: Sql): number {
  return stored(sql, 'history')
}

/** The last number that a committed transaction took. */
export function latest(sql: Sql, counter: Counter): number {
  return stored(sql, counter)
}

function stored(sql: Sql, counter: Counter | 'names' | 'history'): number {
  const row = sql(LOOK).get(counter) as { readonly value: number } | undefined
  if (row === undefined) throw rowsMissing()
  return row.value
}
