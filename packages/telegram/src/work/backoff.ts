/**
 * The retry waits of a bot: from its config, with random jitter, so that jobs that failed together do not
 * retry together.
 */
import type { BotConfig } from '../config/config.ts'

export function retryWaitMs(retry: BotConfig['retry'], attempt: number, random: number): number {
  const { backoffMs, jitter } = retry
  const wait = backoffMs[Math.min(attempt, backoffMs.length) - 1] ?? 0
  return Math.round(wait * (1 - jitter + 2 * jitter * random))
}
