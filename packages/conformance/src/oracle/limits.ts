/** Limits: their settings, requests, budgets and permits. The arithmetic is shared by every store. */
import {
  type Acquired,
  type AcquireRequest,
  afterSpending,
  answer,
  available,
  changeBudget,
  createdLimit,
  type DeclaredLimit,
  drainBudget,
  droppedOptions,
  effectiveLimit,
  EMPTY_BUDGET,
  isPerKey,
  isSameLimit,
  keepsPerKey,
  limitExists,
  limitInCode,
  limitInUse,
  type LimitParts,
  type LimitRecord,
  type LimitSources,
  limitUnknown,
  nextInMs,
  NO_OVERRIDES,
  notInCode,
  overrideLimit,
  perKeyFixed,
  perKeyInCode,
  perKeyOnQueue,
  type PermitOf,
  resetLimit,
  wrongKey,
} from 'jobmill/store'
import { isAlive } from './instances/liveness.ts'
import { type OracleLimit, type OracleState, type Permit, stampOf } from './state.ts'

/** May throw halfway: `state` is a copy. */
export function declareLimits(state: OracleState, limits: readonly DeclaredLimit[]): void {
  for (const { name, settings } of limits) {
    const code = { ...settings }
    const known = state.limits.get(name)
    if (known === undefined) addLimit(state, name, { code, overrides: NO_OVERRIDES })
    else {
      const sources = { ...known.sources, code }
      if (isPerKey(effectiveLimit(sources))) checkNoQueue(state, name)
      write(state, name, sources)
    }
  }
}

function checkNoQueue(state: OracleState, name: string): void {
  const queues = [...state.queues]
  if (queues.some(([, { settings }]) => settings.limit === name)) throw perKeyOnQueue(name)
  const inCode = queues.find(([, { sources }]) => sources.code?.limit === name)
  if (inCode !== undefined) throw perKeyInCode(name, inCode[0])
}

export function createLimit(state: OracleState, name: string, parts: LimitParts, by?: string): LimitRecord {
  const sources = createdLimit(parts, stampOf(state, by))
  const known = state.limits.get(name)
  if (known === undefined) addLimit(state, name, sources)
  else if (!isSameLimit(known.settings, effectiveLimit(sources))) throw limitExists(name)
  return liveLimit(state, name)
}

function addLimit(state: OracleState, name: string, sources: LimitSources): void {
  state.limits.set(name, newLimit(sources))
  state.settingsVersion += 1
}

function newLimit(sources: LimitSources): OracleLimit {
  return {
    settings: effectiveLimit(sources),
    sources,
    budget: EMPTY_BUDGET,
    places: new Map(),
    permits: new Map(),
    keys: new Map(),
  }
}

export function changeLimit(state: OracleState, name: string, parts: LimitParts, by?: string): LimitRecord {
  const limit = limitOf(state, name)
  const perKey = isPerKey(limit.settings)
  if (!keepsPerKey(parts, perKey)) throw perKeyFixed(name, perKey)
  rework(state, limit, overrideLimit(limit.sources, parts, stampOf(state, by)))
  return liveLimit(state, name)
}

export function resetLimitOverrides(
  state: OracleState,
  name: string,
  options: readonly string[] | null,
): string[] {
  const limit = limitOf(state, name)
  if (limit.sources.code === null) throw notInCode('limit', name)
  const { overrides } = limit.sources
  write(state, name, resetLimit(limit.sources, options))
  return droppedOptions(overrides, limit.sources.overrides)
}

/** A change that does not affect the live settings leaves budgets and places as they are. */
function write(state: OracleState, name: string, sources: LimitSources): void {
  const limit = limitOf(state, name)
  if (isSameLimit(limit.settings, effectiveLimit(sources))) limit.sources = sources
  else rework(state, limit, sources)
}

function rework(state: OracleState, limit: OracleLimit, sources: LimitSources): void {
  const settings = effectiveLimit(sources)
  const isOther = isPerKey(settings) !== isPerKey(limit.settings)
  if (isOther) limit.keys.clear()
  for (const each of [limit, ...limit.keys.values()]) {
    each.budget = isOther ? EMPTY_BUDGET : changeBudget(each.settings, settings, each.budget, state.now)
    each.settings = { ...settings }
    each.places = new Map()
  }
  limit.sources = sources
  state.settingsVersion += 1
}

export function deleteLimit(state: OracleState, name: string): boolean {
  for (const [queue, { settings }] of state.queues) if (settings.limit === name) throw limitInUse(name, queue)
  for (const [queue, { sources }] of state.queues)
    if (sources.code?.limit === name) throw limitInCode(name, queue)
  if (!state.limits.delete(name)) return false
  state.settingsVersion += 1
  return true
}

export function acquire(state: OracleState, items: readonly AcquireRequest[]): Acquired[] {
  return items.map((item) => acquireOne(state, item))
}

