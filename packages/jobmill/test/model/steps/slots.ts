// Workers are split among instances, some of which are gone.
import * as fc from 'fast-check'
import { ask, pick, type World } from '../world.ts'
import { anyOne, NOBODY, QUEUES, stepOf, type Weighted } from './names.ts'

const UNKNOWN = '00000000-0000-7000-8000-999999999998'

const changes = fc.uniqueArray(
  fc.record({
    instance: anyOne,
    queue: fc.constantFrom(...QUEUES, ...QUEUES, NOBODY),
    workers: fc.constantFrom(null, 0, 1, 2),
  }),
  // The contract leaves open what two changes of the same slot in one call mean.
  { selector: ({ queue }) => queue, minLength: 1, maxLength: 3 },
)

/** Mostly instances that are working. */
function instanceOf({ instances, workers }: World, by: number): string {
  if (by % 7 === 0) return UNKNOWN
  const atWork = workers.map(({ instance }) => instance)
  return pick(by % 5 === 0 ? instances : atWork, by) ?? UNKNOWN
}

export const slotSteps: readonly Weighted[] = [
  stepOf(2, 'assign', changes, async (world, wanted) => {
    const slots = wanted.map(({ instance, ...rest }) => ({ ...rest, instance: instanceOf(world, instance) }))
    await ask(
      world,
      'assign',
      ({ store }) => store.instances.assign(slots),
      (written) => written,
    )
  }),
]
