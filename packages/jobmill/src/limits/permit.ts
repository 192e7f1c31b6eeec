/** A permit as users hold it. */
import { BOUNDS } from '../job/defaults.ts'
import type { Permit } from '../job/limit-handle.ts'
import { checkName } from '../job/names.ts'
import { checkWhole } from '../job/numbers.ts'
import type { Take } from '../store/limit.ts'

export function permit({ limit, amount }: Take, giveBack: () => Promise<void>): Permit {
  let released: Promise<void> | null = null
  const release = (): Promise<void> => (released ??= giveBack())
  return { limit, amount, release, [Symbol.asyncDispose]: release }
}

/** What users name, checked before anything is asked. */
export function checkDraw(name: string, amount: number): Pick<Take, 'limit' | 'amount'> {
  return { limit: checkName(name, 'limit'), amount: checkWhole(amount, 'amount', BOUNDS.limit) }
}
