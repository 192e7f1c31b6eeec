// The few names in a run, so that collisions are common, and the numbers that belong to them.
import * as fc from 'fast-check'
import { onDeadKind } from '../../../src/job/attempt/on-dead.ts'
import type { Step, World } from '../world.ts'

export const QUEUES = ['a', 'b']
export const KINDS = ['x', 'y', 'z']
/** Kinds with an onDead handler in some workers, and the kinds of their follow-ups. */
export const FOLLOWED = ['x', 'y']
export const FOLLOWING = FOLLOWED.map(onDeadKind)
export const DEDUPE_KEYS = ['k1', 'k2', 'k3']
export const ORDER_KEYS = ['o1', 'o2']
export const TAGS = ['red', 'big']
export const DUTIES = ['reap', 'stage']
export const SCHEDULES = ['s1', 's2']
export const LIMITS = ['rate', 'permits', 'keyed']
export const LIMIT_KEYS = ['l1', 'l2']
/** A name that does not exist. */
export const NOBODY = 'nope'

// The clock moves in tens, and these end in 3: nothing is read in the instant in which a lease or a hold
// expires, which the contract leaves open.
export const LEASE_MS = 10_003
export const HOLD_MS = 2_003
export const RETAIN_MS = 5_000

export const RENEW_EVERY_MS = 3_000

/** A number to choose from things that are known only when the step runs. */
export const anyOne = fc.nat({ max: 999 })

/** A kind of step, and its weight. */
export type Weighted = fc.WeightedArbitrary<Step>

/** A step made from random arguments, which it can describe. */
export function stepOf<Args>(
  weight: number,
  name: string,
  args: fc.Arbitrary<Args>,
  run: (world: World, args: Args) => Promise<void>,
): Weighted {
  const arbitrary = args.map((input): Step => ({
    says: `${name} ${JSON.stringify(input)}`,
    run: (world) => run(world, input),
    [fc.toStringMethod]: () => `${name} ${JSON.stringify(input)}`,
  }))
  return { weight, arbitrary }
}
