/** Ctrl-C as a signal for work that can stop between two steps. The second one ends the process as ever. */

export interface Interrupt {
  readonly signal: AbortSignal
  /** From here on Ctrl-C is what it always was. */
  readonly end: () => void
}

/** `tell` hears of it at once: the step that is under way may take a while. */
export function interruptible(tell: () => void): Interrupt {
  const stop = new AbortController()
  const hear = (): void => {
    tell()
    stop.abort()
  }
  process.once('SIGINT', hear)
  return { signal: stop.signal, end: () => void process.off('SIGINT', hear) }
}
