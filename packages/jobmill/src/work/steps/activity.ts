/**
 * What the steps of an attempt are doing, and when it can be parked: no step is running, and every pending
 * wait takes longer than a second.
 */
import type { Platform, Timer } from '../../platform/platform.ts'
import type { Attempt } from '../attempt.ts'

export interface PendingWait {
  readonly name: string
  /** On the monotonic clock; null if only an event ends the wait. */
  readonly untilAt: number | null
  readonly reject: (error: Error) => void
  /** Stops its timer, and leaves its promise pending. */
  readonly abandon: () => void
}

/** A shorter wait keeps its worker, because parking and claiming again would take as long. */
export const SHORT_MS = 1_000
/** The error of a failed step usually ends the handler. For this time, the attempt is not parked. */
const FAILED_MS = 5_000

interface ActivityOptions {
  readonly attempt: Attempt
  readonly platform: Platform
  /** Called when only these waits are left. */
  readonly idle: (waits: readonly PendingWait[]) => void
}

export type Activity = ReturnType<typeof activity>

export function activity({ attempt, platform, idle }: ActivityOptions) {
  const waits = new Set<PendingWait>()
  let running = 0
  let isChecking = false
  let failedAt: number | null = null
  let timer: Timer | undefined

  /** Also called right before the attempt is parked. */
  const mayPark = (): boolean =>
    running === 0 && waits.size > 0 && !attempt.isSettled && !attempt.ended && attempt.interruption === null

  function check(): void {
    isChecking = false
    if (!mayPark()) return
    const failedMs = failedAt === null ? FAILED_MS : platform.monotonic() - failedAt
    if (failedMs < FAILED_MS) {
      timer?.cancel()
      timer = platform.timer(FAILED_MS - failedMs, check, { unref: true })
      return
    }
    const soon = platform.monotonic() + SHORT_MS
    const all = [...waits]
    if (all.every(({ untilAt }) => untilAt === null || untilAt > soon)) idle(all)
  }

  /** In the next turn of the event loop: the code after a step may call another one. */
  function checkSoon(): void {
    if (isChecking || waits.size === 0) return
    isChecking = true
    platform.nextTurn(check)
  }

  /** Leaves the waits of a parked handler pending, and rejects those of a handler that was asked to stop. */
  const stopped = (): void => {
    for (const wait of waits) {
      if (attempt.parked) wait.abandon()
      else if (attempt.interruption !== null) wait.reject(attempt.interruption)
    }
    waits.clear()
  }

  /** Abandons the waits that the handler did not await. */
  attempt.whenEnded = () => {
    timer?.cancel()
    for (const wait of waits) wait.abandon()
    if (waits.size > 0) attempt.signal.removeEventListener('abort', stopped)
    waits.clear()
  }

  return {
    mayPark,
    get running() {
      return running
    },
    /** The handler calls another step, so it has survived the failure of an earlier one. */
    called() {
      failedAt = null
    },
    async during<T>(work: () => Promise<T>): Promise<T> {
      running += 1
      try {
        return await work()
      } catch (error) {
        failedAt = platform.monotonic()
        throw error
      } finally {
        running -= 1
        checkSoon()
      }
    },
    /** Like `during`, for work that must start, and may end, before the call returns. */
    begin() {
      running += 1
    },
    end() {
      running -= 1
      checkSoon()
    },
    add(wait: PendingWait) {
      // The handler ended, or was asked to stop, while the wait was written.
      if (attempt.ended) return wait.abandon()
      if (attempt.interruption !== null && !attempt.parked) return wait.reject(attempt.interruption)
      if (waits.size === 0) attempt.signal.addEventListener('abort', stopped, { once: true })
      waits.add(wait)
      checkSoon()
    },
    remove(wait: PendingWait) {
      waits.delete(wait)
      if (waits.size === 0) attempt.signal.removeEventListener('abort', stopped)
    },
  }
}
