/**
 * The queues in which callers of this process wait for permits of concurrency limits. Only the first caller
 * of each queue polls the database. A release in this process wakes it at once.
 */
import type { Platform } from '../platform/platform.ts'

export type Seats = ReturnType<typeof seats>

interface Waiter {
  /** Something became free while this waiter was asking. */
  isWoken: boolean
  wake: () => void
}

export function seats(platform: Platform) {
  const lines = new Map<string, Waiter[]>()

  /** Joins the end of the line. */
  function join(limit: string) {
    const line = lines.get(limit) ?? []
    lines.set(limit, line)
    const me: Waiter = { isWoken: false, wake: () => {} }
    line.push(me)

    /** Waits until woken or aborted, or until the time is up. Without a time, there is no timeout. */
    function rest(signal: AbortSignal, ms?: number): Promise<void> {
      return new Promise((resolve) => {
        const end = (): void => {
          timer?.cancel()
          signal.removeEventListener('abort', end)
          me.wake = () => {}
          resolve()
        }
        const timer = ms === undefined ? undefined : platform.timer(ms, end)
        me.wake = end
        signal.addEventListener('abort', end, { once: true })
        if (signal.aborted) end()
      })
    }

    return {
      /** Resolves when this waiter is the first in line, or the signal aborted. */
      async first(signal: AbortSignal) {
        while (line[0] !== me && !signal.aborted) await rest(signal)
      },
      /** Waits until something may be free, the time is up, or the signal aborted. */
      async pause(ms: number, signal: AbortSignal) {
        if (!me.isWoken) await rest(signal, ms)
        me.isWoken = false
      },
      leave() {
        const at = line.indexOf(me)
        if (at === -1) return
        line.splice(at, 1)
        if (line.length === 0) lines.delete(limit)
        else if (at === 0) line[0]?.wake()
      },
    }
  }

  return {
    join,
    /** Whether there are waiters. */
    isBusy: (limit: string) => lines.has(limit),
    /** Reports that something of this limit may be free. */
    freed(limit: string) {
      const [first] = lines.get(limit) ?? []
      if (first === undefined) return
      first.isWoken = true
      first.wake()
    },
  }
}
