/** Permits of concurrency limits: how many are in use, and when they are released. */
import type { OracleLimit, OracleState, Permit } from './state.ts'

export function heldOf({ settings, permits }: OracleLimit): number {
  if (settings.type === 'rate') return 0
  return [...permits.values()].reduce((sum, { amount }) => sum + amount, 0)
}

/** Adds to the permits of the holder. */
export function grantPermit(limit: OracleLimit, holder: string, { amount, instance }: Permit): void {
  const had = limit.permits.get(holder)?.amount ?? 0
  limit.permits.set(holder, { amount: had + amount, instance })
}

/** Releases the selected permits of every limit. */
export function dropPermits(state: OracleState, isGone: (holder: string, permit: Permit) => boolean): void {
  for (const { permits } of state.limits.values())
    for (const [holder, permit] of permits) if (isGone(holder, permit)) permits.delete(holder)
}
