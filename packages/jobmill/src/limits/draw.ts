/**
 * Acquires from one limit for one holder: waits for the granted instant, or returns how long to wait before
 * retrying.
 */
import { DEFAULTS } from '../job/defaults.ts'
import { invalidValue, JobmillError } from '../job/errors.ts'
import type { Platform } from '../platform/platform.ts'
import { sleep } from '../platform/sleep.ts'
import { wrongKey } from '../store/cluster-errors.ts'
import type { AcquireRequest, Acquired } from '../store/types/limit.ts'
import type { AskOptions, Asked, Asks } from './ask.ts'
import type { Drains } from './drain.ts'
import type { KnownLimits } from './known-limits.ts'

export interface DrawTools {
  readonly ask: Asks['ask']
  readonly known: KnownLimits
  readonly timesDrained: Drains['timesOf']
  readonly platform: Platform
}

/** 0: granted. Otherwise nothing was acquired, and the caller should retry after this many ms. */
export type Draw = (request: AcquireRequest, options: AskOptions) => Promise<number>

/** A waiter that wakes this much later than its instant would collide with the next one. */
const LATE_MS = 100
/** After an answer that took longer than this, the granted instant may have passed. */
const SLOW_MS = DEFAULTS.limitWaitMs
/** A process that is late this often in a row wastes tokens. */
const MOST_WASTED = 3

interface Timed extends Pick<Asked, 'tookMs'> {
  readonly waitMs: number
  /** The drain count of the limit when the request was sent. */
  readonly drained: number
}

export function draw({ ask, known, timesDrained, platform }: DrawTools): Draw {
  /**
   * Waits for the granted instant. False when it was missed, or the limit was drained before: the token is
   * then wasted.
   */
  async function awaitInstant(request: AcquireRequest, asked: Timed, signal: AbortSignal): Promise<boolean> {
    const dueAt = platform.monotonic() + asked.waitMs
    for (let leftMs = asked.waitMs; leftMs > 0; leftMs = dueAt - platform.monotonic()) {
      await sleep(platform, Math.ceil(leftMs), signal)
      signal.throwIfAborted()
    }
    const isLate = platform.monotonic() - dueAt > LATE_MS || asked.tookMs > SLOW_MS
    if (!isLate && timesDrained(request.limit, request.key) === asked.drained) return true
    // A permit cannot be late, because it is not granted for an instant.
    return asked.waitMs === 0 && (await known.typeOf(request.limit)) !== 'rate'
  }

  return async (request, options) => {
    const { signal } = options
    for (let wasted = 0; wasted < MOST_WASTED; wasted += 1) {
      signal.throwIfAborted()
      const drained = timesDrained(request.limit, request.key)
      const { acquired, tookMs } = await ask(request, options)
      if (acquired.outcome === 'later') return acquired.inMs
      if (acquired.outcome !== 'granted') throw await refusal(request, acquired, known)
      if (await awaitInstant(request, { waitMs: acquired.waitMs, tookMs, drained }, signal)) return 0
    }
    return DEFAULTS.limitWaitMs
  }
}

type Refused = Exclude<Acquired, { readonly outcome: 'granted' | 'later' }>

async function refusal(
  request: AcquireRequest,
  acquired: Refused,
  known: KnownLimits,
): Promise<JobmillError> {
  if (acquired.outcome === 'unknown') return known.unknown(request.limit)
  if (acquired.outcome === 'wrong-key') return wrongKey(request.limit, acquired.perKey)
  if (acquired.outcome === 'never') {
    const what = `exceeds the maximum of limit "${request.limit}"`
    const fix = `Pass at most ${acquired.most}, or raise the burst or concurrency of the limit`
    return invalidValue('amount', request.amount, what, fix)
  }
  const who = request.token === null ? 'this instance' : `job ${request.holder}`
  const what = `${who} has no valid lease, so limit "${request.limit}" grants no permit`
  const fix =
    request.token === null
      ? 'Retry once this instance is registered again'
      : 'Stop the handler: another process may be running the job'
  return new JobmillError('LEASE_LOST', what, { fix })
}
