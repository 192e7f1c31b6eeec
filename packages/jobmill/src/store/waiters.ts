/** The callers in this process that wait for wake-ups. Each store decides when to wake them. */
import type { Platform } from '../platform/platform.ts'
import type { NotifierPart } from './parts.ts'
import { wakeAll, type WakeUp } from './types/wake-up.ts'

export type Waiters = ReturnType<typeof waiters>

type WaitOptions = Parameters<NotifierPart['wait']>[0]

interface Waiter {
  readonly queues: ReadonlySet<string>
  end(wakeUps: readonly WakeUp[]): void
}

/** `changed` receives the number of waiting callers, so that a store listens only while there are any. */
export function waiters(platform: Platform, changed: (waiting: number) => void = () => {}) {
  const waiting = new Set<Waiter>()
  return {
    /** Resolves with the wake-ups received; empty on timeout or abort. */
    wait({ queues, timeoutMs, signal }: WaitOptions): Promise<readonly WakeUp[]> {
      if (signal?.aborted === true) return Promise.resolve([])
      return new Promise((resolve) => {
        const stop = (): void => waiter.end([])
        const timer = platform.timer(timeoutMs, stop, { recurring: true })
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
    /** Wakes the callers that wait for one of these queues; all callers if the queues are unknown. */
    wake(wakeUps: readonly WakeUp[] | 'all'): void {
      for (const waiter of waiting) {
        const received =
          wakeUps === 'all'
            ? [...waiter.queues].map(wakeAll)
            : wakeUps.filter(({ queue }) => waiter.queues.has(queue))
        // A caller without queues is woken only when the queues are unknown.
        if (received.length > 0 || wakeUps === 'all') waiter.end(received)
      }
    },
    /** Ends every wait, because no further wake-ups will arrive. */
    end(): void {
      for (const waiter of waiting) waiter.end([])
    },
    get size(): number {
      return waiting.size
    },
  }
}
