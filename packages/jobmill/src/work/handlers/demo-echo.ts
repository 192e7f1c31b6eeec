/**
 * `demo.echo` does what its payload says: try retries, throttling and permanent failures without writing a
 * handler.
 */
import { Dead, Throttled } from '../../job/attempt/thrown.ts'
import type { JobContext } from '../../job/context.ts'
import { BOUNDS } from '../../job/defaults.ts'
import { defineJob } from '../../job/kind/definition.ts'
import { type Duration, durationMs } from '../../job/duration.ts'
import { invalidValue, isJobmillError, type JobmillError } from '../../job/errors.ts'
import { checkWhole } from '../../job/numbers.ts'
import { checkObjectKeys } from '../../job/options/known-keys.ts'
import { systemPlatform } from '../../platform/platform.ts'
import { sleep } from '../../platform/sleep.ts'

export interface DemoEchoPayload {
  /** How long it runs. */
  readonly sleep?: Duration
  /** Fails, with this message if it is a string. */
  readonly fail?: string | boolean
  /** Fails in this many first attempts, then succeeds. */
  readonly failTimes?: number
  /** Throws Throttled, for this duration, or with `true` without one. */
  readonly throttle?: Duration | true
  /** Fails permanently, for this reason. */
  readonly dead?: string
  /** The value to return. Default: the payload. */
  readonly value?: unknown
}

export const demoEcho = defineJob({
  kind: 'demo.echo',
  async run({ payload, attempt, signal, log }: JobContext<DemoEchoPayload>): Promise<{ echo: unknown }> {
    const asked = orDead(() => checked(payload))
    log('echo', { attempt, sleepMs: asked.sleepMs })
    await sleep(systemPlatform, asked.sleepMs, signal)
    signal.throwIfAborted()
    if (asked.dead !== undefined) throw new Dead(asked.dead)
    if (asked.throttled !== undefined) throw asked.throttled
    if (asked.failsIn(attempt)) throw new Error(asked.message)
    return { echo: payload.value ?? payload }
  },
})

function checked(payload: DemoEchoPayload) {
  checkObjectKeys(payload, 'payload', ['sleep', 'fail', 'failTimes', 'throttle', 'dead', 'value'])
  const { fail = false, failTimes, dead } = payload
  if (typeof fail !== 'string' && typeof fail !== 'boolean') {
    throw unfit('payload.fail', fail, 'must be a string or a boolean', 'Pass true or a message')
  }
  if (dead !== undefined && typeof dead !== 'string') {
    throw unfit('payload.dead', dead, 'must be a string', 'Pass the reason as a string, or omit it')
  }
  const bounds = { least: 0, most: BOUNDS.maxAttempts.most }
  const times = failTimes === undefined ? undefined : checkWhole(failTimes, 'payload.failTimes', bounds)
  return {
    sleepMs: durationMs(payload.sleep ?? 0, 'payload.sleep'),
    dead,
    throttled: throttledBy(payload.throttle),
    message: typeof fail === 'string' && fail !== '' ? fail : 'failed as requested',
    failsIn: (attempt: number) => (times === undefined ? fail !== false : attempt <= times),
  }
}

function throttledBy(throttle: DemoEchoPayload['throttle']): Throttled | undefined {
  if (throttle === undefined) return undefined
  if (throttle === true) return new Throttled()
  const retryAfter = durationMs(throttle, 'payload.throttle')
  if (retryAfter <= BOUNDS.retryAfterMs) return new Throttled({ retryAfter })
  throw unfit('payload.throttle', throttle, 'must be at most 24 hours', 'Pass at most 24h, or true')
}

function unfit(field: string, value: unknown, what: string, fix: string): JobmillError {
  return invalidValue(field, value, what, fix, 'PAYLOAD_INVALID')
}

function orDead<T>(check: () => T): T {
  try {
    return check()
  } catch (error) {
    if (isJobmillError(error)) throw new Dead(error.message)
    throw error
  }
}
