/** Stops a gateway within the grace period and a few seconds, also while the database does not answer. */
import type { Mill, Platform } from 'jobmill'
import { DEFAULTS } from 'jobmill/internal'

/** How long requests and updates may take to end after the grace period. */
const LAST_MS = 1_000

export interface Shutdown {
  /** Parts that receive updates. They stop at once, and end when `late` resolves at the latest. */
  readonly intake: ((late: Promise<void>) => Promise<unknown>)[]
  /** Parts that jobs and requests use. They are closed last, in reverse order. */
  readonly rest: (() => Promise<unknown>)[]
  /** Null before it is open. */
  mill: Mill<never> | null
  /** Fires at the beginning. */
  readonly stopping: AbortSignal
  /** Fires when the grace period is over. */
  readonly hurried: AbortSignal
  readonly stop: () => Promise<void>
  readonly hurry: () => void
}

/** `isDurable`: the updates that have not ended are in a database, and continue at the next start. */
export function shutdown(
  platform: Pick<Platform, 'timer'>,
  { isDurable }: { readonly isDurable: boolean },
): Shutdown {
  const begun = new AbortController()
  const over = new AbortController()
  let stopping: Promise<void> | null = null
  const parts: Shutdown = {
    intake: [],
    rest: [],
    mill: null,
    stopping: begun.signal,
    hurried: over.signal,
    stop: () => (stopping ??= end()),
    hurry() {
      over.abort()
      void parts.stop()
      void parts.mill?.stop({ grace: 0 })
    },
  }

  async function end(): Promise<void> {
    begun.abort()
    const { promise: late, resolve } = Promise.withResolvers<void>()
    let timer = platform.timer(over.signal.aborted ? 0 : DEFAULTS.graceMs, () => over.abort())
    const onOver = (): void => {
      timer.cancel()
      timer = platform.timer(LAST_MS, resolve)
    }
    if (over.signal.aborted) onOver()
    else over.signal.addEventListener('abort', onOver, { once: true })
    const quiet = Promise.all(parts.intake.map((step) => step(late)))
    let closing = Promise.resolve()
    const beforeClose = async (): Promise<void> => {
      await quiet
      closing = closeRest()
      // The mill closes at the same time. The error is thrown after that.
      closing.catch(() => {})
    }
    try {
      // Without a database, replies are sent as long as requests wait for them.
      if (!isDurable) await quiet
      await (parts.mill === null
        ? beforeClose()
        : parts.mill.stop({ beforeClose, ...(over.signal.aborted ? { grace: 0 } : {}) }))
      await quiet
      await closing
    } finally {
      over.signal.removeEventListener('abort', onOver)
      timer.cancel()
    }
  }

  async function closeRest(): Promise<void> {
    for (const step of parts.rest.toReversed()) await step()
  }

  return parts
}
