/**
 * A stored limit: its settings, and the state of its budget, which job/limit/budget.ts calculates with. The
 * budgets of keys are rows in addition to that of their limit, created on first use and deleted when they are
 * full again.
 */
import { available, type BudgetState, changeBudget, EMPTY_BUDGET, nextInMs } from '../../job/limit/budget.ts'
import { isPerKey, type LimitSettings } from '../../job/limit/limit.ts'
import type { LimitSources } from '../../job/limit/limit-sources.ts'
import { type Acquired, KEYS_MOST } from '../../store/types/limit.ts'
import type { Sql } from '../connection/handle.ts'
import { sourceTexts } from '../queues/sources.ts'
import type { Look, Work } from '../work.ts'

const COLUMNS = `id, name, settings, paid_at AS paidAt, reserved_until AS reservedUntil, drained_until AS drainedUntil, held`

// Uses jobmill_limit_name or the primary key; a list of all limits uses jobmill_limit_own, because there are
// few limits, but any number of keys. Rows are read and changed under the write lock.
const BY_NAME = `SELECT ${COLUMNS} FROM jobmill_limit WHERE name = ? AND key = ?`
const BY_ID = `SELECT ${COLUMNS} FROM jobmill_limit WHERE id = ?`
const ALL = `SELECT ${COLUMNS} FROM jobmill_limit INDEXED BY jobmill_limit_own WHERE key = '' ORDER BY name`
const INSERT = `
  INSERT INTO jobmill_limit (name, key, settings, code, overrides, paid_at, reserved_until, drained_until, held)
  VALUES (?, ?, ?, ?, ?, 0, 0, 0, 0)`
const SAVE = `UPDATE jobmill_limit SET paid_at = ?, reserved_until = ?, drained_until = ? WHERE id = ?`

export interface StoredLimit {
  readonly id: number
  readonly name: string
  readonly settings: LimitSettings
  readonly budget: BudgetState
  /** Permits in use; 0 for a rate, even if permits are left from before a change of its type. */
  readonly held: number
}

interface Row extends BudgetState, Pick<StoredLimit, 'id' | 'name' | 'held'> {
  readonly settings: string
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

/** Inserts a limit or the budget of one of its keys, full. A key has no sources. Returns its id. */
export function insertLimit(
  sql: Sql,
  name: string,
  settings: LimitSettings,
  { key = '', code = null, overrides = {} }: Partial<LimitSources> & { readonly key?: string },
): number {
  const values = [name, key, JSON.stringify(settings), ...sourceTexts({ code, overrides })]
  return Number(sql(INSERT).run(...values).lastInsertRowid)
}

export function saveBudget({ sql }: Work, id: number, budget: BudgetState): void {
  sql(SAVE).run(budget.paidAt, budget.reservedUntil, budget.drainedUntil, id)
}

export function availableOf({ now }: Look, { settings, budget, held }: StoredLimit): number {
  return available(settings, budget, { now, held })
}

/** 0 when something is available, null when that depends on a release. */
export function nextOf({ now }: Look, { settings, budget, held }: StoredLimit): number | null {
  return nextInMs(settings, budget, { now, held })
}

function storedOf({ id, name, settings: text, held, ...budget }: Row): StoredLimit {
  const settings = JSON.parse(text) as LimitSettings
  return { id, name, settings, budget, held: settings.type === 'rate' ? 0 : held }
}

// The range of one limit in jobmill_limit_name.
const KEYS_OF = `jobmill_limit INDEXED BY jobmill_limit_name WHERE name = ? AND key > ''`
const COUNT_KEYS = `SELECT count(*) AS n FROM (SELECT 1 FROM ${KEYS_OF} LIMIT ${KEYS_MOST})`
const ALL_KEYS = `SELECT ${COLUMNS} FROM ${KEYS_OF}`
const CHANGE_KEYS = `UPDATE jobmill_limit INDEXED BY jobmill_limit_name SET settings = ? WHERE name = ? AND key > ''`
const DROP_PLACES = `DELETE FROM jobmill_limit_waiter WHERE limit_id IN (SELECT id FROM ${KEYS_OF})`
const DROP_KEYS = `DELETE FROM ${KEYS_OF}`

// The front of jobmill_limit_full, with a lookup of waiters by primary key: a key with a waiter stays until
// the waiter is gone.
export const FULL_KEYS = `
  jobmill_limit AS l INDEXED BY jobmill_limit_full
  WHERE l.key <> '' AND max(l.paid_at, l.reserved_until, l.drained_until) <= ?
    AND NOT EXISTS (SELECT 1 FROM jobmill_limit_waiter AS t WHERE t.limit_id = l.id)
  ORDER BY max(l.paid_at, l.reserved_until, l.drained_until) LIMIT ?`
const FULL_IDS = `SELECT l.id FROM ${FULL_KEYS}`
const DROP_KEY = `DELETE FROM jobmill_limit WHERE id = ?`

/**
 * The budget to acquire from: that of a limit, or that of a key, which is created if it does not exist. A
 * refusal if there is none.
 */
export function budgetOf(
  work: Work,
  name: string,
  key: string | undefined,
): StoredLimit | Extract<Acquired, { readonly outcome: 'unknown' | 'wrong-key' }> {
  const limit = findLimit(work.sql, name)
  if (limit === undefined) return { outcome: 'unknown' }
  const perKey = isPerKey(limit.settings)
  if (perKey !== (key !== undefined)) return { outcome: 'wrong-key', perKey }
  return key === undefined ? limit : keyOf(work, limit, key)
}

function keyOf({ sql }: Work, limit: StoredLimit, key: string): StoredLimit {
  const found = findLimit(sql, limit.name, key)
  if (found !== undefined) return found
  const id = insertLimit(sql, limit.name, limit.settings, { key })
  return { ...limit, id, budget: EMPTY_BUDGET }
}

export function countKeys({ sql }: Look, { name, settings }: StoredLimit): number | null {
  return isPerKey(settings) ? (sql(COUNT_KEYS).get(name) as { n: number }).n : null
}

/** Tokens already granted to each key stay granted, as for a limit. */
export function changeKeys(work: Work, name: string, settings: LimitSettings): void {
  const { sql, now } = work
  for (const row of sql(ALL_KEYS).all(name) as Row[]) {
    const key = storedOf(row)
    saveBudget(work, key.id, changeBudget(key.settings, settings, key.budget, now))
  }
  sql(CHANGE_KEYS).run(JSON.stringify(settings), name)
  sql(DROP_PLACES).run(name)
}

/** Deletes keys whose budget is full again, which is the same as never used; returns how many. */
export function dropFullKeys({ sql, now }: Work, atMost: number): number {
  const full = sql(FULL_IDS).all(now, atMost) as { id: number }[]
  // One by one, because a join would read all rows of a small table.
  for (const { id } of full) sql(DROP_KEY).run(id)
  return full.length
}

export function dropKeys({ sql }: Work, name: string): void {
  sql(DROP_PLACES).run(name)
  sql(DROP_KEYS).run(name)
}
