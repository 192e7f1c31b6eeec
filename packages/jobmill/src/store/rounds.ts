/**
 * Items of one call that concern the same thing count one after the other. A statement over a set cannot do
 * that, so the items go out in rounds in which each key stands once.
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