function acquireOne(state: OracleState, item: AcquireRequest): Acquired {
  const named = state.limits.get(item.limit)
  if (named === undefined) return { outcome: 'unknown' }
  const limit = budgetOf(named, item.key)
  if (limit === null) return { outcome: 'wrong-key', perKey: isPerKey(named.settings) }
  const isRate = limit.settings.type === 'rate'
  if (!isRate && !isCurrent(state, item)) return { outcome: 'stale' }
  const ask = { ...item, hasPlace: limit.places.has(item.holder) }
  const { state: budget, answers } = answer(limit.settings, limit.budget, [ask], usage(state, limit))
  limit.budget = budget
  const [decision] = answers
  if (decision === undefined) throw new Error('the limit returned no answer for the request')
  if (decision.outcome === 'never') return decision
  if (decision.outcome === 'later') {
    if (decision.takesPlace) limit.places.set(item.holder, state.now)
    return { outcome: 'later', inMs: decision.inMs }
  }
  limit.places.delete(item.holder)
  const { holder, amount, token, instance } = item
  if (!isRate) grantPermit(limit, holder, { amount, instance: token === null ? instance : null })
  return decision
}

/**
 * The budget of a request: the limit, or the budget of its key, which exists from its first use on. Null when
 * a key is missing or not allowed.
 */
function budgetOf(limit: OracleLimit, key: string | undefined): OracleLimit | null {
  if (isPerKey(limit.settings) !== (key !== undefined)) return null
  if (key === undefined) return limit
  const keyLimit = limit.keys.get(key) ?? newLimit(limit.sources)
  limit.keys.set(key, keyLimit)
  return keyLimit
}

/** A permit belongs to an attempt or an instance, so one of them must be current. */
function isCurrent(state: OracleState, { holder, token, instance }: AcquireRequest): boolean {
  if (token === null) return isAlive(state, instance)
  return state.jobs.get(holder)?.run?.token === token
}

function usage(state: OracleState, limit: OracleLimit): { readonly now: number; readonly held: number } {
  return { now: state.now, held: heldOf(limit) }
}

/** How many permits of a concurrency limit are in use. */
export function heldOf({ settings, permits }: OracleLimit): number {
  if (settings.type === 'rate') return 0
  return [...permits.values()].reduce((sum, { amount }) => sum + amount, 0)
}

/** Adds to the permits of the holder. */
function grantPermit(limit: OracleLimit, holder: string, { amount, instance }: Permit): void {
  const had = limit.permits.get(holder)?.amount ?? 0
  limit.permits.set(holder, { amount: had + amount, instance })
}

/** Releases the selected permits of every limit. */
export function dropPermits(state: OracleState, isGone: (holder: string, permit: Permit) => boolean): void {
  for (const { permits } of state.limits.values())
    for (const [holder, permit] of permits) if (isGone(holder, permit)) permits.delete(holder)
}

export function release(state: OracleState, items: readonly PermitOf[]): boolean[] {
  return items.map(({ limit, holder, token }) => {
    const isOwn = (state.jobs.get(holder)?.run?.token ?? null) === token
    return isOwn && (state.limits.get(limit)?.permits.delete(holder) ?? false)
  })
}

export function drain(state: OracleState, name: string, forMs: number, key?: string): LimitRecord {
  const limit = limitOf(state, name)
  const drawn = budgetOf(limit, key)
  if (drawn === null) throw wrongKey(name, isPerKey(limit.settings))
  drawn.budget = drainBudget(drawn.settings, drawn.budget, forMs, state.now)
  return limitRecord(state, name, { ...limit, budget: drawn.budget })
}

/** A claim leased these jobs: takes one token or permit for each. */
export function spend(state: OracleState, name: string, jobs: readonly string[]): void {
  const limit = limitOf(state, name)
  limit.budget = afterSpending(limit.settings, limit.budget, jobs.length, state.now)
  if (limit.settings.type === 'rate') return
  for (const job of jobs) grantPermit(limit, job, { amount: 1, instance: null })
}

export function limitOf(state: OracleState, name: string): OracleLimit {
  const limit = state.limits.get(name)
  if (limit === undefined) throw limitUnknown(name)
  return limit
}

/** The limit as it is now: a claim may lease as many jobs as are `available`. */
export function liveLimit(state: OracleState, name: string): LimitRecord {
  return limitRecord(state, name, limitOf(state, name))
}

export function limitRecord(state: OracleState, name: string, limit: OracleLimit): LimitRecord {
  const { settings, budget, keys } = limit
  const used = usage(state, limit)
  return {
    name,
    settings,
    available: available(settings, budget, used),
    held: used.held,
    nextInMs: nextInMs(settings, budget, used),
    drainedMs: Math.max(0, budget.drainedUntil - state.now),
    keys: isPerKey(settings) ? keys.size : null,
  }
}
