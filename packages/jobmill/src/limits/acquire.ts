/**
 * Limits inside a handler. The handler waits briefly in place. If that is not enough, its job runs again when
 * budget is available, without spending an attempt, and its worker is free for other jobs.
 */
import { DEFAULTS } from '../job/defaults.ts'
import { invalidValue, type JobmillError } from '../job/errors.ts'
import { emptyLimit } from '../job/limit/limit.ts'
import { checkDraw, checkWait, type LimitInside, type Permit } from '../job/limit/limit-handle.ts'
import { Snooze } from '../job/attempt/thrown.ts'
import type { Platform } from '../platform/platform.ts'
import type { Lease } from '../store/types/claim.ts'
import type { AcquireRequest } from '../store/types/limit.ts'
import type { AskOptions, Asks } from './ask.ts'
import type { DrainLimit } from './drain.ts'
import type { Draw } from './draw.ts'
import { type Holding, holding, permit } from './holding.ts'
import type { KnownLimits } from './known-limits.ts'
import type { Seats } from './seats.ts'

/** The attempt that acquires from a limit. */
export interface JobHolder {
  readonly lease: Lease
  readonly signal: AbortSignal
  /** Throws once the attempt has ended. */
  readonly checkLive: () => void
  /**
   * The limit of this job's queue. The claim acquired a permit under the same id, which only the end of the
   * job releases.
   */
  readonly queueLimit: () => string | null
}

export interface AcquireTools {
  readonly draw: Draw
  readonly release: Asks['release']
  readonly drain: DrainLimit
  readonly known: KnownLimits
  readonly seats: Seats
  readonly platform: Platform
  /** The id of this instance. */
  readonly instance: string
  /** Counts grants and refusals per kind, for the metrics. */
  readonly drew: (limit: string, kind: string, draw: 'granted' | 'refused') => void
}

const ASK_EVERY_MS = 200

/** `held` is what this attempt holds, by limit. */
export function limitInside(
  { lease, signal, checkLive, queueLimit }: JobHolder,
  held: Map<string, Holding>,
  { draw, release, drain, known, seats, platform, instance, drew }: AcquireTools,
): LimitInside {
  function holdingOf(limit: string): Holding {
    const back = async (): Promise<void> => {
      await release({ limit, holder: lease.id, token: lease.token })
      seats.freed(limit)
    }
    const found = held.get(limit) ?? holding(back, () => queueLimit() !== limit)
    held.set(limit, found)
    return found
  }

  /** Resolves to a permit, or to how long to wait and for which key. */
  async function acquirePermit(
    name: string,
    wanted: Parameters<typeof checkDraw>[1],
    how: (request: AcquireRequest, options: AskOptions) => Promise<number>,
  ): Promise<Permit | { readonly inMs: number; readonly key: string | undefined }> {
    checkLive()
    const what = checkDraw(name, wanted)
    // The claim already holds a permit for this job, and would block a second one until the job ends.
    if (queueLimit() === name && (await known.typeOf(name)) === 'concurrency') throw drawnOnTwice(name)
    const { id: holder, token } = lease
    const mine = holdingOf(name)
    await mine.begin()
    try {
      const request = { ...what, holder, token, instance, waitUpToMs: 0 }
      const inMs = await how(request, { signal, mayRelease: mine.mayRelease })
      if (inMs > 0) {
        drew(name, lease.kind, 'refused')
        await mine.end()
        return { inMs, key: what.key }
      }
    } catch (error) {
      // After an abort, keep what the attempt holds: it is released with the job, which is about to end.
      if (!signal.aborted) await mine.end()
      throw error
    }
    mine.granted()
    drew(name, lease.kind, 'granted')
    return permit(what, async () => {
      if ((await known.typeOf(name)) !== 'rate') await mine.end()
    })
  }

  /**
   * Waits for a permit for as long as a handler may. Only one waiter per process and limit polls, to limit
   * the number of statements.
   */
  async function inPlace(request: AcquireRequest, options: AskOptions, waitMs: number): Promise<number> {
    const first = await draw({ ...request, waitUpToMs: waitMs }, options)
    if (first === 0 || waitMs === 0 || (await known.typeOf(request.limit)) !== 'concurrency') return first
    if (seats.isBusy(request.limit)) return first
    const seat = seats.join(request.limit)
    const untilAt = platform.monotonic() + waitMs
    try {
      for (;;) {
        await seat.pause(Math.max(0, Math.min(ASK_EVERY_MS, untilAt - platform.monotonic())), signal)
        const isLast = platform.monotonic() >= untilAt
        // Only the last request may take a place in line: after it, the job is rescheduled.
        const inMs = await draw({ ...request, waitUpToMs: isLast ? waitMs : 0 }, options)
        if (inMs === 0 || isLast) return inMs
      }
    } finally {
      seat.leave()
    }
  }

  /**
   * Jobs without a reserved time retry after the last reservation, at random times, so that they do not
   * retry together.
   */
  function spread(inMs: number): number {
    return inMs < DEFAULTS.limitLineMs ? inMs : Math.round(inMs * (1 + 2 * platform.random()))
  }

  return {
    async acquire(name, wanted) {
      const { waitMs, rest } = checkWait(wanted)
      const got = await acquirePermit(name, rest, (request, options) => inPlace(request, options, waitMs))
      if ('inMs' in got) throw new Snooze(spread(got.inMs), emptyLimit(name, got.key))
      return got
    },
    async tryAcquire(name, wanted) {
      const got = await acquirePermit(name, wanted, draw)
      return 'inMs' in got ? null : got
    },
    async drain(name, options) {
      checkLive()
      await drain(name, options)
    },
  }
}

function drawnOnTwice(name: string): JobmillError {
  const what = 'the queue of this job uses this limit, so the job already holds a permit'
  const fix = 'Remove the call, or remove the limit from the queue'
  return invalidValue('limit', name, what, fix, 'OPTION_CONFLICT')
}
