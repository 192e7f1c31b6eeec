/**
 * Counters of the file, most of which only rise: sequence numbers, lease tokens, event numbers, versions of
 * settings and members. A transaction reads a counter at first use, counts in memory, and writes it once at
 * its end. The write lock excludes other writers.
 */
import type { Heartbeat } from '../../store/types/instance.ts'
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
  /** Returns the first of `amount` unused numbers. */
  take(counter: Counter, amount?: number): number
  /**
   * Returns a new lease token: the time in microseconds, or one more than the last token. So a token is
   * higher than all before it even in a restored backup, whose counter has gone back.
   */
  takeToken(now: number): number
  /** Ensures that this number and lower ones are never returned again. */
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
    takeToken(now) {
      this.raise('token', now * 1_000 - 1)
      return this.take('token')
    },
    raise(counter, to) {
      values.set(counter, Math.max(to, values.get(counter) ?? latest(sql, counter)))
    },
    write() {
      for (const [counter, value] of values) sql(SET).run(value, counter)
    },
  }
}

/** The versions that a heartbeat compares: another instance changed settings, or joined or left. */
export function versions(sql: Sql): Pick<Heartbeat, 'settingsVersion' | 'membersVersion'> {
  const found = sql(VERSIONS).get() as Readonly<Record<'settingsVersion' | 'membersVersion', number | null>>
  const { settingsVersion, membersVersion } = found
  if (settingsVersion === null || membersVersion === null) throw rowsMissing()
  return { settingsVersion, membersVersion }
}

/**
 * Changes whenever a queue or kind is added or removed, and when the store reopens the file. Cached names are
 * valid until then.
 */
export function namesVersion(sql: Sql): number {
  return stored(sql, 'names')
}

/** Random per file, and random again when transactions of the file may have been lost. */
export function historyOf(sql: Sql): number {
  return stored(sql, 'history')
}

const NEW_VERSIONS = `
  UPDATE jobmill_counter SET value = random() & 9007199254740991 WHERE name IN ('names', 'history')`

// Up to 19 hours in microseconds.
const SKIP_TOKENS = `UPDATE jobmill_counter SET value = value + (random() & 68719476735) WHERE name = 'token'`

/**
 * Transactions of the file may be lost. New versions make all processes drop their caches. Tokens skip ahead,
 * because they are no times while the clock is behind the last token.
 */
export function markLoss(sql: Sql): void {
  sql(SKIP_TOKENS).run()
  sql(NEW_VERSIONS).run()
}

/** The last number that a committed transaction used. */
export function latest(sql: Sql, counter: Counter): number {
  return stored(sql, counter)
}

function stored(sql: Sql, counter: Counter | 'names' | 'history'): number {
  const row = sql(LOOK).get(counter) as { readonly value: number } | undefined
  if (row === undefined) throw rowsMissing()
  return row.value
}
