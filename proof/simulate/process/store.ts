/** The real SQLite store, in memory and on the simulated clock. */
import type { FullStore } from 'jobmill'
import { createSqliteStore } from '../../../packages/jobmill/src/store-sqlite/sqlite-store.ts'
import type { Chance } from '../chance.ts'
import { EPOCH, processPlatform } from './process-platform.ts'
import type { World } from '../world.ts'

const NEVER = { cancel() {} }

/** The current time for the store and the checker. */
export const clockOf = (world: World) => (): number => Math.floor(EPOCH + world.now())

export async function openStore(world: World, chance: Chance): Promise<FullStore<never>> {
  const platform = processPlatform(world, null, chance)
  const store = createSqliteStore({
    path: ':memory:',
    // Its only unref timer checks whether another process wrote to the file.
    platform: {
      ...platform,
      timer: (ms, task, how) => (how?.unref === true ? NEVER : platform.timer(ms, task)),
    },
    clock: clockOf(world),
    durability: 'full',
    busyDeadlineMs: 30_000,
  }) as FullStore<never>
  await through(world, store.open())
  return store
}

/** Runs the simulation until the work is done. */
export async function through<T>(world: World, work: Promise<T>): Promise<T> {
  const state = { isOver: false }
  const over = (): boolean => state.isOver
  void work.finally(() => (state.isOver = true)).catch(() => {})
  while (!over()) await world.run(world.now() + 1)
  return work
}
