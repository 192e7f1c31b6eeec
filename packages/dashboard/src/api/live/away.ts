/** Whether the user is away: for a while, this tab has seen no move of a pointer and no key. */
const AWAY_MS = 30_000
const SIGNS = ['pointermove', 'pointerdown', 'wheel', 'keydown', 'touchstart'] as const

export interface Presence {
  readonly isAway: () => boolean
  readonly stop: () => void
}

export function watchPresence(): Presence {
  let lastAt = Date.now()
  const seen = (): void => {
    lastAt = Date.now()
  }
  for (const sign of SIGNS) addEventListener(sign, seen, { capture: true, passive: true })
  return {
    isAway: () => Date.now() - lastAt >= AWAY_MS,
    stop() {
      for (const sign of SIGNS) removeEventListener(sign, seen, { capture: true })
    },
  }
}
