/** What users say when they draw on a limit, checked before anything is asked. */
import { BOUNDS } from './defaults.ts'
import { checkObjectKeys } from './known-keys.ts'
import type { LimitDraw } from './limit-handle.ts'
import { checkKey, checkName } from './names.ts'
import { checkWhole } from './numbers.ts'

export interface Drawn {
  readonly limit: string
  readonly amount: number
  readonly key?: string | undefined
}

/** A number is the amount. */
export function checkDraw(name: string, draw: number | LimitDraw = 1): Drawn {
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

export function checkLimitKey(key: unknown, field: string): string {
  return checkKey(key, field, BOUNDS.limitKeyChars)
}
