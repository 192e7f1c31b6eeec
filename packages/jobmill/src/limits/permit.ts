/** A permit as users hold it. */
import { BOUNDS } from '../job/defaults.ts'
import { checkObjectKeys } from '../job/known-keys.ts'
import type { LimitDraw, Permit } from '../job/limit-handle.ts'
import { checkName } from '../job/names.ts'
import { checkWhole } from '../job/numbers.ts'
import { checkLimitKey } from '../store/check-cluster.ts'
import type { Take } from '../store/limit.ts'

type Drawn = Pick<Take, 'limit' | 'amount' | 'key'>

export function permit({ limit, amount, key }: Drawn, giveBack: () => Promise<void>): Permit {
  let released: Promise<void> | null = null
  const release = (): Promise<void> => (released ??= giveBack())
  return { limit, ...(key !== undefined && { key }), amount, release, [Symbol.asyncDispose]: release }
}

/** What users name, checked before anything is asked. */
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
