/** Limits: created once, changed and drained by operators, told to whoever asks. */
import { type BudgetState, changed, drained, EMPTY_BUDGET } from '../job/budget.ts'
import { isPerKey, type LimitSettings } from '../job/limit.ts'
import { limitInUse, limitUnknown, perKeyFixed, perKeyOnQueue, wrongKey } from '../store/cluster-errors.ts'
import type { LimitRecord } from '../store/limit.ts'
import { budgetOf, changeKeys, countKeys, dropKeys } from './limit-keys.ts'
import {
  allLimits,
  availableOf,
  findLimit,
  nextOf,
  perKeyColumn,
  saveBudget,
  settingsText,
  type StoredLimit,
} from './limit-row.ts'
import { dropPermitsOf, ringFor } from './permits.ts'
import type { Look, Work } from './work.ts'

// By primary key, except for the first queue that jobmill_queue_limit has for it.
const CREATE = `
  INSERT INTO jobmill_limit (name, settings, per_key, paid_at, line_at, drained_until, held) VALUES (?, ?, ?, ?, ?, ?, 0)`
const CHANGE = `UPDATE jobmill_limit SET settings = ?, per_key = ? WHERE id = ?`
const DELETE = `DELETE FROM jobmill_limit WHERE id = ?`
const DROP_PLACES = `DELETE FROM jobmill_place WHERE limit_id = ?`
const NAMED_BY = `SELECT name FROM jobmill_queue INDEXED BY jobmill_queue_limit WHERE limit_id = ? LIMIT 1`

export interface DeclaredLimit {
  readonly name: string
  readonly settings: LimitSettings
}

export function declareLimits(work: Work, limits: readonly DeclaredLimit[]): void {
  const { sql, counters } = work
  for (const { name, settings } of limits) {
    if (findLimit(sql, name) !== undefined) continue
    const { paidAt, lineAt, drainedUntil } = EMPTY_BUDGET
    sql(CREATE).run(name, settingsText(settings), perKeyColumn(settings), paidAt, lineAt, drainedUntil)
    // A process of an earlier release that deleted the limit leaves them behind.
    dropKeys(work, name)
    counters.take('settings')
  }
}

/** Who holds permits keeps them; who has a place in the line got it at the old rate, and loses it. */
export function changeLimit(work: Work, name: string, settings: LimitSettings): LimitRecord {
  const { sql, now, counters } = work
  const limit = needLimit(work, name)
  const perKey = isPerKey(limit.settings)
  if (isPerKey(settings) !== perKey) throw perKeyFixed(name, perKey)
  if (perKey) changeKeys(work, name, settings)
  saveBudget(work, limit.id, changed(limit.settings, settings, limit.budget, now))
  sql(CHANGE).run(settingsText(settings), perKeyColumn(settings), limit.id)
  sql(DROP_PLACES).run(limit.id)
  counters.take('settings')
  // There may be more to be had now.
  ringFor(work, limit.id)
  return recordOf(work, needLimit(work, name))
}

export function deleteLimit(work: Work, name: string): boolean {
  const { sql, counters } = work
  const limit = findLimit(sql, name)
  if (limit === undefined) return false
  const queue = sql(NAMED_BY).get(limit.id) as { name: string } | undefined
  if (queue !== undefined) throw limitInUse(name, queue.name)
  dropKeys(work, name)
  dropPermitsOf(work, limit.id)
  sql(DROP_PLACES).run(limit.id)
  sql(DELETE).run(limit.id)
  counters.take('settings')
  return true
}

export function drain(work: Work, name: string, forMs: number, key?: string): LimitRecord {
  const found = budgetOf(work, name, key)
  if (found.how === 'unknown') throw limitUnknown(name)
  if (found.how === 'wrong-key') throw wrongKey(name, found.perKey)
  const { limit } = found
  const budget = drained(limit.settings, limit.budget, forMs, work.now)
  saveBudget(work, limit.id, budget)
  return key === undefined
    ? recordOf(work, { ...limit, budget })
    : recordOf(work, needLimit(work, name), budget)
}

export function limits(look: Look): LimitRecord[] {
  return allLimits(look.sql).map((limit) => recordOf(look, limit))
}

/** The number of a limit for the queue that names it; LIMIT_UNKNOWN when there is none, OPTION_CONFLICT when it is one for each key. */
export function limitIdOf(look: Look, name: string | null): number | null {
  if (name === null) return null
  const { id, settings } = needLimit(look, name)
  if (isPerKey(settings)) throw perKeyOnQueue(name)
  return id
}

function needLimit({ sql }: Look, name: string): StoredLimit {
  const limit = findLimit(sql, name)
  if (limit === undefined) throw limitUnknown(name)
  return limit
}

/** A limit for each key has no budget of its own: what is told is that of a key that was never used, unless it is said of which. */
function recordOf(look: Look, own: StoredLimit, key?: BudgetState): LimitRecord {
  const limit = isPerKey(own.settings) ? { ...own, budget: key ?? EMPTY_BUDGET } : own
  return {
    name: limit.name,
    settings: limit.settings,
    available: availableOf(look, limit),
    held: limit.held,
    nextInMs: nextOf(look, limit),
    drainedMs: Math.max(0, limit.budget.drainedUntil - look.now),
    keys: countKeys(look, own),
  }
}
