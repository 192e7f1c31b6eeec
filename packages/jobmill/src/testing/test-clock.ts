/** A clock that moves only when a test moves it. */

export interface TestClock {
  readonly now: () => number
  readonly advance: (ms: number) => void
}

/** In 2001, far from any wall clock, so that a store that reads another clock fails its tests. */
const START_AT = 1_000_000_000_000

export function testClock(startAt: number = START_AT): TestClock {
  let now = startAt
  return {
    now: () => now,
    advance(ms) {
      now += ms
    },
  }
}
