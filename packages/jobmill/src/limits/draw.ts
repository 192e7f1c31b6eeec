/** One holder draws on one limit: it gets what it asked for and the right moment for it, or learns how long to stay away. */
import { DEFAULTS } from '../job/defaults.ts'
import { JobmillError } from '../job/errors.ts'
import { keyedName } from '../job/limit.ts'
import type { Platform } from '../platform/platform.ts'
import { sleep } from '../platform/sleep.ts'
import { wrongKey } from '../store/cluster-errors.ts'
import type { AcquireRequest, Acquired } from '../store/limit.ts'
import type { AskOptions, Asked, Asks } from './ask.ts'
import type { Drains } from './drain.ts'
import type { KnownLimits } from './known-limits.ts'

export interface DrawTools {
  readonly ask: Asks['ask']
  readonly known: KnownLimits
  readonly timesDrained: Drains['timesOf']
  readonly platform: Platform
}

/** 0: it may go on now. Otherwise nothing was taken, and it should come back after so many ms. */
export type Draw = (request: AcquireRequest, options: AskOptions) => Promise<number>

/** Whoever wakes so much later than its instant would come together with the next one. */
const LATE_MS = 100
/** An answer that was on its way for so long may be heard that much too late. */
const SLOW_MS = DEFAULTS.limitWaitMs
/** A process that is late so often in a row uses up tokens for nothing. */
const MOST_SPOILT = 3

interface Timed extends Pick<Asked, 'tookMs'> {
  readonly waitMs: number
  /** How often the limit had been drained here when it was asked. */
  readonly drained: number
}

export function draw({ ask, known, timesDrained, platform }: DrawTools): Draw {
  /** Waits for the instant that was granted. False when it was missed, or the limit drained meanwhile: then the token is spoilt. */
  async function arrives(request: AcquireRequest, asked: Timed, signal: AbortSignal): Promise<boolean> {
    const dueAt = platform.monotonic() + asked.waitMs
    for (let leftMs = asked.waitMs; leftMs > 0; leftMs = dueAt - platform.monotonic()) {
      await sleep(platform, Math.ceil(leftMs), signal)
      signal.throwIfAborted()
    }
    const isLate = platform.monotonic() - dueAt > LATE_MS || asked.tookMs > SLOW_MS
    if (!isLate && timesDrained(keyedName(request.limit, request.key)) === asked.drained) return true
    // Permits have no instant that they could miss.
    return asked.waitMs === 0 && (await known.typeOf(request.limit)) !== 'rate'
  }

  return async (request, options) => {
    const { signal } = options
    for (let spoilt = 0; spoilt < MOST_SPOILT; spoilt += 1) {
      signal.throwIfAborted()
      const drained = timesDrained(keyedName(request.limit, request.key))
      const { acquired, tookMs } = await ask(request, options)
      if (acquired.outcome === 'later') return acquired.inMs
      if (acquired.outcome !== 'granted') throw await refusal(request, acquired, known)
      if (await arrives(request, { waitMs: acquired.waitMs, tookMs, drained }, signal)) return 0
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
    return new JobmillError('OPTION_INVALID', `is more than limit "${request.limit}" ever has at once`, {
      field: 'amount',
      value: String(request.amount),
      fix: `Ask for ${acquired.most} at most, or raise its burst or concurrency`,
    })
  }
  return new JobmillError('LEASE_LOST', `limit "${request.limit}" gives permits to living holders only`, {
    value: request.holder,
    fix: 'Stop: another process may have the work',
  })
}
