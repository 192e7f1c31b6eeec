/**
 * Splits the items of a call into rounds in which each key occurs once. Items with the same key must take
 * effect one after the other, which a set-based statement cannot do.
 */

export function inRounds<T>(items: readonly T[], keyOf: (item: T) => string): T[][] {
  const rounds: T[][] = []
  const seen = new Map<string, number>()
  for (const item of items) {
    const key = keyOf(item)
    const round = seen.get(key) ?? 0
    seen.set(key, round + 1)
    const current = rounds[round]
    if (current === undefined) rounds.push([item])
    else current.push(item)
  }
  return rounds
}
