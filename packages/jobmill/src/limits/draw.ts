/** One holder draws on one limit: it gets what it asked for and the right moment for it, or learns how long to stay away. */
import { DEFAULTS } from '../job/defaults.ts'
import { JobmillError } from '../job/errors.ts'
import { keyedName } from '../job/limit.ts'
import type { Platform } from '../platform/platform.ts'
import { sleep } from '../platform/sleep.ts'
import { wrongKey } from '../store/cluster-errors.ts'
import type { Take, Taken } from '../store/limit.ts'
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
export type Draw = (take: Take, options: AskOptions) => Promise<number>

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
  async function arrives(take: Take, asked: Timed, signal: AbortSignal): Promise<boolean> {
    const dueAt = platform.monotonic() + asked.waitMs
    for (let leftMs = asked.waitMs; leftMs > 0; leftMs = dueAt - platform.monotonic()) {
      await sleep(platform, Math.ceil(leftMs), signal)
      signal.throwIfAborted()
    }
    const isLate = platform.monotonic() - dueAt > LATE_MS || asked.tookMs > SLOW_MS
    if (!isLate && timesDrained(keyedName(take.limit, take.key)) === asked.drained) return true
    // Permits have no instant that they could miss.
    return asked.waitMs === 0 && (await known.typeOf(take.limit)) !== 'rate'
  }

  return async (take, options) => {
    const { signal } = options
    for (let spoilt = 0; spoilt < MOST_SPOILT; spoilt += 1) {
      signal.throwIfAborted()
      const drained = timesDrained(keyedName(take.limit, take.key))
      const { taken, tookMs } = await ask(take, options)
      if (taken.outcome === 'later') return taken.inMs
      if (taken.outcome !== 'granted') throw await refusal(take, taken, known)
      if (await arrives(take, { waitMs: taken.waitMs, tookMs, drained }, signal)) return 0
    }
    return DEFAULTS.limitWaitMs
  }
}

type Refused = Exclude<Taken, { readonly outcome: 'granted' | 'later' }>

async function refusal(take: Take, taken: Refused, known: KnownLimits): Promise<JobmillError> {
  if (taken.outcome === 'unknown') return known.unknown(take.limit)
  if (taken.outcome === 'wrong-key') return wrongKey(take.limit, taken.perKey)
  if (taken.outcome === 'never') {
    return new JobmillError('OPTION_INVALID', `is more than limit "${take.limit}" ever has at once`, {
      field: 'amount',
      value: String(take.amount),
      fix: `Ask for ${taken.most} at most, or raise its burst or concurrency`,
    })
  }
  return new JobmillError('LEASE_LOST', `limit "${take.limit}" gives permits to living holders only`, {
    value: take.holder,
    fix: 'Stop: another process may have the work',
  })
}
