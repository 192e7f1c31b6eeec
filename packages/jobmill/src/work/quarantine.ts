/**
 * When to make room for a suspect: a job that was there at two crashes and therefore runs alone. A busy process is rarely empty by itself, so it goes
 * quiet: it claims nothing for a while, then works as long, then is quiet for twice as long. Whatever its jobs take, the suspect
 * gets its turn in the end, and the others keep half of the time.
 */
const FIRST_QUIET_MS = 1_000

export interface Quarantine {
  /** The heartbeat says whether one waits. */
  seen(waits: boolean): void
  /** Whether one waits, as far as this process knows. */
  readonly waits: boolean
  /** What the dispatcher may do now: claim the suspect, claim others, or nothing. `inMs` is when to ask again. */
  next(idle: boolean): { readonly claim: 'quarantined' | 'others' | 'nothing'; readonly inMs?: number }
  /** The suspect was claimed, or was gone. */
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
