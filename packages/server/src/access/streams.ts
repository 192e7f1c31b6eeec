/** Bounds the number of open event streams, because each holds a connection and a buffer. */
import { problem } from '../problem.ts'
import { type PlaceBounds, places } from './places.ts'

export type StreamBounds = PlaceBounds

export interface Streams {
  /** Returns a function to call when the stream ends, or the response that refuses the stream. */
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
          detail: `${caller} has too many event streams open (max ${perCaller} per caller)`,
          fix: 'Close one first',
        })
      if (opened === 'total')
        return problem('BUSY', {
          detail: `too many event streams open in this process (max ${total})`,
          fix: 'Try again in a moment, or use another process',
        })
      return opened
    },
  }
}
