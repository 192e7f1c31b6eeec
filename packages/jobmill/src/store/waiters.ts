/** Those of this process who wait for work in some queues. What wakes them is the business of each store. */
import type { Platform } from '../platform/platform.ts'

export interface Waiters {
  /** True when woken, false when the time is over or the signal fired. */
  wait(options: {
    readonly queues: readonly string[]
    readonly timeoutMs: number
    readonly signal?: AbortSignal
  }): Promise<boolean>
  /** Wakes who waits for one of these queues; all of them when the queues are not known. */
  wake(queues: readonly string[] | 'all'): void
  /** Ends every wait: nothing will come any more. */
  end(): void
  readonly size: number
}

interface Waiter {
  readonly queues: ReadonlySet<string>
  end(woken: boolean): void
}

/** `changed` is told how many wait, so that a store listens only while somebody does. */
export function waiters(platform: Platform, changed: (waiting: number) => void = () => {}): Waiters {
  const waiting = new Set<Waiter>()
  return {
    wait({ queues, timeoutMs, signal }) {
      if (signal?.aborted === true) return Promise.resolve(false)
      return new Promise((resolve) => {
        const stop = (): void => waiter.end(false)
        const timer = platform.timer(timeoutMs, stop)
        const waiter: Waiter = {
          queues: new Set(queues),
          end(woken) {
            timer.cancel()
            signal?.removeEventListener('abort', stop)
            waiting.delete(waiter)
            changed(waiting.size)
            resolve(woken)
          },
        }
        signal?.addEventListener('abort', stop, { once: true })
        waiting.add(waiter)
        changed(waiting.size)
      })
    },
    wake(queues) {
      for (const waiter of waiting) {
        if (queues === 'all' || queues.some((queue) => waiter.queues.has(queue))) waiter.end(true)
      }
    },
    end() {
      for (const waiter of waiting) waiter.end(false)
    },
    get size() {
      return waiting.size
    },
  }
}
