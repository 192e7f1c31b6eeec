/** What the unit tests share: catching the one error class, and a platform whose time stands still until it is moved. */
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

/** As `refusal`, for what rejects. */
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
  /** Moves time on and fires what is due, in the order of the due times. */
  advance(ms: number): void
  /** Moves time on, and no timer has its turn. */
  stand(ms: number): void
  /** The waits of the timers that are set at the moment. */
  readonly pending: readonly number[]
  /** The waits of all timers that were ever set. */
  readonly asked: readonly number[]
}

/** With `eager`, every timer fires in the next microtask: for code that waits and goes on by itself. */
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
