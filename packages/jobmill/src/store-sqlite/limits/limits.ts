/**
 * Limits: declares them from code; applies overrides, drains and deletions by operators; and reads the
 * settings in effect.
 */
import { type BudgetState, changeBudget, drainBudget, EMPTY_BUDGET } from '../../job/limit/budget.ts'
import { isPerKey, type LimitParts, type LimitSettings } from '../../job/limit/limit.ts'
import {
  createdLimit,
  effectiveLimit,
  isSameLimit,
  keepsPerKey,
  limitOverrides,
  type LimitSources,
  overrideLimit,
  resetLimit,
} from '../../job/limit/limit-sources.ts'
import { droppedOptions, NO_OVERRIDES, type OverrideRecord } from '../../job/queue/overrides.ts'
import {
  limitExists,
  limitInCode,
  limitInUse,
  limitUnknown,
  notInCode,
  perKeyFixed,
  perKeyInCode,
  perKeyOnQueue,
  wrongKey,
} from '../../store/cluster-errors.ts'
import type { DeclaredLimit, LimitRecord } from '../../store/types/limit.ts'
import {
  allLimits,
  availableOf,
  budgetOf,
  changeKeys,
  countKeys,
  dropKeys,
  findLimit,
  insertLimit,
  nextOf,
  saveBudget,
  type StoredLimit,
} from './limit-row.ts'
import { dropPermitsOf, notifyFor } from './permits.ts'
import { codeText, sourcesOf, sourceTexts } from '../queues/sources.ts'
import type { Look, Work } from '../work.ts'

// All use the primary key, except that the last one finds the first queue with the limit through
// jobmill_queue_limit.
const SAVE = `UPDATE jobmill_limit SET settings = ?, code = ?, overrides = ? WHERE id = ?`
const SOURCES = `SELECT code, overrides FROM jobmill_limit WHERE id = ?`
const DELETE = `DELETE FROM jobmill_limit WHERE id = ?`
const DROP_PLACES = `DELETE FROM jobmill_limit_waiter WHERE limit_id = ?`
const NAMED_BY = `SELECT name FROM jobmill_queue INDEXED BY jobmill_queue_limit WHERE limit_id = ? LIMIT 1`

// There are few queues.
const NAMED_IN_CODE = `SELECT name FROM jobmill_queue WHERE code ->> '$.limit' = ? LIMIT 1`

export function declareLimits(work: Work, limits: readonly DeclaredLimit[]): void {
  for (const { name, settings: code } of limits) {
    const known = findLimit(work.sql, name)
    if (known === undefined) create(work, name, { code, overrides: NO_OVERRIDES })
    else {
      const before = limitSources(work, known.id)
      if (codeText(code) !== codeText(before.code)) apply(work, known, { ...before, code })
    }
  }
}

export function createLimit(work: Work, name: string, parts: LimitParts, by?: string): LimitRecord {
  const known = findLimit(work.sql, name)
  const sources = createdLimit(parts, { by: by ?? null, at: work.now })
  if (known === undefined) create(work, name, sources)
  else if (!isSameLimit(known.settings, effectiveLimit(sources))) throw limitExists(name)
  return recordOf(work, needLimit(work, name))
}

function create({ sql, counters }: Work, name: string, sources: LimitSources): void {
  insertLimit(sql, name, effectiveLimit(sources), sources)
  counters.take('settings')
}

/** Holders keep their permits. Waiters lose their place in line, because it was computed at the old rate. */
export function changeLimit(work: Work, name: string, parts: LimitParts, by?: string): LimitRecord {
  const limit = needLimit(work, name)
  const perKey = isPerKey(limit.settings)
  if (!keepsPerKey(parts, perKey)) throw perKeyFixed(name, perKey)
  const sources = overrideLimit(limitSources(work, limit.id), parts, { by: by ?? null, at: work.now })
  rework(work, limit, sources)
  return recordOf(work, needLimit(work, name))
}

export function resetLimitOverrides(work: Work, name: string, options: readonly string[] | null): string[] {
  const limit = needLimit(work, name)
  const before = limitSources(work, limit.id)
  if (before.code === null) throw notInCode('limit', name)
  const sources = resetLimit(before, options)
  apply(work, limit, sources)
  return droppedOptions(before.overrides, sources.overrides)
}

