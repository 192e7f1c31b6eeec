/** Chance from a seed: the same seed draws the same, on every machine. */

export interface Chance {
  /** Uniform in [0, 1). */
  readonly next: () => number
  /** Whole, from `least` to `most`. */
  readonly whole: (least: number, most: number) => number
  readonly between: (least: number, most: number) => number
  /** True with this probability. */
  readonly isIt: (probability: number) => boolean
  readonly pick: <T>(list: readonly T[]) => T
  /** Another one that draws apart from this, so that a draw more here changes nothing there. */
  readonly fork: () => Chance
}

export function chance(seed: number): Chance {
  let state = seed | 0

  /** mulberry32. */
  function next(): number {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  const whole = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1))
  return {
    next,
    whole,
    between: (least, most) => least + next() * (most - least),
    isIt: (probability) => next() < probability,
    pick: (list) => list[whole(0, list.length - 1)] as (typeof list)[number],
    fork: () => chance(Math.floor(next() * 2 ** 32)),
  }
}
