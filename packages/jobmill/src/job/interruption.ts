/** Why a handler was asked to stop: what `signal.reason` is, and what an aborted call inside the handler throws. */

export const INTERRUPTIONS = ['cancelled', 'timeout', 'shutdown', 'lease-lost'] as const
export type InterruptionCause = (typeof INTERRUPTIONS)[number]

// A symbol rather than instanceof: two copies of the package in one process still know each other's.
const BRAND = Symbol.for('jobmill.interruption')

export class Interruption extends Error {
  readonly why: InterruptionCause
  /** The event loop stood still past the lease: some handler of this process blocked it. */
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
