/**
 * Explains why a job ran more than once. A retry after a failure is planned. A run cut off by a crash, or by
 * a lease lost in a database outage, is explained. Anything else violates a guarantee.
 */
import type { Run } from '../ledger.ts'
import type { Outage } from '../places.ts'

export interface Death {
  readonly worker: number
  readonly at: number
}

/** A worker whose mill reported a lost lease. */
type Loss = Death

/** A worker that could not keep its lease and learned it later: it was frozen, or its clock was wrong. */
export interface Stillness {
  readonly worker: number
  readonly from: number
  readonly to: number
}

export interface Trouble {
  readonly deaths: readonly Death[]
  readonly losses: readonly Loss[]
  readonly stillnesses: readonly Stillness[]
  readonly outages: readonly Outage[]
}

export interface Repeat {
  readonly first: Run
  readonly next: Run
  readonly why: 'planned' | 'process died' | 'lease lost' | 'stood still' | 'no reason'
}

/**
 * How long a process on a busy machine takes to notice that it was resumed. Until then, it may start a job
 * whose lease it checked just before it was frozen.
 */
export const AWAKENING_MS = 1_000

/** The default lease: a lease lost this long after an outage was lost because of it. */
const LEASE_MS = 10_000

export function repeats(runs: readonly Run[], trouble: Trouble): Repeat[] {
  const byJob = Map.groupBy(runs, ({ id }) => id)
  return [...byJob.values()].flatMap((ofOne) => {
    const inOrder = ofOne.toSorted((a, b) => a.token - b.token || a.startedAt - b.startedAt)
    return inOrder.slice(1).map((next, at) => {
      const first = inOrder[at] ?? next
      return { first, next, why: reason(first, next, trouble) }
    })
  })
}

function reason(first: Run, next: Run, { deaths, losses, stillnesses, outages }: Trouble): Repeat['why'] {
  if (first.how === 'failed' && next.attempt === first.attempt + 1) return 'planned'
  // A committed outcome stays committed, whatever crashed afterwards.
  if (first.reportedAt !== null && first.how === 'returned') return 'no reason'
  const within = ({ worker, at }: Death): boolean =>
    worker === first.worker && at >= first.startedAt && at <= next.startedAt
  if (deaths.some(within)) return 'process died'
  const lostToo = ({ at }: Loss): boolean => outages.some(({ from, to }) => at >= from && at <= to + LEASE_MS)
  if (losses.some((loss) => within(loss) && lostToo(loss))) return 'lease lost'
  const stoodStill = stillnesses.some(
    ({ worker, from, to }) =>
      worker === first.worker &&
      first.startedAt <= to + AWAKENING_MS &&
      (first.endedAt ?? to) >= from &&
      next.startedAt >= from,
  )
  return stoodStill ? 'stood still' : 'no reason'
}
