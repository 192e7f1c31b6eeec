/** A clock that stands still until a test moves it. */

export interface TestClock {
  readonly now: () => number
  readonly advance: (ms: number) => void
}

/** In 2001, far from any wall clock: a store that asks another clock than the one it was given is found out. */
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
