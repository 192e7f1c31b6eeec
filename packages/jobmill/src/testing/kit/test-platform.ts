/**
 * A platform with a fake clock: hours pass in milliseconds, and timers fire in order. Only tasks that need no
 * time (a timer of 0 ms, the next event-loop turn) run on their own.
 */
import { type Duration, durationMs, instantAt } from '../../job/duration.ts'
import { checkObjectKeys } from '../../job/options/known-keys.ts'
import { checkWhole } from '../../job/numbers.ts'
import type { GaugeReading } from '../../platform/gauges.ts'
import { type Platform, systemPlatform } from '../../platform/platform.ts'
import type { Store } from '../../store/store.ts'
import { inFlight } from './in-flight.ts'
import { timeline } from './timeline.ts'

export interface TestPlatformOptions {
  /**
   * The initial time (default 9 September 2001, far from any real clock, so that code that reads another
   * clock fails).
   */
  readonly startAt?: Date | number | string
  /** The seed of random numbers (default 1). The same seed gives the same sequence. */
  readonly seed?: number
}

export interface TestPlatform extends Platform {
  /** A plain function, so that it can be passed on: `clock: platform.now`. */
  readonly now: () => number
  /**
   * Moves the clock and fires due timers one by one, each at its own time and after everything before it has
   * settled.
   */
  advance(duration: Duration): Promise<void>
  /** Moves the clock to the next timer, however far, and fires it. False when there is none. */
  advanceToNextTimer(): Promise<boolean>
  /** Resolves when nothing tracked is in flight. Does not wait for handlers that wait for something else. */
  settled(): Promise<void>
  /**
   * The same store with its calls tracked. Give a store on a server or a file `clock: platform.now` and leave
   * its timers real: a call that waits for a timer of this platform would deadlock with the clock.
   */
  track<S extends Store<never>>(store: S): S
  /** The number of set timers: 0 once everything has stopped. */
  readonly pendingTimers: number
}

const START_AT = 1_000_000_000_000

/** Every reading returns these values. */
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

  /**
   * Fires timers that are due without moving the clock: one per turn, so that the work that one starts
   * runs before the next fires.
   */
  function fireDueSoon(): void {
    // While the clock is moving, the move fires it once everything before it has settled.
    if (firing || moving > 0 || timers.nextAt === undefined || timers.nextAt > now) return
    firing = true
    systemPlatform.nextTurn(() => {
      firing = false
      timers.take(now)?.task()
      fireDueSoon()
    })
  }

  const settled = (): Promise<void> => onTheWay.settled(() => !firing)

  /** Fires up to `most` timers that are due until then, each at its own time. Returns how many fired. */
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

  const platform: TestPlatform = {
    now: () => now,
    monotonic: () => now - startedAt,
    random,
    // Real ids: two platforms with the same seed may write to the same database.
    id: () => systemPlatform.id(),
    timer(ms, task, { recurring } = {}) {
      onTheWay.touch()
      // Whole milliseconds, like real timers and wall clocks.
      const entry = timers.add(now + Math.max(0, Math.ceil(ms)), task, recurring)
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
  leaps.set(platform, {
    get nextFixedAt() {
      return timers.nextFixedAt ?? Number.POSITIVE_INFINITY
    },
    to: (at) => void (now = Math.max(now, at)),
  })
  return platform
}

/** How `testMill` moves the clock without firing the timers that only look for work. */
export interface Leap {
  /** When the first other timer is due. */
  readonly nextFixedAt: number
  /** Timers that are due until then fire when the clock moves the next time, in their order. */
  to(at: number): void
}

/** By platform: not a part of the interface, because the other processes on the clock must be prepared. */
const leaps = new WeakMap<Platform, Leap>()

export function leapOf(platform: Platform): Leap | undefined {
  return leaps.get(platform)
}

/**
 * Seeded random numbers, uniform in [0, 1): the same seed gives the same sequence on every machine. Uses
 * mulberry32, which is small and even enough for jitter.
 */
export function randomFrom(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
