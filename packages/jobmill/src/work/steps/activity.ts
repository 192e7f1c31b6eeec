/**
 * What the steps of an attempt are doing, and when it can be parked: no step is running, and every pending
 * wait takes longer than a second.
 */
import type { Platform } from '../../platform/platform.ts'
import type { Attempt } from '../attempt.ts'

export interface PendingWait {
  readonly name: string
  /** On the monotonic clock; null if only an event ends the wait. */
  readonly untilAt: number | null
  readonly reject: (error: unknown) => void
  /** Stops its timer, and leaves its promise pending. */
  readonly abandon: () => void
}

/** A shorter wait keeps its worker: parking and claiming again would take as long. */
export const SHORT_MS = 1_000

interface ActivityOptions {
  readonly attempt: Attempt
  readonly platform: Platform
  /** Nothing but these waits is left to do. */
  readonly idle: (waits: readonly PendingWait[]) => void
}

export type Activity = ReturnType<typeof activity>

export function activity({ attempt, platform, idle }: ActivityOptions) {
  const waits = new Set<PendingWait>()
  let running = 0
  let isChecking = false

  function check(): void {
    isChecking = false
    if (running > 0 || waits.size === 0 || attempt.ended || attempt.interruption !== null) return
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

  /** A parked handler waits forever. Any other must not wait after it was asked to stop. */
  const stopped = (): void => {
    for (const wait of [...waits]) {
      if (attempt.parked) wait.abandon()
      else wait.reject(attempt.interruption)
    }
    waits.clear()
  }

  return {
    get running() {
      return running
    },
    async during<T>(work: () => Promise<T>): Promise<T> {
      running += 1
      try {
        return await work()
      } finally {
        running -= 1
        checkSoon()
      }
    },
    /** The same for work that must begin, and may end, before this returns. */
    begin() {
      running += 1
    },
    end() {
      running -= 1
      checkSoon()
    },
    add(wait: PendingWait) {
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
