/** Counts the entries of a history: a history without events violates no guarantee. */
import type { Entry } from '../../history/entry.ts'

export type Counts = Record<string, number>

export function countEntries(history: readonly Entry[]): Counts {
  const counts: Counts = {}
  history.forEach((one, at) => {
    addTo(counts, { [one.what]: 1 })
    const before = history[at - 1]
    // Leased as it was written.
    if (one.what === 'claimed' && before?.what === 'written' && before.job === one.job)
      addTo(counts, { 'handed off': 1 })
  })
  return counts
}

export function addTo(sums: Counts, counts: Readonly<Counts>): void {
  for (const [what, count] of Object.entries(counts)) sums[what] = (sums[what] ?? 0) + count
}
