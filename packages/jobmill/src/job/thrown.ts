/** What a handler throws to say more than "it failed". Anything else that is thrown is a failure. */
import { BOUNDS } from './defaults.ts'
import { type Duration, durationMs } from './duration.ts'
import { JobmillError, shown } from './errors.ts'
import { checkObjectKeys } from './known-keys.ts'

// A symbol rather than instanceof: two copies of the package in one process still know each other's.
const BRAND = Symbol.for('jobmill.thrown')

abstract class Thrown extends Error {
  constructor(message: string) {
    super(message)
    Object.defineProperty(this, BRAND, { value: true })
  }
}

/** Not now: the job is due again after a while, and the attempt is not spent. */
export class Snooze extends Thrown {
  readonly says = 'snooze'
  readonly forMs: number
  /** Kept with the attempt, for whoever wonders; null when there is nothing to say. */
  readonly why: string | null

  constructor(time: Duration, why: string | null = null) {
    const forMs = durationMs(time, 'Snooze')
    super(`snoozed for ${forMs} ms`)
    this.name = 'Snooze'
    this.forMs = forMs
    this.why = why
  }
}

/**
 * The upstream refused because of too many calls. The whole queue cools down: for exactly `retryAfter` when the upstream named a time, on
 * the queue's own curve when it did not. The attempt is not spent.
 */
export class Throttled extends Thrown {
  readonly says = 'throttled'
  readonly retryAfterMs: number | null

  constructor(options: { readonly retryAfter?: Duration } = {}) {
    checkObjectKeys(options, 'Throttled', ['retryAfter'])
    const ms =
      options.retryAfter === undefined ? null : durationMs(options.retryAfter, 'Throttled.retryAfter')
    if (ms !== null && ms > BOUNDS.retryAfterMs) {
      throw new JobmillError('DURATION_INVALID', 'is longer than 24 hours', {
        field: 'Throttled.retryAfter',
        value: shown(options.retryAfter),
        fix: 'Pause the queue, or snooze the job, for what takes longer',
      })
    }
    super(ms === null ? 'throttled' : `throttled for ${ms} ms`)
    this.name = 'Throttled'
    this.retryAfterMs = ms
  }
}

/** No further attempt can help: the job is dead at once, for this reason. */
export class Dead extends Thrown {
  readonly says = 'dead'

  constructor(reason: string, options?: { readonly cause?: unknown }) {
    super(reason)
    this.name = 'Dead'
    if (options !== undefined && 'cause' in options) this.cause = options.cause
  }
}

export function thrownOutcome(error: unknown): Snooze | Throttled | Dead | null {
  try {
    if (typeof error !== 'object' || error === null || !(BRAND in error)) return null
    return error as unknown as Snooze | Throttled | Dead
  } catch {
    // A proxy that was revoked, for example: whatever it is, it is none of ours.
    return null
  }
}
