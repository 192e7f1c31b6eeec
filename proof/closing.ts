/** Closes the resources of a proof in every case, also on Ctrl+C. */

type Close = () => Promise<unknown>

export interface Closers {
  readonly add: (close: Close) => void
  readonly close: Close
}

/** Closes in reverse order. */
export function closers(command: string): Closers {
  const all: Close[] = []
  return {
    add: (close) => void all.push(close),
    async close() {
      for (const close of all.splice(0).toReversed())
        await close().catch((error: unknown) => console.error(`${command}: ${String(error)}`))
    },
  }
}

/** Rejects on the first signal. A second signal exits immediately; the guardian process cleans up. */
export function interrupted(stop: AbortController): Promise<never> {
  return new Promise((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.on(signal, () => {
        if (stop.signal.aborted) process.exit(130)
        stop.abort()
        reject(new Error(`stopped by ${signal}`))
      })
  })
}
