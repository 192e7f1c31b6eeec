/** The waits of a bot: as they stand in its config, a little longer or shorter by chance, so that what failed together does not come back together. */
import type { RetryPolicy } from '../config/config.ts'

export function retryWaitMs({ backoffMs, jitter }: RetryPolicy, attempt: number, random: number): number {
  const wait = backoffMs[Math.min(attempt, backoffMs.length) - 1] ?? 0
  return Math.round(wait * (1 - jitter + 2 * jitter * random))
}