/** Budgets and places in line stay unless the settings in effect change. */
function apply(work: Work, limit: StoredLimit, sources: LimitSources): void {
  if (isSameLimit(effectiveLimit(sources), limit.settings)) saveLimit(work, limit.id, limit.settings, sources)
  else rework(work, limit, sources)
}

function rework(work: Work, limit: StoredLimit, sources: LimitSources): void {
  const { sql, now, counters } = work
  const settings = effectiveLimit(sources)
  if (isPerKey(settings) !== isPerKey(limit.settings)) {
    if (isPerKey(settings)) checkNoQueue(work, limit)
    dropKeys(work, limit.name)
    saveBudget(work, limit.id, EMPTY_BUDGET)
  } else {
    if (isPerKey(settings)) changeKeys(work, limit.name, settings)
    saveBudget(work, limit.id, changeBudget(limit.settings, settings, limit.budget, now))
  }
  saveLimit(work, limit.id, settings, sources)
  sql(DROP_PLACES).run(limit.id)
  counters.take('settings')
  // More may be available now.
  notifyFor(work, limit.id)
}

export function saveLimit({ sql }: Work, id: number, settings: LimitSettings, sources: LimitSources): void {
  sql(SAVE).run(JSON.stringify(settings), ...sourceTexts(sources), id)
}

export function limitSources({ sql }: Look, id: number): LimitSources {
  return sourcesOf(sql(SOURCES).get(id) as Parameters<typeof sourcesOf>[0])
}

export function overridesOfLimits(look: Look): OverrideRecord[] {
  return allLimits(look.sql).flatMap((limit) => limitOverrides(limit.name, limitSources(look, limit.id)))
}

export function deleteLimit(work: Work, name: string): boolean {
  const { sql, counters } = work
  const limit = findLimit(sql, name)
  if (limit === undefined) return false
  const queue = namedBy(work, limit.id)
  if (queue !== undefined) throw limitInUse(name, queue)
  const inCode = namedInCode(work, name)
  if (inCode !== undefined) throw limitInCode(name, inCode)
  dropKeys(work, name)
  dropPermitsOf(work, limit.id)
  sql(DROP_PLACES).run(limit.id)
  sql(DELETE).run(limit.id)
  counters.take('settings')
  return true
}

export function drain(work: Work, name: string, forMs: number, key?: string): LimitRecord {
  const found = budgetOf(work, name, key)
  if ('outcome' in found)
    throw found.outcome === 'unknown' ? limitUnknown(name) : wrongKey(name, found.perKey)
  const budget = drainBudget(found.settings, found.budget, forMs, work.now)
  saveBudget(work, found.id, budget)
  return recordOf(work, needLimit(work, name), budget)
}

export function limits(look: Look): LimitRecord[] {
  return allLimits(look.sql).map((limit) => recordOf(look, limit))
}

/**
 * The id of a limit for the queue that names it. Throws LIMIT_UNKNOWN when there is none, and OPTION_CONFLICT
 * when it counts each key separately.
 */
export function limitIdOf(look: Look, name: string | null): number | null {
  if (name === null) return null
  const { id, settings } = needLimit(look, name)
  if (isPerKey(settings)) throw perKeyOnQueue(name)
  return id
}

/** A limit that queues use cannot become a limit per key. */
function checkNoQueue(look: Look, { id, name }: StoredLimit): void {
  if (namedBy(look, id) !== undefined) throw perKeyOnQueue(name)
  const inCode = namedInCode(look, name)
  if (inCode !== undefined) throw perKeyInCode(name, inCode)
}

function namedInCode({ sql }: Look, name: string): string | undefined {
  return (sql(NAMED_IN_CODE).get(name) as { name: string } | undefined)?.name
}

function namedBy({ sql }: Look, id: number): string | undefined {
  return (sql(NAMED_BY).get(id) as { name: string } | undefined)?.name
}

function needLimit({ sql }: Look, name: string): StoredLimit {
  const limit = findLimit(sql, name)
  if (limit === undefined) throw limitUnknown(name)
  return limit
}

/**
 * A limit with `perKey` has no budget of its own: the record shows the budget of `key`, or that of an unused
 * key.
 */
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
