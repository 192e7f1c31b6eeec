/** What is known of the passes of a duty, and told: a pass that did something, the first that fails, and the first that succeeds again. */
import { errorText } from '../job/error-text.ts'
import type { Emit } from '../job/events.ts'
import type { Platform } from '../platform/platform.ts'

export interface DutyStatus {
  readonly name: string
  /** Whether one instance does it for the whole cluster. */
  readonly forAll: boolean
  readonly everyMs: number | null
  readonly passes: number
  /** Passes that failed in a row, and in all. */
  readonly failures: number
  readonly failed: number
  /** How long ago a pass last succeeded, or none was needed; null for never. */
  readonly succeededAgoMs: number | null
  /** Of the last pass that failed; null once one succeeded. */
  readonly error: string | null
  /** Whether this instance does it: of a duty for the whole cluster, whether it leads it. */
  readonly leading: boolean
}

export interface DutyLog {
  readonly succeeded: (counts: Readonly<Record<string, number>>, tookMs: number) => void
  readonly failed: (error: unknown) => void
  /** A pass that goes on is well. */
  readonly works: () => void
  /** There was nothing to do, which is as good as a pass. */
  readonly idle: () => void
  readonly status: () => Omit<DutyStatus, 'leading'>
}

export interface DutyLogOptions {
  readonly name: string
  readonly forAll: boolean
  readonly everyMs: number | null
  readonly platform: Platform
  readonly emit: Emit
}

export function dutyLog({ name, forAll, everyMs, platform, emit }: DutyLogOptions): DutyLog {
  let passes = 0
  let failures = 0
  let failed = 0
  let succeededAt: number | null = null
  let error: string | null = null

  function works(): void {
    succeededAt = platform.monotonic()
    if (failures > 0) emit('duty-back', { duty: name, failures })
    failures = 0
    error = null
  }

  return {
    works,
    succeeded(counts, tookMs) {
      passes += 1
      works()
      if (Object.values(counts).some((n) => n > 0)) emit('duty-done', { duty: name, counts, tookMs })
    },
    failed(thrown) {
      passes += 1
      failures += 1
      failed += 1
      error = errorText(thrown)
      // Not for every try: an outage would fill the log.
      if (failures === 1) emit('duty-failing', { duty: name, error: thrown, failures })
    },
    idle: () => void (succeededAt = platform.monotonic()),
    status: () => ({
      name,
      forAll,
      everyMs,
      passes,
      failures,
      failed,
      succeededAgoMs: succeededAt === null ? null : platform.monotonic() - succeededAt,
      error,
    }),
  }
}
