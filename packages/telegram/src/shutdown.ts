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
  /** Null before it is open, and without a database. */
  mill: Mill<never> | null
  /** Fires when the grace period is over. */
  readonly hurried: AbortSignal
  readonly stop: () => Promise<void>
  readonly hurry: () => void
}

export function shutdown(platform: Pick<Platform, 'timer'>): Shutdown {
  const over = new AbortController()
  let stopping: Promise<void> | null = null
  const parts: Shutdown = {
    intake: [],
    rest: [],
    mill: null,
    hurried: over.signal,
    stop: () => (stopping ??= end()),
    hurry() {
      over.abort()
      void parts.stop()
      void parts.mill?.stop({ grace: 0 })
    },
  }

  async function end(): Promise<void> {
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
      await (parts.mill === null ? beforeClose() : parts.mill.stop({ beforeClose }))
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
