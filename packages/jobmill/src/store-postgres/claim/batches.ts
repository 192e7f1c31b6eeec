/**
 * Batches: the new jobs of a large claim are running without a row for each. Statements that need the row of
 * a job unpack it first. A handle remembers its batches, so that it calls `unpack` only for jobs that may be
 * in one. That is a hint: a statement that does not find a job unpacks it and looks again. See
 * docs/internals/postgres-store.md.
 */

/** For fewer jobs, a row for each costs less than a batch. */
export const BATCH_FROM = 20
/** More batches than a process holds at a time. */
const MOST = 1_000

export type Leased = readonly { readonly id: string; readonly token: number }[]

/** The batches of this handle, with the number of jobs that it has not ended. */
export interface Batches {
  /** The minimum number of jobs for which a claim writes a batch; null for never. */
  readonly from: () => number | null
  add(token: number, jobs: number): void
  /** The tokens of those leases that may be in a batch. */
  tokensOf(leases: Leased): number[]
  /** Whether one of these leases was in a batch when this handle claimed it. */
  wereBatched(leases: Leased): boolean
  /** The batches of which these leases are the last ones, as far as this handle knows. */
  emptiedBy(leases: Leased): number[]
  ended(leases: Leased): void
  /** Other sessions have changed these batches. */
  forget(tokens: readonly number[]): void
  /** The next claims write a row for each job. The first call returns the tokens of all batches. */
  avoid(): number[]
}

export function batches(batchFrom: number): Batches {
  const sizes = new Map<number, number>()
  const claimed = new Set<number>()
  let isAvoided = false
  return {
    from: () => (isAvoided ? null : batchFrom),
    add(token, jobs) {
      sizes.set(token, jobs)
      claimed.add(token)
      for (const tokens of [sizes, claimed]) {
        const [oldest] = tokens.keys()
        if (tokens.size > MOST && oldest !== undefined) tokens.delete(oldest)
      }
    },
    tokensOf: (leases) =>
      sizes.size === 0
        ? []
        : [...new Set(leases.map(({ token }) => token))].filter((token) => sizes.has(token)),
    wereBatched: (leases) => leases.some(({ token }) => claimed.has(token)),
    emptiedBy(leases) {
      if (sizes.size === 0) return []
      const ending = new Map<number, number>()
      for (const { token } of leases) ending.set(token, (ending.get(token) ?? 0) + 1)
      return [...ending].flatMap(([token, jobs]) => (sizes.get(token) === jobs ? token : []))
    },
    ended(leases) {
      for (const { token } of leases) {
        const size = sizes.get(token)
        if (size === undefined) continue
        if (size > 1) sizes.set(token, size - 1)
        else sizes.delete(token)
      }
    },
    forget(tokens) {
      for (const token of tokens) sizes.delete(token)
    },
    avoid() {
      const tokens = isAvoided ? [] : [...claimed]
      isAvoided = true
      return tokens
    },
  }
}
