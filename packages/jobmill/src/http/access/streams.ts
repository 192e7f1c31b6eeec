/** How many event streams are open at once: each holds a connection and what its reader has not read yet. */
import { problem } from '../problem.ts'
import { type PlaceBounds, places } from './places.ts'

export type StreamBounds = PlaceBounds

export interface Streams {
  /** A function that gives the place back, or why there is none. */
  readonly open: (caller: string) => (() => void) | Response
}

export function streams(bounds: StreamBounds): Streams {
  const { perCaller, total } = bounds
  const { open } = places(bounds)
  return {
    open(caller) {
      const opened = open(caller)
      if (opened === 'caller')
        return problem('TOO_MANY', {
          detail: `${caller} has ${perCaller} event streams open, which is the most for one caller`,
          fix: 'Close one, then open another',
        })
      if (opened === 'total')
        return problem('BUSY', {
          detail: `${total} event streams are open, which is the most for this process`,
          fix: 'Try again in a moment, or ask another process',
        })
      return opened
    },
  }
}
