/**
 * Counters of the file, most of which only rise: sequence numbers, lease tokens, event numbers, versions of
 * settings and members. A transaction reads a counter at first use, counts in memory, and writes it once at
 * its end. The write lock excludes other writers.
 */
import type { Heartbeat } from '../../store/types/instance.ts'
import { rowsMissing } from './errors.ts'
import type { Sql, SqliteHandle } from './handle.ts'

// All use the primary key.
const LOOK = `SELECT value FROM jobmill_counter WHERE name = ?`
const VERSIONS = `
  SELECT (SELECT value FROM jobmill_counter WHERE name = 'settings') AS settingsVersion,
    (SELECT value FROM jobmill_counter WHERE name = 'members') AS membersVersion`
const SET = `UPDATE jobmill_counter SET value = ? WHERE name = ?`

type Counter = 'seq' | 'token' | 'event' | 'settings' | 'members'

export type Counters = ReturnType<typeof createCounters>

export function createCounters(sql: Sql) {
  const values = new Map<Counter, number>()
  const valueOf = (counter: Counter): number => values.get(counter) ?? latest(sql, counter)
  return {
    /** Returns the first of `amount` unused numbers. */
    take(counter: Counter, amount = 1): number {
      const value = valueOf(counter)
      values.set(counter, value + amount)
      return value + 1
    },
    /**
     * Returns a new lease token: the time in microseconds, or one more than the last token. So a token is
     * higher than all before it even in a restored backup, whose counter has gone back.
     */
    takeToken(now: number): number {
      this.raise('token', now * 1_000 - 1)
      return this.take('token')
    },
    /** Ensures that this number and lower ones are never returned again. */
    raise(counter: Counter, to: number): void {
      values.set(counter, Math.max(to, valueOf(counter)))
    },
    write(): void {
      for (const [counter, value] of values) sql(SET).run(value, counter)
    },
  }
}

/**
 * The versions that a heartbeat compares. They change when another instance changes settings, joins or
 * leaves.
 */
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
export const namesVersion = (sql: Sql): number => latest(sql, 'names')

/** Random per file, and random again when transactions of the file may have been lost. */
export const historyOf = (sql: Sql): number => latest(sql, 'history')

// Tokens skip ahead by up to 19 hours in microseconds.
const MARK_LOSS = `
  BEGIN IMMEDIATE;
  UPDATE jobmill_counter SET value = value + (random() & 68719476735) WHERE name = 'token';
  UPDATE jobmill_counter SET value = random() & 9007199254740991 WHERE name IN ('names', 'history');
  COMMIT`

/**
 * Transactions of the file may be lost. New versions make all processes drop their caches. Tokens skip ahead,
 * because they are not timestamps while the clock is behind the last token.
 */
export function markLoss(handle: SqliteHandle): void {
  handle.exec(MARK_LOSS)
}

/** The last number that a committed transaction used. */
export function latest(sql: Sql, counter: Counter | 'names' | 'history'): number {
  const row = sql(LOOK).get(counter) as { readonly value: number } | undefined
  if (row === undefined) throw rowsMissing()
  return row.value
}
