/**
 * Tracks the passes of a duty, and emits events for a pass that changed something, the first failure, and the
 * first success after it.
 */
import { errorText } from '../job/text/error-text.ts'
import type { Emit } from '../job/events.ts'
import type { Platform } from '../platform/platform.ts'

export interface DutyStatus {
  readonly name: string
  /** Whether one instance performs it for the whole cluster. */
  readonly forAll: boolean
  readonly everyMs: number | null
  readonly passes: number
  /** Consecutive failures, and failures in total. */
  readonly failures: number
  readonly failed: number
  /** How long ago a pass last succeeded, or none was needed; null for never. */
  readonly succeededAgoMs: number | null
  /** The error of the last failed pass; null after a success. */
  readonly error: string | null
  /** Whether this instance performs it; for a cluster-wide duty, whether it leads it. */
  readonly leading: boolean
}

export function dutyLog(name: string, platform: Platform, emit: Emit) {
  let passes = 0
  let failures = 0
  let failed = 0
  let succeededAt: number | null = null
  let error: string | null = null

  /** A continuous pass reports that it works. */
  function works(): void {
    succeededAt = platform.monotonic()
    if (failures > 0) emit('duty-back', { duty: name, failures })
    failures = 0
    error = null
  }

  return {
    works,
    succeeded(counts: Readonly<Record<string, number>>, tookMs: number) {
      passes += 1
      works()
      if (Object.values(counts).some((n) => n > 0)) emit('duty-done', { duty: name, counts, tookMs })
    },
    failed(thrown: unknown) {
      passes += 1
      failures += 1
      failed += 1
      error = errorText(thrown)
      // Only for the first failure, because an outage would flood the log.
      if (failures === 1) emit('duty-failing', { duty: name, error: thrown, failures })
    },
    /** There was nothing to do, which counts as a success. */
    idle: () => void (succeededAt = platform.monotonic()),
    status: () => ({
      passes,
      failures,
      failed,
      succeededAgoMs: succeededAt === null ? null : platform.monotonic() - succeededAt,
      error,
    }),
  }
}
