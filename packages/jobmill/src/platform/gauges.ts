/** Measures the process: CPU, memory, and event loop lag. */
import { monitorEventLoopDelay } from 'node:perf_hooks'

export interface GaugeReading {
  /** CPU time since the previous reading as a share of one core; above 1 when several threads were busy. */
  readonly cpu: number
  readonly rssBytes: number
  readonly heapBytes: number
  /** How late the event loop ran its timers since the previous reading. */
  readonly loopLagMs: { readonly mean: number; readonly most: number }
}

/** The CPU time of the whole process since it started, and its current memory. */
export interface Usage {
  readonly cpuMs: number
  readonly rssBytes: number
}

export interface Gauges {
  readonly read: () => GaugeReading
  /** Stops measuring. Idempotent. */
  readonly stop: () => void
}

/** The sampling interval of the event loop. The measured delays include it. */
const LOOK_EVERY_MS = 20

export function systemGauges(): Gauges {
  const delays = monitorEventLoopDelay({ resolution: LOOK_EVERY_MS })
  delays.enable()
  let cpu = process.cpuUsage()
  let at = performance.now()

  /** `delay` is in nanoseconds, and NaN before the first sample. */
  const lag = (delay: number): number => Math.max(0, delay / 1e6 - LOOK_EVERY_MS) || 0

  return {
    read() {
      const used = process.cpuUsage()
      const usedUs = used.user + used.system - cpu.user - cpu.system
      const { rss, heapUsed } = process.memoryUsage()
      const now = performance.now()
      const reading = {
        cpu: usedUs / 1_000 / Math.max(1, now - at),
        rssBytes: rss,
        heapBytes: heapUsed,
        loopLagMs: { mean: lag(delays.mean), most: lag(delays.max) },
      }
      cpu = used
      at = now
      delays.reset()
      return reading
    },
    stop: () => void delays.disable(),
  }
}

/** For diagnostics only. No decision depends on it, so tests need not replace it. */
export function systemUsage(): Usage {
  const { user, system } = process.cpuUsage()
  return { cpuMs: (user + system) / 1_000, rssBytes: process.memoryUsage.rss() }
}
