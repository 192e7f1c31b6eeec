/** The outside world as one simulated process sees it: the world's time through a wall clock of its own that can be set wrong, and chance from the seed. */
import type { Platform } from 'jobmill'
import type { Chance } from './chance.ts'
import type { Owner, World } from './world.ts'

export interface ProcessPlatform extends Platform {
  /** Sets the wall clock forward, or back. */
  stepClock(ms: number): void
}

/** What the world's 0 is on wall clocks. */
export const EPOCH = Date.UTC(2030, 0, 1)

export function processPlatform(world: World, owner: Owner | null, chance: Chance): ProcessPlatform {
  let wrongBy = 0
  const startedAt = world.now()
  const now = (): number => Math.floor(EPOCH + world.now() + wrongBy)
  const id = ids(now, chance)
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
  }
}

/** Version 7, rising within a process, also when its clock is set back. */
function ids(now: () => number, chance: Chance): () => string {
  let last = 0
  let count = 0
  const who = chance
    .whole(0, 2 ** 31)
    .toString(16)
    .padStart(8, '0')
  return () => {
    last = Math.max(last, now())
    count += 1
    const time = last.toString(16).padStart(12, '0')
    const rest = count.toString(16).padStart(7, '0')
    return `${time.slice(0, 8)}-${time.slice(8)}-7${rest.slice(0, 3)}-8000-${rest.slice(3)}${who}`
  }
}
