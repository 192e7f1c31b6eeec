/** The API of limits, inside a handler and anywhere else, and the checks of its arguments. */
import { BOUNDS, DEFAULTS } from '../defaults.ts'
import { type Duration, durationMs } from '../duration.ts'
import { invalidValue } from '../errors.ts'
import { checkKey, checkName } from '../names.ts'
import { checkWhole } from '../numbers.ts'
import { checkObjectKeys } from '../options/known-keys.ts'

/**
 * Tokens or permits acquired from a limit. `await using permit = await limit.acquire('db')` releases them at
 * the end of the block.
 */
export interface Permit extends AsyncDisposable {
  readonly limit: string
  /** Only for a limit that counts each key separately. */
  readonly key?: string | undefined
  readonly amount: number
  /** Releases the permit now. Tokens of a rate cannot be released. Idempotent; never throws. */
  release(): Promise<void>
}

export interface DrainLimitOptions {
  /**
   * The wait that the upstream asked for: no process is granted anything for this long (at most 24 h).
   * Omitted: only the unused tokens are dropped.
   */
  readonly retryAfter?: Duration
  /** For a limit that counts each key separately: drains only this key. */
  readonly key?: string | undefined
}

/** The amount to acquire, and its key. */
export interface LimitDraw {
  /** Tokens or permits (default 1). */
  readonly amount?: number | undefined
  /** Required by a limit that counts each key separately (`perKey`): selects the budget. */
  readonly key?: string | undefined
}

/** The options of `acquire` in a handler, which may wait in place. */
export interface WaitingDraw extends LimitDraw {
  /**
   * How long, at most a second (the default). With 0, the worker is freed at once, and the job runs again
   * when budget is available.
   */
  readonly wait?: Duration | undefined
}

/** `limit` in the context of a handler. */
export interface LimitInside {
  /**
   * Acquires from a limit, waiting up to a second. If that is not enough it throws a `Snooze`: the job runs
   * again when budget is available, and the attempt is not spent. So call it before the work, and do not
   * catch its error. Permits are released when the attempt ends, or by `release`. A number is the amount.
   * A limit with `perKey` needs the key: `{ key: 'chat:42' }`.
   */
  readonly acquire: (name: string, draw?: number | WaitingDraw) => Promise<Permit>
  /** Never waits: null when nothing is available now. */
  readonly tryAcquire: (name: string, draw?: number | LimitDraw) => Promise<Permit | null>
  /** Reports that the upstream refused calls: no process is granted anything for a while. */
  readonly drain: (name: string, options?: DrainLimitOptions) => Promise<void>
}

export interface AcquireOptions {
  /** Tokens or permits (default 1). */
  readonly amount?: number
  /** Ends the wait by throwing the reason of the signal. */
  readonly signal?: AbortSignal
  /**
   * How long to wait before throwing a `TimeoutError`, as `AbortSignal.timeout` does. Omitted: no timeout.
   */
  readonly timeout?: Duration
}

/** Selects the budget of a limit that counts each key separately. */
export type LimitOf = Pick<LimitDraw, 'key'>

/** A limit outside of handlers, with the same budget. */
export interface LimitHandle {
  readonly name: string
  readonly key?: string | undefined
  /**
   * Waits in place, without a time limit. Permits of a concurrency limit need a started mill and are released
   * when it stops.
   */
  readonly acquire: (options?: AcquireOptions) => Promise<Permit>
  /** Never waits: null when nothing is available now. */
  readonly tryAcquire: (amount?: number) => Promise<Permit | null>
  readonly drain: (options?: Omit<DrainLimitOptions, 'key'>) => Promise<void>
}

export interface DrawResult {
  readonly limit: string
  readonly amount: number
  readonly key?: string | undefined
}

/** A number is the amount. */
export function checkDraw(name: string, draw: number | LimitDraw = 1): DrawResult {
  const limit = checkName(name, 'limit')
  if (typeof draw !== 'object') return { limit, amount: checkWhole(draw, 'amount', BOUNDS.limit) }
  checkObjectKeys(draw, 'options', ['amount', 'key'])
  const { amount = 1, key } = draw
  return {
    limit,
    amount: checkWhole(amount, 'amount', BOUNDS.limit),
    ...(key !== undefined && { key: checkLimitKey(key, 'key') }),
  }
}

/** Splits off how long a handler waits in place; `checkDraw` validates the rest. */
export function checkWait(draw: number | WaitingDraw = 1): {
  readonly waitMs: number
  readonly rest: number | LimitDraw
} {
  if (typeof draw !== 'object' || draw === null) return { waitMs: DEFAULTS.limitWaitMs, rest: draw }
  checkObjectKeys(draw, 'options', ['amount', 'key', 'wait'])
  const { wait, ...rest } = draw
  if (wait === undefined) return { waitMs: DEFAULTS.limitWaitMs, rest }
  const waitMs = durationMs(wait, 'options.wait')
  if (waitMs <= DEFAULTS.limitWaitMs) return { waitMs, rest }
  const fix = 'Omit it: after a second the job waits without occupying a worker'
  throw invalidValue('options.wait', wait, 'must not be longer than a second', fix, 'DURATION_INVALID')
}

export function checkLimitKey(key: unknown, field: string): string {
  return checkKey(key, field, BOUNDS.limitKeyChars)
}
