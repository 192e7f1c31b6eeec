/**
 * The sweep as a duty: passes that end well before the deadline of a duty, whatever there is to do. What one has left goes with the next, which comes at once. The first
 * pass, and one of each hour, begins a look at every blob; one that is longer than a pass goes on where it was.
 */
import type { OwnDuty, Platform } from 'jobmill'
import type { Inside } from './inside.ts'
import { sweep } from './sweep.ts'
import { lookForOrphans, type OrphanLook } from './sweep-orphans.ts'

/** Of the 30 s that a duty has: a batch that has begun is finished. */
const PASS_MS = 15_000
const THOROUGH_MS = 3_600_000

export function sweepDuty(inside: Inside, platform: Platform): OwnDuty['run'] {
  let thoroughAt = -Infinity
  let look: OrphanLook | null = null
  return async ({ signal, again }) => {
    const over = new AbortController()
    const timer = platform.timer(PASS_MS, () => over.abort(), { unref: true })
    if (look === null && platform.monotonic() - thoroughAt >= THOROUGH_MS) look = lookForOrphans(inside)
    try {
      const counts = await sweep(inside, AbortSignal.any([signal, over.signal]), look)
      if (look?.isDone() === true) thoroughAt = platform.monotonic()
      return counts
    } finally {
      timer.cancel()
      // Told to stop, or another process does it from now on.
      if (signal.aborted) await look?.end()
      if (signal.aborted || look?.isDone() === true) look = null
      if (over.signal.aborted && !signal.aborted) again()
    }
  }
}
