/** Validates the arguments of `acquire` before the store is called. */
import { BOUNDS, DEFAULTS } from '../defaults.ts'
import { checkObjectKeys } from '../options/known-keys.ts'
import { durationMs } from '../duration.ts'
import { JobmillError, quote } from '../errors.ts'
import type { LimitDraw, WaitingDraw } from './limit-handle.ts'
import { checkKey, checkName } from '../names.ts'
import { checkWhole } from '../numbers.ts'

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
  const { wait, ...rest } = draw
  if (wait === undefined) return { waitMs: DEFAULTS.limitWaitMs, rest }
  const waitMs = durationMs(wait, 'options.wait')
  if (waitMs <= DEFAULTS.limitWaitMs) return { waitMs, rest }
  throw new JobmillError('DURATION_INVALID', 'must not be longer than a second', {
    field: 'options.wait',
    value: quote(wait),
    fix: 'Omit it: after a second the job waits without occupying a worker',
  })
}

export function checkLimitKey(key: unknown, field: string): string {
  return checkKey(key, field, BOUNDS.limitKeyChars)
}
