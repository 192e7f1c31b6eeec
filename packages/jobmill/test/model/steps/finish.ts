// Every way to end an attempt: all transitions and outcomes, cool-downs, follow-ups.
import * as fc from 'fast-check'
import { OUTCOMES } from '../../../src/job/attempt/outcome.ts'
import type { CoolDown, Finish, Finished, Transition } from '../../../src/store/types/finish.ts'
import { apart } from '../durable/notes.ts'
import { settle } from '../durable/settle.ts'
import { tokenOf } from '../systems.ts'
import type { LeaseName, NamedFinish } from '../lease-name.ts'
import type { World } from '../world.ts'
import { ask } from '../world.ts'
import { makeJobs, shapes } from './enqueue.ts'
import { anyOne } from './names.ts'

type Ending = Pick<Finish, 'transition' | 'outcome' | 'error' | 'ranMs' | 'log'>

const notes = fc.record(
  {
    error: fc.constantFrom('one', 'two'),
    ranMs: fc.constantFrom(0, 100, 60_000),
    log: fc.constantFrom('', 'brought'),
  },
  { requiredKeys: [] },
)
const someOutcome = fc.constantFrom(...OUTCOMES)

function ending(
  transition: fc.Arbitrary<Transition>,
  outcome: fc.Arbitrary<Finish['outcome']>,
): fc.Arbitrary<Ending> {
  return fc
    .tuple(transition, outcome, notes)
    .map(([transition, outcome, notes]) => ({ transition, outcome, ...notes }))
}

const scheduled = fc.record({
  to: fc.constant('scheduled' as const),
  delayMs: fc.constantFrom(0, 10, 4_000),
  refund: fc.boolean(),
})

const done = fc.record({ to: fc.constant('done' as const), result: fc.constantFrom(null, '{"r":1}') })

// A handler that never started ends no job, so endings always have an outcome.
const anEnding: fc.Arbitrary<Ending> = fc.oneof(
  ending(done, fc.constant('returned' as const)),
  ending(
    fc.tuple(done, fc.constantFrom(true, true, true, false)).map(([done, forget]) => ({ ...done, forget })),
    fc.constant('returned' as const),
  ),
  ending(scheduled, fc.oneof(someOutcome, fc.constant(null))),
  ending(fc.constant({ to: 'ready' as const }), fc.constantFrom(null, null, 'interrupted' as const)),
  ending(
    fc.record({ to: fc.constant('dead' as const), refund: fc.boolean() }, { requiredKeys: ['to'] }),
    someOutcome,
  ),
  ending(fc.constant({ to: 'cancelled' as const }), fc.constant('cancelled' as const)),
)

const cool: fc.Arbitrary<CoolDown> = fc.oneof(
  fc.record({ forMs: fc.constantFrom(500, 4_000) }),
  // A quiet period so long that the count is never reset: the contract leaves open when it starts.
  fc.constant({ baseMs: 500, maxMs: 3_000, quietMs: 1e9 }),
)

interface Wanted {
  readonly items: readonly Ending[]
  /** For the whole call: the contract leaves open what a call with both sorts of cool-down means. */
  readonly cool?: CoolDown | undefined
  readonly followUps?: Parameters<typeof makeJobs>[1] | undefined
}

export const finishing: fc.Arbitrary<Wanted & { readonly worker: number }> = fc.record({
  worker: anyOne,
  items: fc.array(anEnding, { minLength: 1, maxLength: 3 }),
  cool: fc.option(cool, { nil: undefined, freq: 6 }),
  followUps: fc.option(shapes(2), { nil: undefined, freq: 3 }),
})

export async function sendFinishes(world: World, given: readonly NamedFinish[]): Promise<void> {
  if (given.length === 0) return
  const items = given.map((item) => withOutcome(world, item))
  world.sentFinishes.push(items)
  for (const some of apart(world.durable, items)) {
    await ask(
      world,
      `finish ${JSON.stringify(some)}`,
      (system) =>
        system.store.finish(
          some.map(({ claim, ...item }) => ({ ...item, token: tokenOf(system, { id: item.id, claim }) })),
        ),
      (replies) => replies.map((reply) => plainFinished(world, reply)),
    )
    await settle(world)
  }
}

/**
 * The contract leaves open whether a job without such a record still counts as parked by its last attempt.
 */
function withOutcome({ durable }: World, item: NamedFinish): NamedFinish {
  const isRecorded = item.outcome !== null || item.transition.to !== 'scheduled' || !durable.jobs.has(item.id)
  return isRecorded ? item : { ...item, outcome: 'snoozed' }
}

/**
 * A stale worker may park what another request for the same lease has ended. The contract names the state in
 * the reply only for the same finish that is sent again.
 */
function plainFinished({ durable }: World, reply: Finished): object {
  return reply.again === true && durable.jobs.has(reply.id) ? { ...reply, state: null } : reply
}

/**
 * These leases with the wanted endings. Only the last one has follow-ups: the contract leaves open whether
 * they precede the moves of the next.
 */
export function nameFinishes(
  world: World,
  leases: readonly LeaseName[],
  { items, cool, followUps }: Wanted,
): NamedFinish[] {
  return leases.flatMap((lease, n) => {
    const ending = items[n]
    if (ending === undefined) return []
    const isLast = n === leases.length - 1
    const jobs = isLast && followUps !== undefined ? makeJobs(world, followUps) : undefined
    return [{ ...lease, ...ending, cool, followUps: jobs }]
  })
}
