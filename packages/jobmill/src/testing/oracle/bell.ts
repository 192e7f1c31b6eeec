/** Wake-ups between handles of one process. */
import { systemPlatform } from '../../platform/platform.ts'
import type { Doorbell } from '../../store/store.ts'

export interface Bell {
  wait(options: Parameters<Doorbell['wait']>[0], closed: AbortSignal): Promise<boolean>
  ring(queues: readonly string[]): void
}

export function createBell(): Bell {
  const waiting = new Set<{ readonly queues: readonly string[]; wake(rung: boolean): void }>()
  return {
    wait({ queues, timeoutMs, signal }, closed) {
      if (signal?.aborted === true || closed.aborted) return Promise.resolve(false)
      return new Promise((resolve) => {
        const one = {
          queues,
          wake(rung: boolean) {
            timer.cancel()
            waiting.delete(one)
            resolve(rung)
          },
        }
        const timer = systemPlatform.timer(timeoutMs, () => one.wake(false))
        for (const end of [signal, closed])
          end?.addEventListener('abort', () => one.wake(false), { once: true })
        waiting.add(one)
      })
    },
    ring(queues) {
      for (const one of waiting) if (one.queues.some((queue) => queues.includes(queue))) one.wake(true)
    },
  }
}
