/**
 * The value that a share of the numbers does not exceed. 0.5 is the median of an odd count, and the lower
 * middle value of an even one.
 */
export function percentile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
}
