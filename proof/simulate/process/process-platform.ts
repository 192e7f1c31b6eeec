/**
 * The platform of one simulated process: simulated time with its own adjustable wall clock, and randomness
 * from the seed.
 */
import type { Platform } from 'jobmill'
import { mintIds } from '../../../packages/jobmill/src/platform/mint-ids.ts'
import type { Chance } from '../chance.ts'
import type { Owner, World } from '../world.ts'

export interface ProcessPlatform extends Platform {
  /** Moves the wall clock forward or back. */
  stepClock(ms: number): void
  /** How long the process has been awake. */
  awakeMs(): number
}

/** The wall clock time of 0 in the simulation. */
export const EPOCH = Date.UTC(2030, 0, 1)

export function processPlatform(world: World, owner: Owner | null, chance: Chance): ProcessPlatform {
  let wrongBy = 0
  const startedAt = world.now()
  const now = (): number => Math.floor(EPOCH + world.now() + wrongBy)
  const id = mintIds(now, (words) => words.forEach((_, at) => (words[at] = chance.whole(0, 2 ** 32 - 1))))
  return {
    now,
    monotonic: () => world.now() - startedAt,
    random: chance.next,
    id,
    timer: (ms, task) => world.after(ms, owner, task),
    nextTurn: (task) => void world.after(0, owner, task),
    gauges: () => ({
      read: () => ({ cpu: 0, rssBytes: 1, heapBytes: 1, loopLagMs: { mean: 0, most: 0 } }),
      stop() {},
    }),
    stepClock: (ms) => void (wrongBy += ms),
    awakeMs: () => world.now() - (owner?.awakeSince ?? 0),
  }
}
