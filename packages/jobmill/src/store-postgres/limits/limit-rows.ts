/** Converts and locks limit rows, and counts granted permits. */
import type { BudgetState } from '../../job/limit/budget.ts'
import { isPerKey, type LimitSettings } from '../../job/limit/limit.ts'
import type { Row } from '../connection/connection.ts'
import { ask, columnsOf, type Context } from '../context.ts'
import { GIVEN_CTE, NOW_AGAIN } from '../fragments.ts'

export interface LimitRow {
  readonly name: string
  /** Empty for the limit itself. */
  readonly key: string
  readonly settings: LimitSettings
  readonly state: BudgetState
}

/** A limit locked until the end of the transaction, with the time at which the lock was acquired. */
export interface LockedLimit extends LimitRow {
  readonly now: number
}

type LimitColumns = Record<'name' | 'key', string> &
  Record<'amount' | 'per_ms' | 'burst' | 'paid_at' | 'reserved_until' | 'drained_until', number> & {
    /** Null for a rate. */
    readonly most: number | null
    readonly per_key: boolean
  }

/** Columns of a row `l`. */
export const LIMIT_COLUMNS = `l.name, l.key, l.amount, l.per_ms, l.burst, l.most, l.per_key, l.paid_at, l.reserved_until, l.drained_until`

/** The granted permits of the limit `l`, a range of the primary key of `permit`. A rate limit has none. */
export const HELD_PERMITS = `(SELECT coalesce(sum(t.amount), 0)::int8 FROM jobmill.permit AS t
  WHERE t.limit_name = l.name AND l.most IS NOT NULL)`

/** The names of the limits in the parameter. */
export const LIMIT_NAMES = `ARRAY(SELECT json_array_elements_text(p -> 'limits') FROM given)`

/**
 * Locks in the order of the names to avoid deadlocks. Reads the time after the wait for the lock. Otherwise
 * the grants of other transactions would be in the future.
 */
const LOCK = `
WITH ${GIVEN_CTE}, locked AS MATERIALIZED (
  SELECT l.* FROM jobmill.limit AS l WHERE l.name = ANY (${LIMIT_NAMES}) AND l.key = (SELECT p ->> 'key' FROM given)
   ORDER BY l.name FOR UPDATE
)
SELECT ${LIMIT_COLUMNS}, ${NOW_AGAIN} AS now FROM locked AS l, given`

/**
 * A separate statement after the lock. The snapshot of the statement that waited is older than the changes of
 * the previous lock holder.
 */
const HELD_NOW = `
WITH ${GIVEN_CTE}
SELECT l.name, ${HELD_PERMITS} AS held FROM jobmill.limit AS l
 WHERE l.name = ANY (${LIMIT_NAMES}) AND l.key = ''`

/** Uses the primary keys. The rows are locked. */
export const STATES_WRITTEN = `UPDATE jobmill.limit AS l SET paid_at = x.paid_at, reserved_until = x.reserved_until, drained_until = x.drained_until
  FROM given, json_to_recordset(p -> 'states') AS x(name text, key text, paid_at float8, reserved_until float8, drained_until float8)
 WHERE l.name = x.name AND l.key = x.key`

const WRITE_STATES = `
WITH ${GIVEN_CTE}
${STATES_WRITTEN}`

export function limitOf(row: Row): LimitRow {
  const { name, key, amount, per_ms, burst, most, per_key, paid_at, reserved_until, drained_until } =
    row as unknown as LimitColumns
  return {
    name,
    key,
    settings:
      most === null
        ? { type: 'rate', amount, perMs: per_ms, burst, ...(per_key && { perKey: true as const }) }
        : { type: 'concurrency', most },
    state: { paidAt: paid_at, reservedUntil: reserved_until, drainedUntil: drained_until },
  }
}

export function lockedOf(row: Row): LockedLimit {
  return { ...limitOf(row), now: row['now'] as number }
}

/** The settings as columns. */
export function settingsColumns(settings: LimitSettings): Record<string, number | boolean | null> {
  const per_key = isPerKey(settings)
  return settings.type === 'rate'
    ? { amount: settings.amount, per_ms: settings.perMs, burst: settings.burst, most: null, per_key }
    : { amount: null, per_ms: null, burst: null, most: settings.most, per_key }
}

/** Locks these limits, or their budgets of one key. */
export async function lockLimits(
  inside: Context,
  names: Iterable<string>,
  key = '',
): Promise<Map<string, LockedLimit>> {
  const rows = await ask(inside, LOCK, { limits: [...names], key })
  return new Map(rows.map(lockedOf).map((limit) => [limit.name, limit]))
}

/** Counts the held permits of locked limits. Rate limits have none, so they need no query. */
export async function permitsOut(inside: Context, limits: Iterable<LimitRow>): Promise<Map<string, number>> {
  const names = [...limits].flatMap(({ name, settings }) => (settings.type === 'concurrency' ? name : []))
  if (names.length === 0) return new Map()
  const rows = await ask<{ name: string; held: number }>(inside, HELD_NOW, { limits: names })
  return new Map(rows.map(({ name, held }) => [name, held]))
}

/** Writes the states of limits. The caller must have locked their rows. */
export async function writeStates(
  inside: Context,
  limits: readonly Pick<LimitRow, 'name' | 'key' | 'state'>[],
): Promise<void> {
  const states = limits.map(({ name, key, state }) => ({ name, key, ...columnsOf(state) }))
  if (states.length > 0) await ask(inside, WRITE_STATES, { states })
}
