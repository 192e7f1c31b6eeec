/**
 * A platform whose clock stands still until a test moves it: hours pass in milliseconds, and every timer fires in its order. Only what needs no time at all
 * (a timer of 0 ms, the next turn of the loop) happens by itself.
 */
import { type Duration, durationMs, instantAt } from '../../job/duration.ts'
import { checkObjectKeys } from '../../job/known-keys.ts'
import { checkWhole } from '../../job/numbers.ts'
import type { GaugeReading } from '../../platform/gauges.ts'
import { type Platform, systemPlatform } from '../../platform/platform.ts'
import type { Store } from '../../store/store.ts'
import { inFlight } from './in-flight.ts'
import { randomFrom } from './random-from.ts'
import { timeline } from './timeline.ts'

export interface TestPlatformOptions {
  /** What the clock shows at first (default 9 September 2001, far from any real clock: who asks another one is found out). */
  readonly startAt?: Date | number | string
  /** Of the random numbers (default 1). The same seed draws the same. */
  readonly seed?: number
}

export interface TestPlatform extends Platform {
  /** Stands alone, so that it can be passed on: `clock: platform.now`. */
  readonly now: () => number
  /** Moves the clock, firing what becomes due one by one, each at its own time and after everything before it has settled. */
  advance(duration: Duration): Promise<void>
  /** Moves it to the next timer, however far, and fires that. False when there is none. */
  advanceToNextTimer(): Promise<boolean>
  /** Resolves when nothing that is tracked is on its way any more. Handlers that wait for something else are not waited for. */
  settled(): Promise<void>
  /**
   * The same store, with its calls counted while they are on their way. Give a store on a server or a file `clock: platform.now` and leave its timers
   * real: a call that waits for a timer of this platform would be waited for by the clock that should fire it.
   */
  track<S extends Store<never>>(store: S): S
  /** Timers that are set: 0 once everything has stopped. */
  readonly pendingTimers: number
}

const START_AT = 1_000_000_000_000

/** The same at each reading. */
const GAUGES: GaugeReading = {
  cpu: 0.25,
  rssBytes: 100_000_000,
  heapBytes: 50_000_000,
  loopLagMs: { mean: 1, most: 5 },
}

export function testPlatform(options: TestPlatformOptions = {}): TestPlatform {
  checkObjectKeys(options, 'options', ['startAt', 'seed'])
  const { startAt = START_AT, seed = 1 } = options
  const startedAt = instantAt(startAt, 'options.startAt')
  const random = randomFrom(checkWhole(seed, 'options.seed', { least: 0, most: 2 ** 32 - 1 }))
  const timers = timeline()
  const onTheWay = inFlight()
  let now = startedAt
  let moving = 0
  let firing = false

  /** What is due without the clock moving: one per turn, so that what one of them starts comes before the next. */
  function fireDueSoon(): void {
    // Whoever moves the clock fires it, once everything before it has settled.
    if (firing || moving > 0 || timers.nextAt === undefined || timers.nextAt > now) return
    firing = true
    systemPlatform.nextTurn(() => {
      firing = false
      timers.take(now)?.task()
      fireDueSoon()
    })
  }

  const settled = (): Promise<void> => onTheWay.settled(() => !firing)

  /** Fires what is due until then, each at its own time: `most` of them. Returns how many those were. */
  async function fire(until: number, most: number): Promise<number> {
    moving += 1
    try {
      for (let fired = 0; ; fired += 1) {
        await settled()
        const next = fired < most ? timers.take(until) : undefined
        if (next === undefined) return fired
        now = Math.max(now, next.at)
        next.task()
      }
    } finally {
      moving -= 1
      fireDueSoon()
    }
  }

  return {
    now: () => now,
    monotonic: () => now - startedAt,
    random,
    // Real ones: two platforms with the same seed may write to the same database.
    id: () => systemPlatform.id(),
    timer(ms, task) {
      onTheWay.touch()
      // Whole milliseconds, as real timers and wall clocks have them.
      const entry = timers.add(now + Math.max(0, Math.ceil(ms)), task)
      fireDueSoon()
      return { cancel: () => timers.remove(entry) }
    },
    nextTurn: onTheWay.nextTurn,
    gauges: () => ({ read: () => GAUGES, stop() {} }),
    async advance(duration) {
      const until = now + durationMs(duration, 'duration')
      await fire(until, Number.POSITIVE_INFINITY)
      now = Math.max(now, until)
    },
    advanceToNextTimer: async () => (await fire(Number.POSITIVE_INFINITY, 1)) === 1,
    settled,
    track: onTheWay.track,
    get pendingTimers() {
      return timers.size
    },
  }
}
