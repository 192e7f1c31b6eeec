/**
 * Why a handler was asked to stop. It is the `signal.reason`, and what an aborted call inside the handler
 * throws.
 */

export const INTERRUPTIONS = ['cancelled', 'timeout', 'shutdown', 'lease-lost', 'parked'] as const
export type InterruptionCause = (typeof INTERRUPTIONS)[number]

// A symbol instead of instanceof, so that two copies of the package in one process recognize each other's
// errors.
const BRAND = Symbol.for('jobmill.interruption')

export class Interruption extends Error {
  readonly why: InterruptionCause
  /** A handler of this process blocked the event loop for longer than the lease. */
  readonly blocked: boolean

  constructor(why: InterruptionCause, message: string, { blocked = false } = {}) {
    super(message)
    this.blocked = blocked
    this.name = 'Interruption'
    this.why = why
    Object.defineProperty(this, BRAND, { value: true })
  }
}

export function isInterruption(error: unknown): error is Interruption {
  return typeof error === 'object' && error !== null && BRAND in error
}
