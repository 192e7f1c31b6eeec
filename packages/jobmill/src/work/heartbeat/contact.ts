/**
 * Tracks how long this instance has been in contact with the database, by its monotonic clock. After an
 * outage every instance has expired, so the first to reconnect cannot tell crashed instances from
 * disconnected ones. After one full lease it can: every running instance had time to renew.
 */
export interface Contact {
  /** A heartbeat sent at this instant was answered. */
  answered(sentAt: number): void
  /**
   * A heartbeat failed, so the count restarts: other instances may have missed heartbeats that this one did
   * not.
   */
  failed(): void
  /**
   * Whether the contact has lasted for one lease. False right after a start, because earlier outages are
   * unknown.
   */
  readonly isSteady: boolean
}

export interface ContactOptions {
  readonly monotonic: () => number
  readonly leaseMs: number
  /** The longest normal time between two answered heartbeats. */
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
      // A process that stalled may not have seen an outage during the stall.
      return since !== null && now - since >= leaseMs && now - lastSentAt <= longestGapMs
    },
  }
}
