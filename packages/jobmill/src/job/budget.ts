/**
 * The arithmetic of limits: pure, and the same for every store, which locks the row of the limit around it. Instants are the database's.
 *
 * A rate is kept as the instant at which all that was granted so far is paid for (`paidAt`). A grant moves it by `amount × perMs / rate`; it may run ahead
 * of now by the burst. So whatever happens, in any window t no more than burst + rate × t is granted. A holder that need not wait longer than it is
 * ready to is granted its instant and waits for it where it is; others get a place in a line, which is only a hint when to come back: nothing is paid
 * for until it is used, so nothing is lost when the holder never comes. While there is a line, what gathers is for those in it, and newcomers take only
 * what would overflow: else one who needs many at once would be overtaken for ever.
 */
import { DEFAULTS } from './defaults.ts'
import type { ConcurrencySettings, LimitSettings, RateSettings } from './limit.ts'

/** What is kept of a limit. For a concurrency limit `paidAt` means nothing. */
export interface BudgetState {
  readonly paidAt: number
  /** Where the line of those who were sent away ends; in the past when there is none. */
  readonly reservedUntil: number
  /** Nothing is granted before this instant. */
  readonly drainedUntil: number
}

export const EMPTY_BUDGET: BudgetState = Object.freeze({ paidAt: 0, reservedUntil: 0, drainedUntil: 0 })

export interface Ask {
  readonly amount: number
  /** 0: it only tries, and takes no place in the line. */
  readonly waitUpToMs: number
  /** Whether it was sent away before: then it goes before newcomers. */
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

/** Asks are answered in their order. `held` is how many permits are out; of a rate it means nothing. */
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
    // It is nearly its turn.
    const nearMs = 2 * Math.max(DEFAULTS.limitWaitMs, costMs)
    if (ask.hasPlace && waitMs <= nearMs) return later(waitMs - leadMs(ask, costMs), true)
    if (ask.waitUpToMs === 0) return later(waitMs, ask.hasPlace)
    // Also for one whose place a drain made worthless: else all of them would come back together, again and again.
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

/** Who comes back comes a little before its token: what it is late by is not lost then. No earlier than it is ready to wait for. */
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
    // Nobody knows when a permit comes back. Who was sent away comes back one after the other, not all at once.
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

/** Whole tokens or permits that could be taken at once now. */
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

/** An instant with fractions of a millisecond is exact to a quarter of a microsecond: a sum of them may miss a whole token by that. */
const HAIR_MS = 0.001

function atLeastHair(ms: number): number {
  return ms < HAIR_MS ? 0 : ms
}

/** After `amount` of what `available` told was taken, by a claim from a queue that this limit is attached to. */
export function spent(settings: LimitSettings, state: BudgetState, amount: number, now: number): BudgetState {
  if (settings.type === 'concurrency' || amount === 0) return state
  return { ...state, paidAt: Math.max(state.paidAt, now) + (amount * settings.perMs) / settings.amount }
}

/** How long until one can be taken: 0 for now, null when only a release can tell. */
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

/** Nothing is granted for so long; what had gathered is gone. Never shortens a drain that lasts longer. */
export function drained(
  settings: LimitSettings,
  state: BudgetState,
  forMs: number,
  now: number,
): BudgetState {
  const drainedUntil = Math.max(state.drainedUntil, now + forMs)
  if (settings.type === 'concurrency') return { ...state, drainedUntil }
  // When its time is over one token is there at once, and the others come at the rate: a full burst would run into the next refusal.
  const gone = forMs === 0 ? settings.burst : settings.burst - 1
  const spentAll = drainedUntil + gone * (settings.perMs / settings.amount)
  return { ...state, drainedUntil, paidAt: Math.max(state.paidAt, spentAll) }
}

/** What was granted and is not paid for yet counts at the new rate; a drain lasts as long as it did. The line is forgotten: it was made for the old one. */
export function changed(
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
