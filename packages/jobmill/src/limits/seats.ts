/**
 * Where callers of this process wait for a permit of a concurrency limit: one line per limit, and only its first one asks the database. It is woken at once when
 * a permit is given back in this process.
 */
import type { Platform } from '../platform/platform.ts'

interface Seat {
  /** Resolves when it is the first of its line, or the signal fired. */
  first(signal: AbortSignal): Promise<void>
  /** Until something may have become free, or this time is over, or the signal fired. */
  pause(ms: number, signal: AbortSignal): Promise<void>
  leave(): void
}

export interface Seats {
  /** At the end of the line. */
  readonly join: (limit: string) => Seat
  /** Whether somebody waits. */
  readonly isBusy: (limit: string) => boolean
  /** Something of this limit may be free. */
  readonly freed: (limit: string) => void
}

interface Waiter {
  /** Something became free while it was busy asking. */
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

    /** Until it is woken, or the signal fires, or this time is over; without one there is no end of its own. */
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
