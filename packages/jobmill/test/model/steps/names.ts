// The few names that everything in a run is called by, so that collisions are common, and the figures that go with them.
import * as fc from 'fast-check'
import { onDeadKind } from '../../../src/job/on-dead.ts'
import type { Step, World } from '../world.ts'

export const QUEUES = ['a', 'b']
export const KINDS = ['x', 'y', 'z']
/** Kinds whose deaths some workers follow up, and the kinds that come of it. */
export const FOLLOWED = ['x', 'y']
export const FOLLOWING = FOLLOWED.map(onDeadKind)
export const DEDUPE_KEYS = ['k1', 'k2', 'k3']
export const ORDER_KEYS = ['o1', 'o2']
export const TAGS = ['red', 'big']
export const DUTIES = ['reap', 'stage']
export const SCHEDULES = ['s1', 's2']
export const LIMITS = ['rate', 'permits', 'keyed']
export const LIMIT_KEYS = ['l1', 'l2']
/** Nothing has this name. */
export const NOBODY = 'nope'

// The clock moves in tens, and these end in 3: nothing is ever looked at in the very instant in which a lease or a hold
// is over, which the contract does not settle.
export const LEASE_MS = 10_003
export const HOLD_MS = 2_003
export const RETAIN_MS = 5_000

export const RENEW_EVERY_MS = 3_000

/** A number to choose with from things that are known only when the step runs. */
export const anyOne = fc.nat({ max: 999 })

/** A sort of step, and how often it is taken. */
export type Weighted = fc.WeightedArbitrary<Step>

/** A step that is made from random arguments, and that says which. */
export function stepOf<Args>(
  weight: number,
  name: string,
  args: fc.Arbitrary<Args>,
  run: (world: World, args: Args) => Promise<void>,
): Weighted {
  const arbitrary = args.map((given): Step => ({
    says: `${name} ${JSON.stringify(given)}`,
    run: (world) => run(world, given),
    [fc.toStringMethod]: () => `${name} ${JSON.stringify(given)}`,
  }))
  return { weight, arbitrary }
}
