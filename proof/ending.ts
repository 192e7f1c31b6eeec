/** How a proof ends that began servers and processes: in order, also when its user wants no more. */
type Close = () => Promise<unknown>

/** What was begun is ended in the opposite order, whatever became of it. */
export function closers(name: string): { readonly add: (close: Close) => void; readonly close: Close } {
  const all: Close[] = []
  return {
    add: (close) => void all.push(close),
    async close() {
      for (const close of all.splice(0).toReversed())
        await close().catch((error: unknown) => console.error(`${name}: ${String(error)}`))
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
