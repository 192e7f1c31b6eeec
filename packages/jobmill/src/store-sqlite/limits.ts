/** Limits: created once, changed and drained by operators, told to whoever asks. */
import { changed, drained, EMPTY_BUDGET } from '../job/budget.ts'
import type { LimitSettings } from '../job/limit.ts'
import { limitInUse, limitUnknown } from '../store/cluster-errors.ts'
import type { LimitRecord } from '../store/limit.ts'
import { allLimits, availableOf, findLimit, nextOf, saveBudget, type StoredLimit } from './limit-row.ts'
import { dropPermitsOf, ringFor } from './permits.ts'
import type { Look, Work } from './work.ts'

// By primary key, except for the first queue that jobmill_queue_limit has for it.
const CREATE = `
  INSERT INTO jobmill_limit (name, settings, paid_at, line_at, drained_until, held) VALUES (?, ?, ?, ?, ?, 0)`
const CHANGE = `UPDATE jobmill_limit SET settings = ? WHERE id = ?`
const DELETE = `DELETE FROM jobmill_limit WHERE id = ?`
const DROP_PLACES = `DELETE FROM jobmill_place WHERE limit_id = ?`
const NAMED_BY = `SELECT name FROM jobmill_queue INDEXED BY jobmill_queue_limit WHERE limit_id = ? LIMIT 1`

export interface DeclaredLimit {
  readonly name: string
  readonly settings: LimitSettings
}

export function declareLimits({ sql, counters }: Work, limits: readonly DeclaredLimit[]): void {
  for (const { name, settings } of limits) {
    if (findLimit(sql, name) !== undefined) continue
    const { paidAt, lineAt, drainedUntil } = EMPTY_BUDGET
    sql(CREATE).run(name, JSON.stringify(settings), paidAt, lineAt, drainedUntil)
    counters.take('settings')
  }
}

/** Who holds permits keeps them; who has a place in the line got it at the old rate, and loses it. */
export function changeLimit(work: Work, name: string, settings: LimitSettings): LimitRecord {
  const { sql, now, counters } = work
  const limit = needLimit(work, name)
  saveBudget(work, limit.id, changed(limit.settings, settings, limit.budget, now))
  sql(CHANGE).run(JSON.stringify(settings), limit.id)
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
  dropPermitsOf(work, limit.id)
  sql(DROP_PLACES).run(limit.id)
  sql(DELETE).run(limit.id)
  counters.take('settings')
  return true
}

export function drain(work: Work, name: string, forMs: number): LimitRecord {
  const limit = needLimit(work, name)
  const budget = drained(limit.settings, limit.budget, forMs, work.now)
  saveBudget(work, limit.id, budget)
  return recordOf(work, { ...limit, budget })
}

export function limits(look: Look): LimitRecord[] {
  return allLimits(look.sql).map((limit) => recordOf(look, limit))
}

/** The number of a limit for the queue that names it; LIMIT_UNKNOWN when there is none. */
export function limitIdOf(look: Look, name: string | null): number | null {
  return name === null ? null : needLimit(look, name).id
}

function needLimit({ sql }: Look, name: string): StoredLimit {
  const limit = findLimit(sql, name)
  if (limit === undefined) throw limitUnknown(name)
  return limit
}

function recordOf(look: Look, limit: StoredLimit): LimitRecord {
  return {
    name: limit.name,
    settings: limit.settings,
    available: availableOf(look, limit),
    held: limit.held,
    nextInMs: nextOf(look, limit),
    drainedMs: Math.max(0, limit.budget.drainedUntil - look.now),
  }
}
