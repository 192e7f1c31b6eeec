/** Waits for a job while Telegram waits for the response. */
import { isJobmillError, type JobHandle, type Mill } from 'jobmill'
import type { Inside } from '../inside.ts'

export type Ending =
  | { readonly state: 'done' | 'dead' | 'cancelled' }
  /** The job continues. `retryAfterMs`: when its next attempt starts, if known. */
  | { readonly state: 'open'; readonly retryAfterMs?: number }

/** Added to the time limit of a handler: one that reaches the limit has ended by then. */
const MARGIN_MS = 6_000
/** Shorter than the 45 s after which the webhook answers in any case. */
const LONGEST_MS = 40_000

/** How long to wait for a job that has not started: it may be behind a failed update of its chat. */
export const START_MS = 5_000

/** Codes of a job that ended without an error. */
const DONE = new Set<unknown>(['RESULT_NOT_KEPT', 'JOB_UNKNOWN'])

/**
 * Waits while the job runs, but neither for its retry nor for jobs before it, because Telegram opens few
 * connections.
 */
export function untilEnded({ isDurable, handlerMs, stopping, hurried, log }: Inside, mill: Mill<never>) {
  // Ends all waits, but not the jobs. Without a database, Telegram keeps the updates that have not ended
  // when the gateway stops.
  const signal = isDurable ? stopping : hurried
  const timeout = Math.min(handlerMs + MARGIN_MS, LONGEST_MS)
  return async (job: JobHandle): Promise<Ending> => {
    const over = new AbortController()
    let retryAfterMs: number | undefined
    const onLater = ({ id, delayMs }: { readonly id: string; readonly delayMs?: number }): void => {
      if (id !== job.id) return
      retryAfterMs = delayMs
      over.abort()
    }
    const ignore = (['retried', 'snoozed', 'throttled'] as const).map((type) => mill.on(type, onLater))
    const ending = { signal: AbortSignal.any([over.signal, signal]) }
    try {
      await job.result({ timeout: START_MS, ...ending }).catch(async (error: unknown) => {
        if (codeOf(error) !== 'RESULT_TIMEOUT' || (await mill.get(job.id))?.state !== 'running') throw error
        await job.result({ timeout: timeout - START_MS, ...ending })
      })
      return { state: 'done' }
    } catch (error) {
      const code = codeOf(error)
      if (code === 'JOB_DEAD') return { state: 'dead' }
      if (code === 'JOB_CANCELLED') return { state: 'cancelled' }
      if (DONE.has(code)) return { state: 'done' }
      log('debug', 'response sent before the job ended', { job: job.id, error: String(error) })
      return { state: 'open', ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
    } finally {
      for (const stop of ignore) stop()
    }
  }
}

function codeOf(error: unknown): string | null {
  return isJobmillError(error) ? error.code : null
}
