/** How many event streams are open at once: each holds a connection and what its reader has not read yet. */
import { problem } from '../problem.ts'

export interface StreamBounds {
  readonly perCaller: number
  readonly total: number
}

export interface Streams {
  /** A function that gives the place back, or why there is none. */
  readonly open: (caller: string) => (() => void) | Response
}

export function streams({ perCaller, total }: StreamBounds): Streams {
  /** Callers without a stream are not in it. */
  const byCaller = new Map<string, number>()
  let all = 0
  function close(caller: string): void {
    all -= 1
    const left = (byCaller.get(caller) ?? 1) - 1
    if (left > 0) byCaller.set(caller, left)
    else byCaller.delete(caller)
  }
  return {
    open(caller) {
      const own = byCaller.get(caller) ?? 0
      if (own >= perCaller)
        return problem('TOO_MANY', {
          detail: `${caller} has ${perCaller} event streams open, which is the most for one caller`,
          fix: 'Close one, then open another',
        })
      if (all >= total)
        return problem('BUSY', {
          detail: `${total} event streams are open, which is the most for this process`,
          fix: 'Try again in a moment, or ask another process',
        })
      all += 1
      byCaller.set(caller, own + 1)
      let isOpen = true
      return () => {
        if (isOpen) close(caller)
        isOpen = false
      }
    },
  }
}
