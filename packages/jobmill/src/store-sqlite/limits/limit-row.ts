/** A stored limit: its settings, and the state of its budget, which job/limit/budget.ts calculates with. */
import { available, type BudgetState, nextInMs } from '../../job/limit/budget.ts'
import { isPerKey, type LimitSettings } from '../../job/limit/limit.ts'
import type { Sql } from '../connection/handle.ts'
import type { Look, Work } from '../work.ts'

export const COLUMNS = `id, name, settings, per_key, paid_at, reserved_until, drained_until, held`

// By jobmill_limit_name or the primary key, or all of them by jobmill_limit_own: there are few limits, but
// any number of keys. Read-modify-write happens under the write lock.
const BY_NAME = `SELECT ${COLUMNS} FROM jobmill_limit WHERE name = ? AND key = ?`
const BY_ID = `SELECT ${COLUMNS} FROM jobmill_limit WHERE id = ?`
const ALL = `SELECT ${COLUMNS} FROM jobmill_limit INDEXED BY jobmill_limit_own WHERE key = '' ORDER BY name`
const SAVE = `UPDATE jobmill_limit SET paid_at = ?, reserved_until = ?, drained_until = ? WHERE id = ?`

export interface StoredLimit {
  readonly id: number
  readonly name: string
  readonly settings: LimitSettings
  readonly budget: BudgetState
  /** Permits in use; 0 for a rate, even if permits are left from before a change of its type. */
  readonly held: number
}

export interface Row {
  readonly id: number
  readonly name: string
  readonly settings: string
  readonly per_key: number
  readonly paid_at: number
  readonly reserved_until: number
  readonly drained_until: number
  readonly held: number
}

/** The limit itself, or the budget of one of its keys. */
export function findLimit(sql: Sql, name: string, key = ''): StoredLimit | undefined {
  const row = sql(BY_NAME).get(name, key) as Row | undefined
  return row === undefined ? undefined : storedOf(row)
}

/** The limit of a queue, which cannot be deleted while a queue uses it. */
export function limitOf(sql: Sql, id: number): StoredLimit {
  return storedOf(sql(BY_ID).get(id) as Row)
}

export function allLimits(sql: Sql): StoredLimit[] {
  return (sql(ALL).all() as Row[]).map(storedOf)
}

export function saveBudget(
  { sql }: Work,
  id: number,
  { paidAt, reservedUntil, drainedUntil }: BudgetState,
): void {
  sql(SAVE).run(paidAt, reservedUntil, drainedUntil, id)
}

export function availableOf({ now }: Look, { settings, budget, held }: StoredLimit): number {
  return available(settings, budget, { now, held })
}

/** 0 when something is available, null when that depends on a release. */
export function nextOf({ now }: Look, { settings, budget, held }: StoredLimit): number | null {
  return nextInMs(settings, budget, { now, held })
}

/**
 * `perKey` is a column and not part of the JSON, because an older release would drop it when it writes the
 * JSON.
 */
export function settingsText(settings: LimitSettings): string {
  return JSON.stringify({ ...settings, perKey: undefined })
}

export function perKeyColumn(settings: LimitSettings): number {
  return Number(isPerKey(settings))
}

export function storedOf(row: Row): StoredLimit {
  const kept = JSON.parse(row.settings) as LimitSettings
  const settings = kept.type === 'rate' && row.per_key === 1 ? { ...kept, perKey: true as const } : kept
  return {
    id: row.id,
    name: row.name,
    settings,
    budget: { paidAt: row.paid_at, reservedUntil: row.reserved_until, drainedUntil: row.drained_until },
    held: settings.type === 'rate' ? 0 : row.held,
  }
}
