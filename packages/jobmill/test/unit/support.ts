/**
 * Shared by the unit tests: catching the one error class, and a platform whose time only moves on request.
 */
import { isJobmillError, type JobmillError } from '../../src/job/errors.ts'
import type { Platform } from '../../src/platform/platform.ts'

/** The error that `act` throws; fails when it throws none, or another kind. */
export function refusal(act: () => unknown): JobmillError {
  try {
    act()
  } catch (error) {
    if (isJobmillError(error)) return error
    throw error
  }
  throw new Error('nothing was refused')
}

/** Like `refusal`, for promises. */
export async function rejection(act: () => Promise<unknown>): Promise<JobmillError> {
  try {
    await act()
  } catch (error) {
    if (isJobmillError(error)) return error
    throw error
  }
  throw new Error('nothing was refused')
}

export interface FakePlatform extends Platform {
  /** Advances time and fires due timers in order. */
  advance(ms: number): void
  /** Advances time without firing any timer. */
  stand(ms: number): void
  /** The delays of the timers that are currently set. */
  readonly pending: readonly number[]
  /** The delays of all timers that were ever set. */
  readonly asked: readonly number[]
}

/** With `eager`, every timer fires in the next microtask: for code that waits and continues on its own. */
export function fakePlatform({ eager = false } = {}): FakePlatform {
  let now = 0
  let ids = 0
  const timers = new Set<{ readonly ms: number; readonly at: number; readonly task: () => void }>()
  const asked: number[] = []
  return {
    now: () => now,
    monotonic: () => now,
    random: () => 0,
    id() {
      ids += 1
      return `00000000-0000-7000-8000-${String(ids).padStart(12, '0')}`
    },
    timer(ms, task) {
      const timer = { ms, at: now + ms, task }
      asked.push(ms)
      timers.add(timer)
      if (eager) queueMicrotask(() => timers.delete(timer) && task())
      return { cancel: () => void timers.delete(timer) }
    },
    nextTurn: (task) => queueMicrotask(task),
    gauges: () => ({
      read: () => ({ cpu: 0, rssBytes: 0, heapBytes: 0, loopLagMs: { mean: 0, most: 0 } }),
      stop() {},
    }),
    advance(ms) {
      now += ms
      const due = [...timers].filter(({ at }) => at <= now).toSorted((a, b) => a.at - b.at)
      for (const timer of due) if (timers.delete(timer)) timer.task()
    },
    stand: (ms) => void (now += ms),
    get pending() {
      return [...timers].map(({ ms }) => ms)
    },
    asked,
  }
}
