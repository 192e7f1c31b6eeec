/** Waits at the doorbell for as long as the process works. */
import type { Rung } from '../store/rung.ts'
import type { Doorbell } from '../store/store.ts'

const ROUND_MS = 60_000
/** The first round is short: after an outage it is what tells that all is well again. */
const FIRST_ROUND_MS = 1_000

export interface ListenOptions {
  readonly store: Pick<Doorbell, 'wait'>
  readonly queues: () => readonly string[]
  readonly rung: (rungs: readonly Rung[]) => void
  /** It listens. */
  readonly works: () => void
}

/** Ends with the signal, or rejects. */
export async function listen(
  { store, queues, rung, works }: ListenOptions,
  signal: AbortSignal,
): Promise<void> {
  for (let timeoutMs = FIRST_ROUND_MS; !signal.aborted; timeoutMs = ROUND_MS) {
    const rungs = await store.wait({ queues: queues(), timeoutMs, signal })
    works()
    if (rungs.length > 0) rung(rungs)
  }
}
