/**
 * For how long this instance has been in contact with the database, by its own monotonic clock. After an outage every instance has expired, and the first one
 * that comes back cannot tell those that crashed from those that were cut off like itself. One that has been in contact for a whole lease can: by then every
 * living instance has had the time to renew.
 */
export interface Contact {
  /** A heartbeat that was sent at this instant was answered. */
  answered(sentAt: number): void
  /**
   * A heartbeat failed. Others may have fared worse: an outage that is too short for a gap of our own can swallow a heartbeat of theirs until its deadline, and
   * the next outage the one after it.
   */
  failed(): void
  /** Whether the contact has lasted for a lease. False right after a start: what happened before it is not known. */
  readonly isSteady: boolean
}

export interface ContactOptions {
  readonly monotonic: () => number
  readonly leaseMs: number
  /** The longest time between two heartbeats that were both answered while nothing is wrong. */
  readonly longestGapMs: number
}

export function contact({ monotonic, leaseMs, longestGapMs }: ContactOptions): Contact {
  let since: number | null = null
  let lastSentAt = 0
  return {
    answered(sentAt) {
      if (since === null || sentAt - lastSentAt > longestGapMs) since = monotonic()
      lastSentAt = Math.max(lastSentAt, sentAt)
    },
    failed: () => void (since = null),
    get isSteady() {
      const now = monotonic()
      // A process that stood still has not heard of anything since, whatever it heard before.
      return since !== null && now - since >= leaseMs && now - lastSentAt <= longestGapMs
    },
  }
}
