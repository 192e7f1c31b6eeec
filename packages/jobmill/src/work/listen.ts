/** Waits at the doorbell for as long as the process works. */
import type { Rung } from '../store/rung.ts'
import type { Doorbell } from '../store/store.ts'

const ROUND_MS = 60_000

export interface ListenOptions {
  readonly store: Pick<Doorbell, 'wait'>
  readonly queues: () => readonly string[]
  readonly rung: (rungs: readonly Rung[]) => void
}

/** Ends with the signal, or rejects. */
export async function listen({ store, queues, rung }: ListenOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const rungs = await store.wait({ queues: queues(), timeoutMs: ROUND_MS, signal })
    if (rungs.length > 0) rung(rungs)
  }
}
