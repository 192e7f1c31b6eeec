/**
 * The arithmetic of limits. It is pure and the same for both stores, which lock the row of the limit around
 * it. Instants are times of the database. docs/internals/decisions/waiting-for-a-limit.md explains it.
 */
import { DEFAULTS } from '../defaults.ts'
import type { ConcurrencySettings, LimitSettings, RateSettings } from './limit.ts'

/** The stored state of a limit. `paidAt` is unused by concurrency limits. */
export interface BudgetState {
  readonly paidAt: number
  /** The instant at which the next place in line starts; in the past when no request waits. */
  readonly reservedUntil: number
  /** Nothing is granted before this instant. */
  readonly drainedUntil: number
}

export const EMPTY_BUDGET: BudgetState = Object.freeze({ paidAt: 0, reservedUntil: 0, drainedUntil: 0 })

export interface Ask {
  readonly amount: number
  /** 0: try once, without a place in line. */
  readonly waitUpToMs: number
  /** Whether it was given a place in line before. It is then served before newcomers. */
  readonly hasPlace: boolean
}

export type Answer =
  | { readonly outcome: 'granted'; readonly waitMs: number }
  | { readonly outcome: 'later'; readonly inMs: number; readonly takesPlace: boolean }
  | { readonly outcome: 'never'; readonly most: number }

export interface Answered {
  readonly state: BudgetState
  readonly answers: readonly Answer[]
}

/** Answers the requests in order. `held` is the number of permits in use; rates ignore it. */
export function answer(
  settings: LimitSettings,
  state: BudgetState,
  asks: readonly Ask[],
  { now, held }: { readonly now: number; readonly held: number },
): Answered {
  return settings.type === 'rate'
    ? answerRate(settings, state, asks, now)
    : answerConcurrency(settings, state, asks, { now, held })
}

function answerRate(
  settings: RateSettings,
  before: BudgetState,
  asks: readonly Ask[],
  now: number,
): Answered {
  let state = before
  const costMs = settings.perMs / settings.amount
  const answers = asks.map((ask): Answer => {
    if (ask.amount > settings.burst) return { outcome: 'never', most: settings.burst }
    const paidAt = Math.max(state.paidAt, now, state.drainedUntil) + ask.amount * costMs
    const waitMs = atLeastHair(Math.max(paidAt - settings.burst * costMs, state.drainedUntil) - now)
    const isFirst = ask.hasPlace || state.reservedUntil <= now
    const isFull = state.paidAt - now < HAIR_MS
    if (isFirst ? waitMs <= ask.waitUpToMs : isFull && waitMs === 0) {
      state = { ...state, paidAt }
      return { outcome: 'granted', waitMs }
    }
    // The reserved time is close, so keep the reservation.
    const nearMs = 2 * Math.max(DEFAULTS.limitWaitMs, costMs)
    if (ask.hasPlace && waitMs <= nearMs) return later(waitMs - leadMs(ask, costMs), true)
    if (ask.waitUpToMs === 0) return later(waitMs, ask.hasPlace)
    // Also reserves a new time for requests whose reservation a drain invalidated. Otherwise they would all
    // retry at the same time, again and again.
    const placeAt = Math.max(state.reservedUntil, now + waitMs)
    const freeAt = Math.max(now, state.drainedUntil)
    const reservedUntil = placeAt + ask.amount * costMs
    if (reservedUntil - freeAt > DEFAULTS.limitLineMs)
      return later(freeAt - now + DEFAULTS.limitLineMs, false)
    state = { ...state, reservedUntil }
    return later(placeAt - now - leadMs(ask, costMs), true)
  })
  return { state, answers }
}

/**
 * How long before its token a request retries, so that a late retry wastes no budget. At most as long as the
 * request is willing to wait.
 */
function leadMs(ask: Ask, costMs: number): number {
  return Math.min(DEFAULTS.limitWaitMs, ask.waitUpToMs, Math.max(LEAST_LEAD_MS, 2 * costMs))
}

