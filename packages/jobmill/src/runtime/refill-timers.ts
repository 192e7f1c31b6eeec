/**
 * After a claim from a rate-limited queue, wakes the queue when its limit has refilled, without a query. The
 * heartbeat reports refills too and is authoritative, but runs far less often than a fast limit refills.
 */
import type { LimitSettings } from '../job/limit.ts'
import type { Platform, Timer } from '../platform/platform.ts'

export interface RefillOptions {
  /** The settings of the limit that a queue uses. Null for none. */
  readonly limitOf: (queue: string) => LimitSettings | null
  readonly wake: (queue: string) => void
  readonly platform: Platform
}

export interface RefillTimers {
  readonly drawnOn: (queues: Iterable<string>) => void
  readonly stop: () => void
}

/** Several tokens per claim are cheaper: a wait of up to half the burst loses nothing. */
const LONGEST_MS = 50

export function refillTimers({ limitOf, wake, platform }: RefillOptions): RefillTimers {
  const timers = new Map<string, Timer>()

  return {
    drawnOn(queues) {
      for (const queue of queues) {
        const limit = limitOf(queue)
        if (limit?.type !== 'rate') continue
        // The timer of an earlier claim would fire too early.
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
