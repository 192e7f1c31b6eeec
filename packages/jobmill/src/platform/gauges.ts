/** What this process uses: processor, memory, and how late its event loop is. */
import { monitorEventLoopDelay } from 'node:perf_hooks'

export interface GaugeReading {
  /** Processor time since the reading before, as a share of one core: above 1 when several threads worked. */
  readonly cpu: number
  readonly rssBytes: number
  readonly heapBytes: number
  /** How much later than planned the event loop came to its timers since the reading before. */
  readonly loopLagMs: { readonly mean: number; readonly most: number }
}

/** What the whole process has used since it began, and the memory that it has now. */
export interface Usage {
  readonly cpuMs: number
  readonly rssBytes: number
}

export interface Gauges {
  readonly read: () => GaugeReading
  /** Ends the measuring. Twice is once. */
  readonly stop: () => void
}

/** How often the loop is looked at. The delays that are measured include it. */
const LOOK_EVERY_MS = 20

export function systemGauges(): Gauges {
  const delays = monitorEventLoopDelay({ resolution: LOOK_EVERY_MS })
  delays.enable()
  let cpu = process.cpuUsage()
  let at = performance.now()

  /** In ns; NaN while nothing was measured. */
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

/** Asked for by people and their tools only: nothing here is decided by it, so no test needs to replace it. */
export function systemUsage(): Usage {
  const { user, system } = process.cpuUsage()
  return { cpuMs: (user + system) / 1_000, rssBytes: process.memoryUsage.rss() }
}
