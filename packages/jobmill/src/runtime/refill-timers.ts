/**
 * After a claim from a queue with a rate limit: the next look when its budget has something again, without asking the database when that is. The heartbeat knows it too,
 * and is the truth; but it looks far less often than a fast limit refills.
 */
import type { LimitSettings } from '../job/limit.ts'
import type { Platform, Timer } from '../platform/platform.ts'

export interface RefillOptions {
  /** Of the limit that a queue draws on; null for none. */
  readonly limitOf: (queue: string) => LimitSettings | null
  readonly wake: (queue: string) => void
  readonly platform: Platform
}

export interface RefillTimers {
  readonly drawnOn: (queues: Iterable<string>) => void
  readonly stop: () => void
}

/** Several tokens are better taken together: nothing is lost by a wait that half the burst makes up for. */
const LONGEST_MS = 50

export function refillTimers({ limitOf, wake, platform }: RefillOptions): RefillTimers {
  const timers = new Map<string, Timer>()

  return {
    drawnOn(queues) {
      for (const queue of queues) {
        const limit = limitOf(queue)
        if (limit?.type !== 'rate') continue
        // Of an earlier draw, it would come too early.
        timers.get(queue)?.cancel()
        const again = (): void => {
          timers.delete(queue)
          wake(queue)
        }
        timers.set(queue, platform.timer(waitMs(limit), again))
      }
    },
    stop() {
      for (const timer of timers.values()) timer.cancel()
      timers.clear()
    },
  }
}

function waitMs({ amount, perMs, burst }: Extract<LimitSettings, { type: 'rate' }>): number {
  const costMs = perMs / amount
  return Math.max(costMs, Math.min(LONGEST_MS, (burst * costMs) / 2))
}
