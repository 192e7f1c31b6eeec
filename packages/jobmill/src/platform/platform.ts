/**
 * Clocks, timers, randomness and ids in one interface. All other code uses it instead of the globals, so that
 * a test can move the clock and a simulator can replay a history from its seed.
 */
import { randomInt } from 'node:crypto'
import { type Gauges, systemGauges } from './gauges.ts'
import { mintIds } from './mint-ids.ts'

export interface Timer {
  cancel(): void
}

export interface TimerOptions {
  /** A pending timer does not keep the process alive. */
  readonly unref?: boolean
  /**
   * Its task only looks for work, and sets the timer again. The clock of `testMill` may fire it late while
   * there is none.
   */
  readonly recurring?: boolean
}

export interface Platform {
  /** Wall clock in milliseconds since the epoch. Processes may disagree on it. */
  now(): number
  /** Milliseconds on a clock that never steps back; only differences are meaningful. */
  monotonic(): number
  /** Uniform in [0, 1). */
  random(): number
  /**
   * A new job or instance id: UUID version 7, rising within the process unless its clock is set back by more
   * than 10 s.
   */
  id(): string
  /** Runs `task` once after `ms`. */
  timer(ms: number, task: () => void, options?: TimerOptions): Timer
  /** Runs `task` after the current turn of the event loop. */
  nextTurn(task: () => void): void
  /** Starts to measure the resource usage of this process. */
  gauges(): Gauges
}

// The maximum of setTimeout; a longer timeout would fire at once.
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1

export const systemPlatform: Platform = Object.freeze({
  now: () => Date.now(),
  monotonic: () => performance.now(),
  random: () => randomInt(2 ** 47) / 2 ** 47,
  id: mintIds(() => Date.now()),
  timer(ms: number, task: () => void, options?: TimerOptions): Timer {
    let handle: NodeJS.Timeout
    const wait = (leftMs: number): void => {
      const stepMs = Math.min(leftMs, LONGEST_TIMEOUT_MS)
      handle = setTimeout(() => (leftMs > stepMs ? wait(leftMs - stepMs) : task()), stepMs)
      if (options?.unref === true) handle.unref()
    }
    wait(ms)
    return { cancel: () => clearTimeout(handle) }
  },
  nextTurn(task: () => void): void {
    setImmediate(task)
  },
  gauges: systemGauges,
})
