/** The limits API of a process. Create one per mill: only calls made through it share statements. */
import type { Emit } from '../job/events.ts'
import { checkObjectKeys } from '../job/options/known-keys.ts'
import { checkDraw, type LimitHandle, type LimitInside, type LimitOf } from '../job/limit/limit-handle.ts'
import type { Platform } from '../platform/platform.ts'
import type { Lease } from '../store/types/claim.ts'
import { type AcquireTools, type JobHolder, limitInside } from './acquire.ts'
import { asks, type AskTools } from './ask.ts'
import { drains } from './drain.ts'
import { draw } from './draw.ts'
import type { Holding } from './holding.ts'
import { knownLimits } from './known-limits.ts'
import { limitOutside } from './outside.ts'
import { seats as createSeats } from './seats.ts'

export interface LimitsTools extends AskTools {
  readonly platform: Platform
  /** The current id of this instance. */
  readonly instance: string
  /** Rejects unless the mill was started. */
  readonly started: (what: string) => Promise<void>
  readonly emit: Emit
  /** Counts what handlers acquire (default: no counting). */
  readonly drew?: AcquireTools['drew']
}

export type Limits = ReturnType<typeof limits>

export function limits(given: LimitsTools) {
  const { opened, platform, started, emit, drew = () => {} } = given
  const { ask, release } = asks({ opened, platform })
  const known = knownLimits(async () => (await opened()).limits.list(), platform)
  const seats = createSeats(platform)
  const stopping = new AbortController()
  /** Keyed by lease, weakly: an attempt whose end is never reported leaves nothing behind. */
  const held = new WeakMap<Lease, Map<string, Holding>>()
  const { drain, timesOf: timesDrained } = drains({ opened, platform, emit }, known)
  const tools = {
    draw: draw({ ask, known, timesDrained, platform }),
    release,
    drain,
    known,
    seats,
    platform,
    drew,
    get instance() {
      return given.instance
    },
    started,
    stopped: stopping.signal,
  }
  return {
    drain,
    unknown: known.unknown,
    inside(holder: JobHolder): LimitInside {
      const own = held.get(holder.lease) ?? new Map<string, Holding>()
      held.set(holder.lease, own)
      return limitInside(holder, own, tools)
    },
    outside: (name: string, of: LimitOf = {}): LimitHandle => {
      checkObjectKeys(of, 'options', ['key'])
      const { limit, key } = checkDraw(name, of)
      return limitOutside(limit, key, tools)
    },
    /** Whether an attempt holds a permit that only its release or its end frees. */
    async holdsPermit(lease: Lease): Promise<boolean> {
      for (const [name, holding] of held.get(lease) ?? [])
        if (holding.isHeld() && (await known.typeOf(name)) === 'concurrency') return true
      return false
    },
    /**
     * The end of an attempt was written and its permits are free, so a waiter of this process can try at
     * once.
     */
    ended(lease: Lease, queueLimit: string | null) {
      if (queueLimit !== null) seats.freed(queueLimit)
      const own = held.get(lease)
      // Every job passes here, and few have used a limit.
      if (own === undefined) return
      for (const name of own.keys()) seats.freed(name)
      held.delete(lease)
    },
    /** Rejects waiters outside of handlers with this error. */
    stop: (error: unknown) => stopping.abort(error),
  }
}
