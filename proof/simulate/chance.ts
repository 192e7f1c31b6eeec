/** All random decisions of a proof, from one seed. */
import { randomFrom } from '../../packages/jobmill/src/testing/kit/test-platform.ts'

export interface Chance {
  /** Uniform in [0, 1). */
  readonly next: () => number
  /** An integer from `least` to `most`. */
  readonly whole: (least: number, most: number) => number
  readonly between: (least: number, most: number) => number
  /** True with this probability. */
  readonly isIt: (probability: number) => boolean
  readonly pick: <T>(list: readonly T[]) => T
  /** An independent generator, so that an extra draw here does not change draws there. */
  readonly fork: () => Chance
}

export function chance(seed: number): Chance {
  const next = randomFrom(seed)
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
