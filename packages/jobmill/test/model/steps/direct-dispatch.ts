// Workers enqueue and get jobs by direct dispatch within their room. As with claims, replies arrive at once,
// later or never.
import * as fc from 'fast-check'
import type { NewJob } from '../../../src/job/enqueue/new-job.ts'
import type { DirectDispatchOffer } from '../../../src/store/types/claim.ts'
import { plainLease } from '../plain.ts'
import { noteToken } from '../systems.ts'
import type { LeaseName } from '../lease-name.ts'
import type { World } from '../world.ts'
import { ask, workerOf } from '../world.ts'
import { anArrival, arrive } from './arrival.ts'
import { type JobShape, makeJobs, plainShape, shape } from './enqueue.ts'
import { renew } from './instances.ts'
import { FOLLOWING, KINDS, QUEUES, type Weighted, anyOne, stepOf } from './names.ts'
import { claim } from './work.ts'

/** Mostly jobs that can be dispatched directly. */
const handing = fc.record({
  worker: anyOne,
  wanted: fc.array<JobShape>(
    fc.oneof({ weight: 2, arbitrary: plainShape }, { weight: 1, arbitrary: shape }),
    { minLength: 1, maxLength: 6 },
  ),
  request: fc.record({
    // A queue may be named twice, or not at all.
    queues: fc.array(fc.record({ queue: fc.constantFrom(...QUEUES), room: fc.constantFrom(0, 1, 2, 3) }), {
      minLength: 1,
      maxLength: 4,
    }),
    kinds: fc.oneof(
      { weight: 2, arbitrary: fc.constant(KINDS) },
      { weight: 1, arbitrary: fc.subarray(KINDS) },
    ),
  }),
  /**
   * An idle worker has claimed the ready jobs first; for any other, ready jobs mostly prevent direct
   * dispatch.
   */
  isIdle: fc.boolean(),
  arrival: anArrival,
  renews: fc.constantFrom(true, true, true, false),
  mayRepeat: fc.constantFrom(false, false, false, false, true),
})

const EVERYTHING = {
  queues: QUEUES.map((queue) => ({ queue, room: 100 })),
  kinds: [...KINDS, ...FOLLOWING],
  limit: 100,
  quarantined: 'skip',
} as const

async function directDispatch(
  world: World,
  jobs: readonly NewJob[],
  {
    mayRepeat,
    directDispatch,
  }: { readonly mayRepeat: boolean; readonly directDispatch: DirectDispatchOffer },
): Promise<LeaseName[]> {
  world.sentJobs.push(jobs)
  world.claims += 1
  const claim = world.claims
  const replies = await ask(
    world,
    `enqueue ${JSON.stringify(jobs)} and hand off`,
    ({ store }) => store.enqueue(jobs, { mayRepeat, directDispatch }),
    (replies, system) => {
      for (const { id, lease } of replies)
        if (lease !== undefined) noteToken(system, { id, claim }, lease.token)
      return replies.map(({ lease, ...reply }) => ({ ...reply, lease: lease && plainLease(lease) }))
    },
  )
  return replies.flatMap(({ id, lease }) => (lease === undefined ? [] : [{ id, claim }]))
}

export const directDispatchSteps: readonly Weighted[] = [
  stepOf(8, 'enqueue and hand off', handing, async (world, { worker: by, wanted, request, ...how }) => {
    const worker = workerOf(world, by)
    if (how.renews) await renew(world, worker)
    if (how.isIdle) worker.hand.push(...(await claim(world, { ...EVERYTHING, instance: worker.instance })))
    const jobs = makeJobs(world, wanted)
    const { mayRepeat } = how
    const leases = await directDispatch(world, jobs, {
      mayRepeat,
      directDispatch: { ...request, instance: worker.instance },
    })
    arrive(worker, leases, how.arrival)
  }),
]
