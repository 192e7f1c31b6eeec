/** A pass that never overlaps itself: asked for while it runs, it runs once more afterwards. */

export interface SingleFlight {
  /** Soon; errors go to whoever the pass tells them. */
  readonly run: () => void
  /** Resolves when no pass runs; none begins any more. */
  readonly stop: () => Promise<void>
}

export function singleFlight(pass: () => Promise<void>): SingleFlight {
  let running: Promise<void> | null = null
  let again = false
  const stopping = new AbortController()

  async function loop(): Promise<void> {
    do {
      again = false
      await pass()
    } while (again && !stopping.signal.aborted)
  }

  function run(): void {
    if (stopping.signal.aborted) return
    again = true
    running ??= loop().finally(() => {
      running = null
      // Asked for after the loop looked for the last time, and before it was gone.
      if (again) run()
    })
  }

  return {
    run,
    async stop() {
      stopping.abort()
      await running
    },
  }
}
