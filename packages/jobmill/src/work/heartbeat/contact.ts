/**
 * Tracks how long this instance has been in contact with the database, by its monotonic clock. After an
 * outage every instance has expired, so the first to reconnect cannot tell crashed instances from
 * disconnected ones. After one full lease it can: every running instance had time to renew.
 */

interface ContactOptions {
  readonly monotonic: () => number
  readonly leaseMs: number
  /** The longest normal time between two answered heartbeats. */
  readonly longestGapMs: number
}

export function contact({ monotonic, leaseMs, longestGapMs }: ContactOptions) {
  let since: number | null = null
  let lastSentAt = 0
  return {
    /** A heartbeat sent at this instant was answered. */
    answered(sentAt: number) {
      if (since === null || sentAt - lastSentAt > longestGapMs) since = monotonic()
      lastSentAt = Math.max(lastSentAt, sentAt)
    },
    /**
     * A heartbeat failed, so the count restarts: other instances may have missed heartbeats that this one did
     * not.
     */
    failed: () => void (since = null),
    /**
     * Whether the contact has lasted for one lease. False right after a start, because earlier outages are
     * unknown.
     */
    get isSteady() {
      const now = monotonic()
      // A process that stalled may not have seen an outage during the stall.
      return since !== null && now - since >= leaseMs && now - lastSentAt <= longestGapMs
    },
  }
}
