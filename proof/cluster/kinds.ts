/** The work of this proof: which kinds there are, and which job the stream sends as its n-th. Nothing is left to chance. */

export const QUEUE = 'cluster'

/** The name of the schedule, and of the queue that its jobs go to. */
export const BEATS = 'beats'
export const BEAT_MS = 2_000
export const BEAT_EVERY = `every ${BEAT_MS}ms`

/** For the whole cluster: about twenty in each of the three processes. */
export const WORKERS = 60

/** quick: returns at once. steady: takes 50 to 500 ms. flaky: fails in its first attempt. ordered: has an order key. */
export const KINDS = ['quick', 'steady', 'flaky', 'ordered'] as const
export type Kind = (typeof KINDS)[number]

export interface Work {
  /** Its place in the stream: how a job is known whose id nobody was told. */
  readonly n: number
  readonly ms: number
  /** The order key, once more, for whoever writes down what ran. */
  readonly line: string | null
}

const LINES = 6
/** Of twenty jobs. */
const MIX: readonly Kind[] = [
  ...Array.from({ length: 8 }, () => 'quick' as const),
  ...Array.from({ length: 7 }, () => 'steady' as const),
  ...Array.from({ length: 2 }, () => 'flaky' as const),
  ...Array.from({ length: 3 }, () => 'ordered' as const),
]

export function workAt(n: number): { readonly kind: Kind; readonly work: Work } {
  // 7 and 20 have no common factor: each twenty is the whole mix, well shuffled.
  const kind = MIX[(n * 7) % MIX.length] ?? 'quick'
  if (kind === 'steady') return { kind, work: { n, ms: 50 + ((n * 137) % 451), line: null } }
  if (kind === 'ordered') return { kind, work: { n, ms: 20 + ((n * 37) % 81), line: lineOf(n) } }
  return { kind, work: { n, ms: 0, line: null } }
}

/** A turn further with each twenty, or some lines would never have a job. */
function lineOf(n: number): string {
  return `line-${((n + Math.floor(n / MIX.length)) % LINES) + 1}`
}
