/**
 * Turns the first Ctrl+C into an abort signal for work that can stop between two steps. The second one ends
 * the process.
 */

/**
 * `onInterrupt` runs at once, because the current step may take a while. `end` restores the default behavior
 * of Ctrl+C.
 */
export function interruptible(onInterrupt: () => void): { signal: AbortSignal; end: () => void } {
  const stop = new AbortController()
  const interrupt = (): void => {
    onInterrupt()
    stop.abort()
  }
  process.once('SIGINT', interrupt)
  return { signal: stop.signal, end: () => void process.off('SIGINT', interrupt) }
}
