/** Waits at the notifier for as long as the process works. */
import type { WakeUp } from '../store/wake-up.ts'
import type { Notifier } from '../store/store.ts'

const ROUND_MS = 60_000
/** The first round is short: after an outage it is what tells that all is well again. */
const FIRST_ROUND_MS = 1_000

export interface ListenOptions {
  readonly store: Pick<Notifier, 'wait'>
  readonly queues: () => readonly string[]
  readonly wasWoken: (wakeUps: readonly WakeUp[]) => void
  /** It listens. */
  readonly works: () => void
}

/** Ends with the signal, or rejects. */
export async function listen(
  { store, queues, wasWoken: receive, works }: ListenOptions,
  signal: AbortSignal,
): Promise<void> {
  for (let timeoutMs = FIRST_ROUND_MS; !signal.aborted; timeoutMs = ROUND_MS) {
    const wakeUps = await store.wait({ queues: queues(), timeoutMs, signal })
    works()
    if (wakeUps.length > 0) receive(wakeUps)
  }
}
