/**
 * Decides when to run a quarantined job: one that was running at two crashes and therefore runs alone. A busy
 * process is rarely idle, so it drains: it claims nothing for a while, works for the same time, then claims
 * nothing for twice as long, and so on. The job runs eventually, and other jobs get half of the time.
 */
const FIRST_QUIET_MS = 1_000

export interface QuarantineState {
  /** A quarantined job is waiting, as far as this process knows. */
  readonly waits: boolean
  readonly quietMs: number
  readonly phase: { readonly isQuiet: boolean; readonly until: number } | null
}

export function noQuarantine(): QuarantineState {
  return { waits: false, quietMs: FIRST_QUIET_MS, phase: null }
}

/** The next phase, if the current one is over. */
export function advanceQuarantine(state: QuarantineState, now: number): QuarantineState {
  const { phase, quietMs } = state
  if (phase === null) return { ...state, phase: { isQuiet: true, until: now + quietMs } }
  if (now < phase.until) return state
  const nextMs = phase.isQuiet ? quietMs : 2 * quietMs
  return { ...state, quietMs: nextMs, phase: { isQuiet: !phase.isQuiet, until: now + nextMs } }
}
