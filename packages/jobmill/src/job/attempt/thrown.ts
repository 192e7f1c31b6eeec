/** The errors that a handler throws to control its job. Any other error is a failure. */
import { type Duration, durationMs, retryAfterMs } from '../duration.ts'
import { checkObjectKeys } from '../options/known-keys.ts'

// A symbol instead of instanceof, so that two copies of the package in one process recognize each other's
// errors.
const BRAND = Symbol.for('jobmill.thrown')

abstract class Thrown extends Error {
  constructor(message: string) {
    super(message)
    Object.defineProperty(this, BRAND, { value: true })
  }
}

/** Runs the job again after a while, without spending the attempt. */
export class Snooze extends Thrown {
  readonly says = 'snooze'
  readonly forMs: number
  /** Stored with the attempt to explain the snooze; null for none. */
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
 * The upstream throttles calls, so the whole queue cools down: for exactly `retryAfter` if the
 * upstream named a time, otherwise by the backoff of the queue. The attempt is not spent.
 */
export class Throttled extends Thrown {
  readonly says = 'throttled'
  readonly retryAfterMs: number | null

  constructor(options: { readonly retryAfter?: Duration } = {}) {
    checkObjectKeys(options, 'Throttled', ['retryAfter'])
    const { retryAfter } = options
    const ms = retryAfter === undefined ? null : retryAfterMs(retryAfter, 'Throttled.retryAfter')
    super(ms === null ? 'throttled' : `throttled for ${ms} ms`)
    this.name = 'Throttled'
    this.retryAfterMs = ms
  }
}

/** No further attempt can help: the job is dead at once, with this reason. */
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
    // For example a revoked proxy, which cannot be one of these errors.
    return null
  }
}
