/**
 * The sweep as a duty: passes end well before the deadline of a duty, and the next one follows immediately if
 * work is left. The first pass, and then one per hour, starts a scan of all blobs; a long scan continues in
 * later passes.
 */
import type { OwnDuty, Platform } from 'jobmill'
import type { Inside } from '../inside.ts'
import { sweep } from './sweep.ts'
import { lookForOrphans, type OrphanLook } from './sweep-orphans.ts'

/** A duty has 30 s, and a started batch is finished. */
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
      // This process is stopping, or another one takes over the duty.
      if (signal.aborted) await look?.end()
      if (signal.aborted || look?.isDone() === true) look = null
      if (over.signal.aborted && !signal.aborted) again()
    }
  }
}
