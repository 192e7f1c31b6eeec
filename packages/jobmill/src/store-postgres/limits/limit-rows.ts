/** Converts and locks limit rows, and counts granted permits. */
import type { BudgetState } from '../../job/limit/budget.ts'
import { isPerKey, type LimitSettings } from '../../job/limit/limit.ts'
import type { Query, Row } from '../connection/connection.ts'
import { type Context, run } from '../context.ts'
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

const WRITE_STATES = `
WITH ${GIVEN_CTE}
UPDATE jobmill.limit AS l SET paid_at = x.paid_at, reserved_until = x.reserved_until, drained_until = x.drained_until
  FROM given, json_to_recordset(p -> 'states') AS x(name text, key text, paid_at float8, reserved_until float8, drained_until float8)
 WHERE l.name = x.name AND l.key = x.key`

export function limitOf(row: Row): LimitRow {
  const most = row['most'] as number | null
  return {
    name: row['name'] as string,
    key: row['key'] as string,
    settings:
      most === null
        ? {
            type: 'rate',
            amount: row['amount'] as number,
            perMs: row['per_ms'] as number,
            burst: row['burst'] as number,
            ...(row['per_key'] === true && { perKey: true as const }),
          }
        : { type: 'concurrency', most },
    state: {
      paidAt: row['paid_at'] as number,
      reservedUntil: row['reserved_until'] as number,
      drainedUntil: row['drained_until'] as number,
    },
  }
}

/** The settings as columns. */
export function settingsColumns(settings: LimitSettings): Record<string, number | boolean | null> {
  const per_key = isPerKey(settings)
  return settings.type === 'rate'
    ? { amount: settings.amount, per_ms: settings.perMs, burst: settings.burst, most: null, per_key }
    : { amount: null, per_ms: null, burst: null, most: settings.most, per_key }
}

export function stateColumns({ paidAt, reservedUntil, drainedUntil }: BudgetState): Record<string, number> {
  return { paid_at: paidAt, reserved_until: reservedUntil, drained_until: drainedUntil }
}

/** Locks these limits, or their budgets of one key. */
export async function lockLimits(
  context: Context,
  query: Query,
  names: Iterable<string>,
  key = '',
): Promise<Map<string, LockedLimit>> {
  const rows = await run(context, query, LOCK, `${limitsField(names)},"key":${JSON.stringify(key)}`)
  return new Map(rows.map((row) => [row['name'] as string, { ...limitOf(row), now: row['now'] as number }]))
}

/** Counts the held permits of locked limits. Rate limits have none, so they need no query. */
export async function permitsOut(
  context: Context,
  query: Query,
  limits: Iterable<LimitRow>,
): Promise<Map<string, number>> {
  const names = [...limits].flatMap(({ name, settings }) => (settings.type === 'concurrency' ? name : []))
  if (names.length === 0) return new Map()
  const rows = await run(context, query, HELD_NOW, limitsField(names))
  return new Map(rows.map((row) => [row['name'] as string, row['held'] as number]))
}

/** Writes the states of limits. The caller must have locked their rows. */
export async function writeStates(
  context: Context,
  query: Query,
  limits: readonly Pick<LimitRow, 'name' | 'key' | 'state'>[],
): Promise<void> {
  if (limits.length === 0) return
  const states = limits.map(({ name, key, state }) => ({ name, key, ...stateColumns(state) }))
  await run(context, query, WRITE_STATES, `"states":${JSON.stringify(states)}`)
}

function limitsField(names: Iterable<string>): string {
  return `"limits":${JSON.stringify([...names])}`
}
