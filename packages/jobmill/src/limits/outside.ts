/** Limits outside of handlers: the same budget, but the caller waits in place for as long as it takes. */
import { DEFAULTS } from '../job/defaults.ts'
import { timeoutMs } from '../job/duration.ts'
import { isJobmillError } from '../job/errors.ts'
import { checkSignal } from '../job/numbers.ts'
import { checkObjectKeys } from '../job/options/known-keys.ts'
import { type AcquireOptions, checkDraw, type LimitHandle, type Permit } from '../job/limit/limit-handle.ts'
import type { Platform } from '../platform/platform.ts'
import { sleep } from '../platform/sleep.ts'
import type { AcquireRequest } from '../store/types/limit.ts'
import type { AcquireTools } from './acquire.ts'
import type { AskOptions } from './ask.ts'
import { permit } from './holding.ts'

export interface OutsideTools extends AcquireTools {
  /**
   * Rejects unless the mill was started, because permits need an instance that releases them when it ends.
   */
  readonly started: (what: string) => Promise<void>
  /** Aborts when the mill has stopped. */
  readonly stopped: AbortSignal
}

const ASK_EVERY_MS = 200
/** The polling interval after a longer wait. */
const ASK_SELDOM_MS = 1_000

export function limitOutside(name: string, key: string | undefined, tools: OutsideTools): LimitHandle {
  const { known, seats, platform, stopped } = tools

  function requestFor(amount: number): AcquireRequest {
    const holder = platform.id()
    const { instance } = tools
    return {
      ...checkDraw(name, { amount, key }),
      holder,
      token: null,
      instance,
      waitUpToMs: DEFAULTS.limitWaitMs,
    }
  }

  function grantedPermit(request: AcquireRequest): Permit {
    return permit(request, async () => {
      if ((await known.typeOf(name)) === 'rate') return
      await tools.release(request)
      seats.freed(name)
    })
  }

  async function draw(request: AcquireRequest, options: AskOptions): Promise<number> {
    try {
      return await tools.draw(request, options)
    } catch (error) {
      if (!isJobmillError(error) || error.code !== 'LEASE_LOST') throw error
      // The mill may still be starting; otherwise the error says how to start it.
      await tools.started(`a permit of limit "${name}"`)
      return tools.draw(request, options)
    }
  }

  async function untilGranted(request: AcquireRequest, options: AskOptions): Promise<void> {
    // Other callers already wait for a permit, so join the line behind them.
    if (seats.isBusy(name)) return inLine(request, options)
    for (;;) {
      const inMs = await draw(request, options)
      if (inMs === 0) return
      if ((await known.typeOf(name)) === 'concurrency') return inLine(request, options)
      await sleepUnlessChanged(inMs, options.signal)
    }
  }

  /** Ends early when the limit is deleted or changed: another request then learns what applies now. */
  async function sleepUnlessChanged(ms: number, signal: AbortSignal): Promise<void> {
    const untilAt = platform.monotonic() + ms
    const before = await known.settingsOf(name, ASK_SELDOM_MS)
    for (;;) {
      const leftMs = untilAt - platform.monotonic()
      await sleep(platform, Math.min(leftMs, ASK_SELDOM_MS), signal)
      if (leftMs <= ASK_SELDOM_MS || signal.aborted) return
      if ((await known.settingsOf(name, ASK_SELDOM_MS)) !== before) return
    }
  }

  async function inLine(request: AcquireRequest, options: AskOptions): Promise<void> {
    const { signal } = options
    const seat = seats.join(name)
    try {
      await seat.first(signal)
      const firstAt = platform.monotonic()
      while ((await draw({ ...request, waitUpToMs: 0 }, options)) > 0) {
        const isNew = platform.monotonic() - firstAt < DEFAULTS.limitWaitMs
        await seat.pause(isNew ? ASK_EVERY_MS : ASK_SELDOM_MS, signal)
      }
    } finally {
      seat.leave()
    }
  }

  return {
    name,
    ...(key !== undefined && { key }),
    async acquire(options = {}) {
      checkObjectKeys(options, 'options', ['amount', 'signal', 'timeout'])
      checkSignal(options.signal, 'options.signal')
      const request = requestFor(options.amount ?? 1)
      const wait = waiting(name, options, platform, stopped)
      try {
        // The holder id is unique to this call, so a release affects nothing else.
        await untilGranted(request, { signal: wait.signal, mayRelease: () => true })
        return grantedPermit(request)
      } finally {
        wait.end()
      }
    },
    async tryAcquire(amount = 1) {
      const request = { ...requestFor(amount), waitUpToMs: 0 }
      return (await draw(request, { signal: stopped, mayRelease: () => true })) === 0
        ? grantedPermit(request)
        : null
    },
    async drain(options = {}) {
      checkObjectKeys(options, 'options', ['retryAfter'])
      await tools.drain(name, key === undefined ? options : { ...options, key })
    },
  }
}

/** One signal that combines everything that can end a wait. */
function waiting(
  name: string,
  { signal, timeout }: AcquireOptions,
  platform: Platform,
  stopped: AbortSignal,
): { readonly signal: AbortSignal; end(): void } {
  const ms = timeout === undefined ? null : timeoutMs(timeout, 'options.timeout')
  const over = new AbortController()
  const ends = [stopped, ...(signal === undefined ? [] : [signal])].map((by) => {
    const end = (): void => over.abort(by.reason)
    if (by.aborted) end()
    by.addEventListener('abort', end, { once: true })
    return () => by.removeEventListener('abort', end)
  })
  const late = (): void =>
    over.abort(new DOMException(`limit "${name}" granted nothing within ${ms} ms`, 'TimeoutError'))
  const timer = ms === null ? undefined : platform.timer(ms, late)
  return {
    signal: over.signal,
    end() {
      timer?.cancel()
      for (const end of ends) end()
    },
  }
}
