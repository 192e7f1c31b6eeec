// Workers claim, run and finish. Replies to claims arrive at once, later or never; finishes are sent late and
// twice.
import * as fc from 'fast-check'
import type { ClaimRequest } from '../../../src/store/types/claim.ts'
import { plainHeld, plainLease } from '../plain.ts'
import { noteToken } from '../systems.ts'
import type { LeaseName } from '../lease-name.ts'
import type { World } from '../world.ts'
import { ask, busyWorker, pick, workerOf } from '../world.ts'
import { anArrival, arrive } from './arrival.ts'
import { renew } from './instances.ts'
import { sendNotes } from './notes.ts'
import { finishing, nameFinishes, sendFinishes } from './finish.ts'
import { kindsOfClaim } from './durable/versions.ts'
import { FOLLOWING, KINDS, QUEUES, type Weighted, anyOne, stepOf } from './names.ts'

const request = fc.record({
  queues: fc.tuple(
    ...QUEUES.map((queue) => fc.record({ queue: fc.constant(queue), room: fc.constantFrom(0, 2, 3, 4) })),
  ),
  kinds: fc.oneof(
    { weight: 3, arbitrary: fc.constant([...KINDS, ...FOLLOWING]) },
    { weight: 1, arbitrary: fc.subarray(KINDS) },
  ),
  limit: fc.integer({ min: 1, max: 5 }),
  quarantined: fc.oneof(
    { weight: 4, arbitrary: fc.constant('skip' as const) },
    { weight: 1, arbitrary: fc.constant('only' as const) },
  ),
})

export async function claim(world: World, wanted: ClaimRequest): Promise<LeaseName[]> {
  world.claims += 1
  const claim = world.claims
  const request = { ...wanted, kinds: kindsOfClaim(wanted.kinds, claim) }
  const leases = await ask(
    world,
    'claim',
    ({ store }) => store.claim(request),
    (replies, system) => {
      for (const { id, token } of replies) noteToken(system, { id, claim }, token)
      return replies.map((lease) => ({ id: lease.id, lease: plainLease(lease) }))
    },
  )
  return leases.map(({ id }) => ({ id, claim }))
}

const claiming = fc.record({
  worker: anyOne,
  request,
  arrival: anArrival,
  /** Mostly healthy workers, or little would ever run. */
  renews: fc.constantFrom(true, true, true, false),
})

const noting = fc.record({
  worker: anyOne,
  lease: anyOne,
  notes: fc.array(fc.constantFrom('value' as const, 'log' as const), { minLength: 1, maxLength: 3 }),
})

export const workSteps: readonly Weighted[] = [
  stepOf(12, 'claim', claiming, async (world, { worker: by, request, arrival, renews }) => {
    const worker = workerOf(world, by)
    if (renews) await renew(world, worker)
    const leases = await claim(world, { ...request, instance: worker.instance })
    arrive(worker, leases, arrival)
  }),
  // The request was sent again before its reply arrived; only the second reply arrives.
  stepOf(1, 'claim twice', fc.record({ worker: anyOne, request }), async (world, { worker: by, request }) => {
    const worker = workerOf(world, by)
    await claim(world, { ...request, instance: worker.instance })
    worker.hand.push(...(await claim(world, { ...request, instance: worker.instance })))
  }),
  stepOf(2, 'a late reply arrives', anyOne, async (world, by) => {
    const worker = workerOf(world, by)
    worker.hand.push(...(worker.onTheWay.shift() ?? []))
  }),
  stepOf(10, 'finish', finishing, async (world, { worker: by, ...wanted }) => {
    const worker = busyWorker(world, by)
    await sendFinishes(world, nameFinishes(world, worker.hand.splice(0, wanted.items.length), wanted))
  }),
  // The request is lost. It is among the sent ones, and will be sent again.
  stepOf(2, 'finish, and the request is lost', finishing, async (world, { worker: by, ...wanted }) => {
    const worker = busyWorker(world, by)
    world.sentFinishes.push(nameFinishes(world, worker.hand.splice(0, wanted.items.length), wanted))
  }),
  // The reply or the request was lost; by now the job may have any state.
  stepOf(3, 'finish again', anyOne, async (world, by) => {
    const items = pick(world.sentFinishes, by)
    if (items !== undefined) await sendFinishes(world, items)
  }),
  stepOf(3, 'progress', noting, async (world, { worker, lease, notes }) => {
    const held = pick(busyWorker(world, worker).hand, lease)
    if (held !== undefined) await sendNotes(world, held, notes)
  }),
  // Jobs that the database assigns to a worker that does not know them are released: the reply was lost.
  stepOf(2, 'compare with held', anyOne, async (world, by) => {
    const { instance, hand, onTheWay } = workerOf(world, by)
    const held = await ask(
      world,
      'held',
      ({ store }) => store.instances.held(instance),
      (replies, system) => plainHeld(system, replies) as LeaseName[],
    )
    const known = [...hand, ...onTheWay.flat(), ...world.sentFinishes.flat()]
    const unknown = held.filter(({ id, claim }) => !known.some((one) => one.id === id && one.claim === claim))
    await sendFinishes(world, unknown.map(releasing))
  }),
]

function releasing({ id, claim }: LeaseName): LeaseName & { transition: { to: 'ready' }; outcome: null } {
  return { id, claim, transition: { to: 'ready' }, outcome: null }
}
