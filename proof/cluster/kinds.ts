/** The workload of this proof: the kinds, and the n-th job of the stream. It is deterministic. */

export const QUEUE = 'cluster'

/** The name of the schedule and of its queue. */
export const BEATS = 'beats'
export const BEAT_MS = 2_000
export const BEAT_EVERY = `every ${BEAT_MS}ms`

/** For the whole cluster: about twenty per process. */
export const WORKERS = 60

/**
 * quick: returns immediately. steady: takes 50 to 500 ms. flaky: fails in its first attempt. ordered: has an
 * order key.
 */
export const KINDS = ['quick', 'steady', 'flaky', 'ordered'] as const
export type Kind = (typeof KINDS)[number]

export interface Work {
  /** Its number in the stream, which identifies a job without an acknowledged id. */
  readonly n: number
  readonly ms: number
  /** A copy of the order key, for the record of runs. */
  readonly orderKey: string | null
}

const ORDER_KEYS = 6
/** Out of twenty jobs. */
const MIX: readonly Kind[] = [
  ...Array.from({ length: 8 }, () => 'quick' as const),
  ...Array.from({ length: 7 }, () => 'steady' as const),
  ...Array.from({ length: 2 }, () => 'flaky' as const),
  ...Array.from({ length: 3 }, () => 'ordered' as const),
]

export function workAt(n: number): { readonly kind: Kind; readonly work: Work } {
  // 7 and 20 have no common factor, so each twenty jobs are the whole mix in shuffled order.
  const kind = MIX[(n * 7) % MIX.length] ?? 'quick'
  if (kind === 'steady') return { kind, work: { n, ms: 50 + ((n * 137) % 451), orderKey: null } }
  if (kind === 'ordered') return { kind, work: { n, ms: 20 + ((n * 37) % 81), orderKey: orderKeyOf(n) } }
  return { kind, work: { n, ms: 0, orderKey: null } }
}

/** Shifts by one with each twenty jobs, so that every order key gets jobs. */
function orderKeyOf(n: number): string {
  return `order-${((n + Math.floor(n / MIX.length)) % ORDER_KEYS) + 1}`
}
