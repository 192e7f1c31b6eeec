/** How a proof ends: what was begun is closed, whatever became of it, also when the user wants no more. */

type Close = () => Promise<unknown>

export interface Closers {
  readonly add: (close: Close) => void
  readonly close: Close
}

/** What was begun is ended in the opposite order. */
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

/** Rejects when the user wants no more. A second time ends the process at once: what it leaves is cleaned up by others. */
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