function answerConcurrency(
  settings: ConcurrencySettings,
  before: BudgetState,
  asks: readonly Ask[],
  { now, held }: { readonly now: number; readonly held: number },
): Answered {
  let state = before
  let out = held
  const answers = asks.map((ask): Answer => {
    if (ask.amount > settings.most) return { outcome: 'never', most: settings.most }
    if (state.drainedUntil <= now && out + ask.amount <= settings.most) {
      out += ask.amount
      return { outcome: 'granted', waitMs: 0 }
    }
    // The release of a permit cannot be predicted, so waiting requests retry one after another, not all at
    // once.
    const placeAt = Math.max(state.reservedUntil, now + PERMIT_AGAIN_MS, state.drainedUntil) + PERMIT_APART_MS
    const inMs = Math.min(placeAt - now, Math.max(DEFAULTS.limitLineMs, state.drainedUntil - now))
    if (ask.waitUpToMs === 0) return later(inMs, false)
    state = { ...state, reservedUntil: now + inMs }
    return later(inMs, true)
  })
  return { state, answers }
}

const LEAST_LEAD_MS = 50
const PERMIT_AGAIN_MS = 500
const PERMIT_APART_MS = 50

function later(inMs: number, takesPlace: boolean): Answer {
  return { outcome: 'later', inMs: Math.max(1, Math.ceil(inMs)), takesPlace }
}

/** The number of whole tokens or permits that can be acquired now. */
export function available(
  settings: LimitSettings,
  state: BudgetState,
  { now, held }: { readonly now: number; readonly held: number },
): number {
  if (state.drainedUntil > now) return 0
  if (settings.type === 'concurrency') return Math.max(0, settings.most - held)
  const aheadMs = Math.max(0, state.paidAt - now - HAIR_MS)
  return Math.max(0, Math.floor(settings.burst - (aheadMs * settings.amount) / settings.perMs))
}

/**
 * Tolerance for fractions of a millisecond. Sums of instants are exact to a quarter of a microsecond, so they
 * can miss a whole token by that much.
 */
const HAIR_MS = 0.001

function atLeastHair(ms: number): number {
  return ms < HAIR_MS ? 0 : ms
}

/**
 * The state after a claim acquired `amount` of what `available` returned, for a limit that is attached to a
 * queue.
 */
export function afterSpending(
  settings: LimitSettings,
  state: BudgetState,
  amount: number,
  now: number,
): BudgetState {
  if (settings.type === 'concurrency' || amount === 0) return state
  return { ...state, paidAt: Math.max(state.paidAt, now) + (amount * settings.perMs) / settings.amount }
}

/** Milliseconds until one can be acquired: 0 for now, null when that depends on a release. */
export function nextInMs(
  settings: LimitSettings,
  state: BudgetState,
  { now, held }: { readonly now: number; readonly held: number },
): number | null {
  if (available(settings, state, { now, held }) > 0) return 0
  const drainedMs = Math.max(0, state.drainedUntil - now)
  if (settings.type === 'concurrency') return settings.most > held ? drainedMs : null
  const costMs = settings.perMs / settings.amount
  return Math.max(drainedMs, Math.ceil(state.paidAt + costMs - settings.burst * costMs - now - HAIR_MS), 1)
}

/** Grants nothing for `forMs` and drops unused tokens. Never shortens a longer drain. */
export function drainBudget(
  settings: LimitSettings,
  state: BudgetState,
  forMs: number,
  now: number,
): BudgetState {
  const drainedUntil = Math.max(state.drainedUntil, now + forMs)
  if (settings.type === 'concurrency') return { ...state, drainedUntil }
  // After a drain, one token is available at once and the others accrue at the rate, because the upstream
  // would throttle a full burst again. A drain of 0 ms only drops the unused tokens.
  const gone = forMs === 0 ? settings.burst : settings.burst - 1
  const spentAll = drainedUntil + gone * (settings.perMs / settings.amount)
  return { ...state, drainedUntil, paidAt: Math.max(state.paidAt, spentAll) }
}

/**
 * The state after a settings change. Tokens granted but not yet paid for count at the new rate, and a drain
 * keeps its end. The line is dropped, because it was computed for the old settings.
 */
export function changeBudget(
  before: LimitSettings,
  after: LimitSettings,
  state: BudgetState,
  now: number,
): BudgetState {
  const forgotten = { ...state, reservedUntil: 0 }
  if (after.type === 'concurrency') return { ...forgotten, paidAt: 0 }
  if (before.type === 'concurrency') return { ...forgotten, paidAt: now }
  const from = Math.max(now, state.drainedUntil)
  const owed = (Math.max(0, state.paidAt - from) * before.amount) / before.perMs
  return { ...forgotten, paidAt: from + (owed * after.perMs) / after.amount }
}
