/**
 * The queues in which callers of this process wait for permits of concurrency limits. Only the first caller
 * of each queue polls the database. A release in this process wakes it at once.
 */
import type { Platform } from '../platform/platform.ts'

interface Seat {
  /** Resolves when this waiter is the first in line, or the signal aborted. */
  first(signal: AbortSignal): Promise<void>
  /** Waits until something may be free, the time is over, or the signal aborted. */
  pause(ms: number, signal: AbortSignal): Promise<void>
  leave(): void
}

export interface Seats {
  /** Joins the end of the line. */
  readonly join: (limit: string) => Seat
  /** Whether there are waiters. */
  readonly isBusy: (limit: string) => boolean
  /** Reports that something of this limit may be free. */
  readonly freed: (limit: string) => void
}

interface Waiter {
  /** Something became free while this waiter was asking. */
  isWoken: boolean
  wake: () => void
}

export function seats(platform: Platform): Seats {
  const lines = new Map<string, Waiter[]>()

  function join(limit: string): Seat {
    const line = lines.get(limit) ?? []
    lines.set(limit, line)
    const me: Waiter = { isWoken: false, wake: () => {} }
    line.push(me)

    /** Waits until woken, aborted, or the time is over; without a time, there is no timeout. */
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
      async first(signal) {
        while (line[0] !== me && !signal.aborted) await rest(signal)
      },
      async pause(ms, signal) {
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
    isBusy: (limit) => lines.has(limit),
    freed(limit) {
      const [first] = lines.get(limit) ?? []
      if (first === undefined) return
      first.isWoken = true
      first.wake()
    },
  }
}
