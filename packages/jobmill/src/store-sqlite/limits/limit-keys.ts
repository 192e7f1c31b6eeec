/**
 * The budgets of keys: rows in addition to that of their limit, created on first use and deleted when they
 * are full again.
 */
import { changeBudget, EMPTY_BUDGET } from '../../job/limit/budget.ts'
import { isPerKey, type LimitSettings } from '../../job/limit/limit.ts'
import { KEYS_MOST } from '../../store/types/limit.ts'
import {
  COLUMNS,
  findLimit,
  type Row,
  saveBudget,
  settingsText,
  type StoredLimit,
  storedOf,
} from './limit-row.ts'
import type { Look, Work } from '../work.ts'

// By jobmill_limit_name.
const MAKE = `
  INSERT INTO jobmill_limit (name, key, settings, paid_at, reserved_until, drained_until, held) VALUES (?, ?, ?, ?, ?, ?, 0)`

// The range of one limit in jobmill_limit_name.
const OF = `jobmill_limit INDEXED BY jobmill_limit_name WHERE name = ? AND key > ''`
const COUNT = `SELECT count(*) AS n FROM (SELECT 1 FROM ${OF} LIMIT ${KEYS_MOST})`
const ALL = `SELECT ${COLUMNS} FROM ${OF}`
const CHANGE = `UPDATE jobmill_limit INDEXED BY jobmill_limit_name SET settings = ? WHERE name = ? AND key > ''`
const DROP_PLACES = `DELETE FROM jobmill_limit_waiter WHERE limit_id IN (SELECT id FROM ${OF})`
const DROP = `DELETE FROM ${OF}`

// The front of jobmill_limit_full, with a lookup of waiters by primary key: a key with a waiter stays until
// the waiter is gone.
export const FULL_KEYS = `
  jobmill_limit AS l INDEXED BY jobmill_limit_full
  WHERE l.key <> '' AND max(l.paid_at, l.reserved_until, l.drained_until) <= ?
    AND NOT EXISTS (SELECT 1 FROM jobmill_limit_waiter AS t WHERE t.limit_id = l.id)
  ORDER BY max(l.paid_at, l.reserved_until, l.drained_until) LIMIT ?`
const FULL_IDS = `SELECT l.id FROM ${FULL_KEYS}`
const DROP_ONE = `DELETE FROM jobmill_limit WHERE id = ?`

export type KeyLookup =
  | { readonly how: 'found'; readonly limit: StoredLimit }
  | { readonly how: 'unknown' }
  | { readonly how: 'wrong-key'; readonly perKey: boolean }

/** The budget to acquire from: that of a limit, or that of a key, which is created if it does not exist. */
export function budgetOf(work: Work, name: string, key: string | undefined): KeyLookup {
  const limit = findLimit(work.sql, name)
  if (limit === undefined) return { how: 'unknown' }
  const perKey = isPerKey(limit.settings)
  if (perKey !== (key !== undefined)) return { how: 'wrong-key', perKey }
  return { how: 'found', limit: key === undefined ? limit : keyOf(work, limit, key) }
}

function keyOf({ sql }: Work, limit: StoredLimit, key: string): StoredLimit {
  const { paidAt, reservedUntil, drainedUntil } = EMPTY_BUDGET
  const found = findLimit(sql, limit.name, key)
  if (found !== undefined) return found
  const made = sql(MAKE).run(
    limit.name,
    key,
    settingsText(limit.settings),
    paidAt,
    reservedUntil,
    drainedUntil,
  )
  return { ...limit, id: Number(made.lastInsertRowid), budget: EMPTY_BUDGET }
}

export function countKeys({ sql }: Look, { name, settings }: StoredLimit): number | null {
  return isPerKey(settings) ? (sql(COUNT).get(name) as { n: number }).n : null
}

/** Tokens already granted to each key stay granted, as for a limit. */
export function changeKeys(work: Work, name: string, settings: LimitSettings): void {
  const { sql, now } = work
  for (const row of sql(ALL).all(name) as Row[]) {
    const key = storedOf(row)
    saveBudget(work, key.id, changeBudget(key.settings, settings, key.budget, now))
  }
  sql(CHANGE).run(settingsText(settings), name)
  sql(DROP_PLACES).run(name)
}

/** Deletes keys whose budget is full again, which is the same as never used; returns how many. */
export function dropFullKeys({ sql, now }: Work, atMost: number): number {
  const full = sql(FULL_IDS).all(now, atMost) as { id: number }[]
  // One by one, because with few limits a join would read them all.
  for (const { id } of full) sql(DROP_ONE).run(id)
  return full.length
}

export function dropKeys({ sql }: Work, name: string): void {
  sql(DROP_PLACES).run(name)
  sql(DROP).run(name)
}
