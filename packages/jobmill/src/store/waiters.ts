/** Those of this process who wait for work in some queues. What wakes them is the business of each store. */
import type { Platform } from '../platform/platform.ts'
import { wakeAll, type WakeUp } from './wake-up.ts'

export interface Waiters {
  /** What it was woken for; empty when the time is over or the signal fired. */
  wait(options: {
    readonly queues: readonly string[]
    readonly timeoutMs: number
    readonly signal?: AbortSignal
  }): Promise<readonly WakeUp[]>
  /** Wakes who waits for one of these queues; all of them when the queues are not known. */
  wake(wakeUps: readonly WakeUp[] | 'all'): void
  /** Ends every wait: nothing will come any more. */
  end(): void
  readonly size: number
}

interface Waiter {
  readonly queues: ReadonlySet<string>
  end(wakeUps: readonly WakeUp[]): void
}

/** `changed` is told how many wait, so that a store listens only while somebody does. */
export function waiters(platform: Platform, changed: (waiting: number) => void = () => {}): Waiters {
  const waiting = new Set<Waiter>()
  return {
    wait({ queues, timeoutMs, signal }) {
      if (signal?.aborted === true) return Promise.resolve([])
      return new Promise((resolve) => {
        const stop = (): void => waiter.end([])
        const timer = platform.timer(timeoutMs, stop)
        const waiter: Waiter = {
          queues: new Set(queues),
          end(wakeUps) {
            timer.cancel()
            signal?.removeEventListener('abort', stop)
            waiting.delete(waiter)
            changed(waiting.size)
            resolve(wakeUps)
          },
        }
        signal?.addEventListener('abort', stop, { once: true })
        waiting.add(waiter)
        changed(waiting.size)
      })
    },
    wake(wakeUps) {
      for (const waiter of waiting) {
        const heard =
          wakeUps === 'all'
            ? [...waiter.queues].map(wakeAll)
            : wakeUps.filter(({ queue }) => waiter.queues.has(queue))
        // Who waits for no queue in particular waits for all that is unknown.
        if (heard.length > 0 || wakeUps === 'all') waiter.end(heard)
      }
    },
    end() {
      for (const waiter of waiting) waiter.end([])
    },
    get size() {
      return waiting.size
    },
  }
}
