/** Counts what this process has swept, by reason. */
export const OUTCOMES = [
  'acked',
  'expired_fetched',
  'expired_unfetched',
  'orphan_blob',
  'mailbox_removed',
] as const

export type SweptOutcome = (typeof OUTCOMES)[number]
export type SweptCounts = Readonly<Record<SweptOutcome, number>>

export type SweepCounter = ReturnType<typeof sweepCounter>

/** `tell` is called for each count, to feed a metric. */
export function sweepCounter(tell: (outcome: SweptOutcome, n: number) => void) {
  const totals = zeroCounts()
  return {
    add(outcome: SweptOutcome, n: number): void {
      if (n === 0) return
      totals[outcome] += n
      tell(outcome, n)
    },
    totals: (): SweptCounts => ({ ...totals }),
  }
}

export function zeroCounts(): Record<SweptOutcome, number> {
  return { acked: 0, expired_fetched: 0, expired_unfetched: 0, orphan_blob: 0, mailbox_removed: 0 }
}
