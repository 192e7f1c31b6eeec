/** Runs a step with a signal that aborts with its attempt, or after the timeout of the step. */
import type { JobmillError } from '../../job/errors.ts'
import type { Platform } from '../../platform/platform.ts'
import type { Attempt } from '../attempt.ts'

interface TimeoutOptions {
  readonly attempt: Attempt
  readonly platform: Platform
  /** In milliseconds; undefined for none. */
  readonly timeout: number | undefined
  readonly error: (ms: number) => JobmillError
}

/** Without a timeout, no signal is created unless the step reads it. */
export function withTimeout(
  run: (signal: () => AbortSignal) => Promise<unknown>,
  { attempt, platform, timeout, error }: TimeoutOptions,
): Promise<unknown> {
  if (timeout === undefined) return run(() => attempt.signal)
  const own = new AbortController()
  const signal = AbortSignal.any([attempt.signal, own.signal])
  return new Promise((resolve, reject) => {
    const timer = platform.timer(timeout, () => {
      const late = error(timeout)
      own.abort(late)
      reject(late)
    })
    run(() => signal)
      .then(resolve, reject)
      .finally(() => timer.cancel())
  })
}
