/** Waits for notifications as long as the process works. */
import type { WakeUp } from '../../store/types/wake-up.ts'
import type { NotifierPart } from '../../store/parts.ts'

const ROUND_MS = 60_000
/** The first wait is short, because its success reports the recovery after an outage. */
const FIRST_ROUND_MS = 1_000

export interface ListenOptions {
  readonly notifier: Pick<NotifierPart, 'wait' | 'isListening'>
  readonly queues: () => readonly string[]
  readonly wasWoken: (wakeUps: readonly WakeUp[]) => void
  /** Notifications may not arrive. */
  readonly lost: () => void
  /** Called when it is listening. */
  readonly works: () => void
}

/** Resolves when the signal fires, or rejects. */
export async function listen(
  { notifier, queues, wasWoken: receive, lost, works }: ListenOptions,
  signal: AbortSignal,
): Promise<void> {
  for (let timeoutMs = FIRST_ROUND_MS; !signal.aborted; timeoutMs = ROUND_MS) {
    const wakeUps = await notifier.wait({ queues: queues(), timeoutMs, signal })
    works()
    if (wakeUps.length > 0) receive(wakeUps)
    if (notifier.isListening?.() === false) lost()
  }
}
