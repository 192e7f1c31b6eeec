/**
 * The supervisor of a duty: a pass at once, then one per period with jitter. Passes never overlap; one that takes longer than its deadline or fails is told
 * of and made again, with pauses that grow until it succeeds.
 */
import { pauses } from '../platform/pauses.ts'
import type { Platform } from '../platform/platform.ts'
import type { Service } from '../platform/service.ts'
import { sleep } from '../platform/sleep.ts'
import { within } from '../platform/within.ts'

export interface DutyOptions {
  readonly name: string
  readonly everyMs: number
  readonly deadlineMs: number
  /** Looks at the signal between its batches. */
  readonly pass: (signal: AbortSignal) => Promise<void>
  readonly platform: Platform
  readonly failing: (error: unknown) => void
  readonly working: () => void
}

export function duty(options: DutyOptions): Service {
  const { platform, everyMs } = options
  const pause = pauses(platform, { firstMs: 1_000, longestMs: Math.max(1_000, everyMs) })
  let stopping: AbortController | null = null
  let loop: Promise<void> = Promise.resolve()

  async function onePass(stop: AbortSignal): Promise<boolean> {
    const ended = new AbortController()
    // Async, so that one that throws at once fails like any other.
    const pass = (async () => options.pass(AbortSignal.any([stop, ended.signal])))()
    try {
      await within(platform, options.deadlineMs, options.name, pass)
      options.working()
      return true
    } catch (error) {
      if (!stop.aborted) options.failing(error)
      return false
    } finally {
      // A pass that is too late is told, and must not go on beside the next one.
      ended.abort()
      await pass.catch(() => {})
    }
  }

  async function run(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      if (await onePass(stop)) {
        pause.reset()
        await sleep(platform, everyMs * (0.9 + platform.random() / 5), stop)
      } else await pause.wait(stop)
    }
  }

  return {
    async start() {
      if (stopping !== null) return
      stopping = new AbortController()
      loop = run(stopping.signal)
    },
    async stop() {
      stopping?.abort()
      await loop
    },
  }
}
