/**
 * Decides when to run a quarantined job: one that was running during two crashes and therefore runs alone. A
 * busy process is rarely idle, so it drains: it claims nothing for a while, then works as long, then drains
 * twice as long. The job runs eventually, and other jobs keep half of the time.
 */
const FIRST_QUIET_MS = 1_000

export interface Quarantine {
  /** Whether a quarantined job is waiting, according to the heartbeat. */
  seen(waits: boolean): void
  /** Whether a quarantined job is waiting, as far as this process knows. */
  readonly waits: boolean
  /**
   * What the dispatcher may claim now: the quarantined job, other jobs, or nothing. `inMs` is when to ask
   * again.
   */
  next(idle: boolean): { readonly claim: 'quarantined' | 'others' | 'nothing'; readonly inMs?: number }
  /** The quarantined job was claimed, or no longer exists. */
  settled(): void
}

export function quarantine(monotonic: () => number): Quarantine {
  let waits = false
  let quietMs = FIRST_QUIET_MS
  let phase: { readonly quiet: boolean; readonly until: number } | null = null

  function advance(now: number): { readonly quiet: boolean; readonly until: number } {
    if (phase === null) phase = { quiet: true, until: now + quietMs }
    else if (now >= phase.until) {
      if (!phase.quiet) quietMs *= 2
      phase = { quiet: !phase.quiet, until: now + quietMs }
    }
    return phase
  }

  function calm(): void {
    waits = false
    phase = null
    quietMs = FIRST_QUIET_MS
  }

  return {
    get waits() {
      return waits
    },
    seen(oneWaits) {
      if (oneWaits) waits = true
      else calm()
    },
    next(idle) {
      if (!waits) return { claim: 'others' }
      if (idle) return { claim: 'quarantined' }
      const now = monotonic()
      const { quiet, until } = advance(now)
      return { claim: quiet ? 'nothing' : 'others', inMs: until - now }
    },
    settled: calm,
  }
}
