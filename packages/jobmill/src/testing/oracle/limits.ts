/** Limits: their settings, who draws on them, and what is left. The arithmetic is that of every store. */
import { answer, available, changed, drained, EMPTY_BUDGET, nextInMs, spent } from '../../job/budget.ts'
import { JobmillError, shown } from '../../job/errors.ts'
import type { LimitSettings } from '../../job/limit.ts'
import type { LimitRecord, PermitOf, Take, Taken } from '../../store/limit.ts'
import { isAlive } from './liveness.ts'
import { givePermit, heldOf } from './permits.ts'
import type { OracleLimit, OracleState } from './state.ts'

export function declareLimits(
  state: OracleState,
  limits: readonly { readonly name: string; readonly settings: LimitSettings }[],
): void {
  for (const { name, settings } of limits) {
    if (state.limits.has(name)) continue
    state.limits.set(name, {
      settings: { ...settings },
      budget: EMPTY_BUDGET,
      places: new Map(),
      permits: new Map(),
    })
    state.settingsVersion += 1
  }
}

export function changeLimit(
  state: OracleState,
  now: number,
  name: string,
  settings: LimitSettings,
): LimitRecord {
  const limit = limitOf(state, name)
  limit.budget = changed(limit.settings, settings, limit.budget, now)
  limit.settings = { ...settings }
  limit.places = new Map()
  state.settingsVersion += 1
  return limitRecord(now, name, limit)
}

export function deleteLimit(state: OracleState, name: string): boolean {
  for (const [queue, { settings }] of state.queues) {
    if (settings.limit !== name) continue
    throw new JobmillError('LIMIT_IN_USE', `the queue ${queue} draws on it`, { value: shown(name) })
  }
  if (!state.limits.delete(name)) return false
  state.settingsVersion += 1
  return true
}

export function take(state: OracleState, now: number, items: readonly Take[]): Taken[] {
  return items.map((item) => takeOne(state, now, item))
}

function takeOne(state: OracleState, now: number, item: Take): Taken {
  const limit = state.limits.get(item.limit)
  if (limit === undefined) return { outcome: 'unknown' }
  const isRate = limit.settings.type === 'rate'
  if (!isRate && !isCurrent(state, now, item)) return { outcome: 'stale' }
  const ask = { ...item, hasPlace: limit.places.has(item.holder) }
  const { state: budget, answers } = answer(limit.settings, limit.budget, [ask], { now, held: heldOf(limit) })
  limit.budget = budget
  const [told] = answers
  if (told === undefined) throw new Error('one ask has one answer')
  if (told.outcome === 'never') return told
  if (told.outcome === 'later') {
    if (told.takesPlace) limit.places.set(item.holder, now)
    return { outcome: 'later', inMs: told.inMs }
  }
  limit.places.delete(item.holder)
  const { holder, amount, token, instance } = item
  if (!isRate) givePermit(limit, holder, { amount, instance: token === null ? instance : null })
  return told
}

/** A permit goes with the attempt or with the instance, so that one of them must be there. */
function isCurrent(state: OracleState, now: number, { holder, token, instance }: Take): boolean {
  if (token === null) return isAlive(state, now, instance)
  return state.jobs.get(holder)?.run?.token === token
}

export function giveBack(state: OracleState, items: readonly PermitOf[]): boolean[] {
  return items.map(({ limit, holder, token }) => {
    const isOwn = (state.jobs.get(holder)?.run?.token ?? null) === token
    return isOwn && (state.limits.get(limit)?.permits.delete(holder) ?? false)
  })
}

export function drain(state: OracleState, now: number, name: string, forMs: number): LimitRecord {
  const limit = limitOf(state, name)
  limit.budget = drained(limit.settings, limit.budget, forMs, now)
  return limitRecord(now, name, limit)
}

/** How many jobs a claim may take on account of this limit. */
export function roomIn(state: OracleState, now: number, name: string): number {
  const limit = limitOf(state, name)
  return available(limit.settings, limit.budget, { now, held: heldOf(limit) })
}

export function roomInMs(state: OracleState, now: number, name: string): number | null {
  const limit = limitOf(state, name)
  return nextInMs(limit.settings, limit.budget, { now, held: heldOf(limit) })
}

/** A claim took these jobs: one token or permit for each. */
export function spend(state: OracleState, now: number, name: string, jobs: readonly string[]): void {
  const limit = limitOf(state, name)
  limit.budget = spent(limit.settings, limit.budget, jobs.length, now)
  if (limit.settings.type === 'rate') return
  for (const job of jobs) givePermit(limit, job, { amount: 1, instance: null })
}

export function limitOf(state: OracleState, name: string): OracleLimit {
  const limit = state.limits.get(name)
  if (limit === undefined)
    throw new JobmillError('LIMIT_UNKNOWN', 'no limit has this name', { value: shown(name) })
  return limit
}

export function limitRecord(
  now: number,
  name: string,
  { settings, budget, ...rest }: OracleLimit,
): LimitRecord {
  const held = heldOf({ settings, budget, ...rest })
  return {
    name,
    settings,
    available: available(settings, budget, { now, held }),
    held,
    nextInMs: nextInMs(settings, budget, { now, held }),
    drainedMs: Math.max(0, budget.drainedUntil - now),
  }
}
