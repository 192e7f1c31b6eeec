// Brings the systems to the same state where the contract says "at the latest with the next stage": a store
// may wake parents and receivers at once, or in the next stage.
import { ask, type World } from '../world.ts'
import { isDeepStrictEqual } from 'node:util'

/** A chain of cancelled jobs takes one pass for each of its levels. */
const MOST_PASSES = 20

export async function stageAll(world: World): Promise<void> {
  await Promise.all(world.systems.map(({ store }) => store.stage(100)))
  world.durable.isStaged = true
}

/** Stages until all systems agree on the states of the jobs that have steps. */
export async function settle(world: World): Promise<void> {
  for (let passes = 0; passes < MOST_PASSES; passes += 1) {
    const [expected, ...others] = await Promise.all(world.systems.map((system) => statesIn(world, system)))
    if (others.every((states) => isDeepStrictEqual(states, expected))) return
    await stageAll(world)
  }
  await ask(
    world,
    'the states after the stages',
    (system) => statesIn(world, system),
    (states) => states,
  )
}

async function statesIn(world: World, { store }: World['systems'][number]): Promise<object> {
  const jobs = await store.get([...world.durable.jobs.keys()])
  return Object.fromEntries(
    jobs.filter((job) => job !== null).map(({ id, state, cancelReason }) => [id, [state, cancelReason]]),
  )
}
