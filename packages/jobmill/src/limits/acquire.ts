/**
 * Limits inside of a handler: it waits for a moment where it is. When that is not enough its job is due again when there is budget, and loses nothing; its worker is
 * free for others meanwhile.
 */
import { DEFAULTS } from '../job/defaults.ts'
import { JobmillError, shown } from '../job/errors.ts'
import { emptyLimit } from '../job/limit.ts'
import { checkDraw, checkWait } from '../job/limit-draw.ts'
import type { LimitDraw, LimitInside, Permit } from '../job/limit-handle.ts'
import { Snooze } from '../job/thrown.ts'
import type { Platform } from '../platform/platform.ts'
import type { Lease } from '../store/claim.ts'
import type { AcquireRequest } from '../store/limit.ts'
import type { AskOptions, Asks } from './ask.ts'
import type { DrainLimit } from './drain.ts'
import type { Draw } from './draw.ts'
import { type Holding, holding } from './holding.ts'
import type { KnownLimits } from './known-limits.ts'
import { permit } from './permit.ts'
import type { Seats } from './seats.ts'

/** The attempt on whose behalf a handler draws. */
export interface JobHolder {
  readonly lease: Lease
  readonly signal: AbortSignal
  /** Throws once the attempt has ended. */
  readonly checkLive: () => void
  /** The limit that the queue of this job draws on: its claim took a permit under the same id, which goes with the job alone. */
  readonly queueLimit: () => string | null
}

export interface AcquireTools {
  readonly draw: Draw
  readonly release: Asks['release']
  readonly drain: DrainLimit
  readonly known: KnownLimits
  readonly seats: Seats
  readonly platform: Platform
  /** Of this instance. */
  readonly instance: string
  /** What a handler of a kind was told, for the figures. */
  readonly drew: (limit: string, kind: string, draw: 'granted' | 'refused') => void
}

const ASK_EVERY_MS = 200

/** `held` is what this attempt has, by limit. */
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

  /** A permit, or how long to stay away, and whose budget it was. */
  async function taken(
    name: string,
    wanted: number | LimitDraw | undefined,
    how: (request: AcquireRequest, options: AskOptions) => Promise<number>,
  ): Promise<Permit | { readonly inMs: number; readonly key: string | undefined }> {
    checkLive()
    const what = checkDraw(name, wanted)
    // The claim has a permit for this job already, and would be in the way of a second one for ever.
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
      // One that is still on its way keeps the others: they go with the job, which is about to end.
      if (!signal.aborted) await mine.end()
      throw error
    }
    mine.granted()
    drew(name, lease.kind, 'granted')
    return permit(what, async () => {
      if ((await known.typeOf(name)) !== 'rate') await mine.end()
    })
  }

  /** Waits for a permit for as long as a handler may: one of them in each process and for each limit, so that they do not all ask. */
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
        // Only the last answer is what the job is sent away with.
        const inMs = await draw({ ...request, waitUpToMs: isLast ? waitMs : 0 }, options)
        if (inMs === 0 || isLast) return inMs
      }
    } finally {
      seat.leave()
    }
  }

  /** Who finds no place in the line comes back after it; not all of them at the same moment. */
  function spread(inMs: number): number {
    return inMs < DEFAULTS.limitLineMs ? inMs : Math.round(inMs * (1 + 2 * platform.random()))
  }

  return {
    async acquire(name, wanted) {
      const { waitMs, rest } = checkWait(wanted)
      const got = await taken(name, rest, (request, options) => inPlace(request, options, waitMs))
      if ('inMs' in got) throw new Snooze(spread(got.inMs), emptyLimit(name, got.key))
      return got
    },
    async tryAcquire(name, wanted) {
      const got = await taken(name, wanted, draw)
      return 'inMs' in got ? null : got
    },
    async drain(name, options) {
      checkLive()
      await drain(name, options)
    },
  }
}

function drawnOnTwice(name: string): JobmillError {
  return new JobmillError('OPTION_CONFLICT', 'the queue of this job draws on this limit: it has its permit', {
    field: 'limit',
    value: shown(name),
    fix: 'Leave the call out, or take the limit off the queue',
  })
}
