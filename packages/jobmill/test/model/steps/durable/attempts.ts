// Healthy workers claim, run and end jobs with steps, so that a history has many waits and children.
import * as fc from 'fast-check'
import type { Finish } from '../../../../src/store/types/finish.ts'
import { stageAll } from '../../durable/settle.ts'
import type { World } from '../../world.ts'
import { workerOf } from '../../world.ts'
import { stage } from '../duties.ts'
import { plainShape, send } from '../enqueue.ts'
import { sendFinishes } from '../finish.ts'
import { renew } from '../instances.ts'
import { anyOne, FOLLOWING, KINDS, QUEUES, stepOf, type Weighted } from '../names.ts'
import { claim } from '../work.ts'
import {
  dropLeases,
  heldLeases,
  leasesOf,
  makeDurableJobs,
  onePerJob,
  parentWithOpenChildren,
} from './leases.ts'

const EVERYTHING = {
  queues: QUEUES.map((queue) => ({ queue, room: 100 })),
  kinds: [...KINDS, ...FOLLOWING],
  limit: 100,
  quarantined: 'skip',
} as const

const anEnd = fc.constantFrom<Pick<Finish, 'transition' | 'outcome' | 'error'>>(
  { transition: { to: 'done', result: '{"r":1}' }, outcome: 'returned' },
  { transition: { to: 'done', result: null }, outcome: 'returned' },
  { transition: { to: 'done', result: '2', forget: true }, outcome: 'returned' },
  { transition: { to: 'dead' }, outcome: 'failed', error: 'boom' },
  { transition: { to: 'scheduled', delayMs: 10, refund: false }, outcome: 'failed', error: 'again' },
  { transition: { to: 'ready' }, outcome: null },
)

async function renewAll(world: World): Promise<void> {
  for (const worker of world.workers) await renew(world, worker)
}

async function claimEverything(world: World, by: number): Promise<void> {
  const worker = workerOf(world, by)
  await renew(world, worker)
  worker.hand.push(...(await claim(world, { ...EVERYTHING, instance: worker.instance })))
}

const claimAll = stepOf(16, 'claim all jobs', anyOne, claimEverything)

const plainJobs = fc.array(plainShape, { minLength: 2, maxLength: 3 })
const enqueuePlain = stepOf(1, 'enqueue jobs with steps', plainJobs, (world, wanted) =>
  send(world, makeDurableJobs(world, wanted), false),
)

export const openingSteps: readonly Weighted[] = [enqueuePlain, claimAll, enqueuePlain, claimAll]

export const attemptSteps: readonly Weighted[] = [
  claimAll,
  stepOf(
    8,
    'end jobs with steps',
    fc.record({ leases: fc.array(anyOne, { minLength: 1, maxLength: 3 }), end: anEnd }),
    async (world, { leases: chosen, end }) => {
      const leases = leasesOf(world, chosen)
      dropLeases(world, leases)
      await sendFinishes(
        world,
        leases.map((lease) => ({ ...lease, ...end })),
      )
    },
  ),
  stepOf(
    6,
    'end the children of a job',
    fc.record({ job: anyOne, worker: anyOne, end: anEnd }),
    async (world, { job, worker, end }) => {
      const parent = await parentWithOpenChildren(world, job)
      await claimEverything(world, worker)
      if (parent === undefined) return
      const { parents } = world.durable
      const leases = onePerJob(heldLeases(world).filter(({ id }) => parents.get(id) === parent))
      dropLeases(world, leases)
      await sendFinishes(
        world,
        leases.map((lease) => ({ ...lease, ...end })),
      )
      await stageAll(world)
    },
  ),
  stepOf(5, 'time passes for healthy workers', fc.constantFrom(10, 500, 4_000), async (world, ms) => {
    await renewAll(world)
    world.clock.advance(ms)
    await renewAll(world)
    await stage(world, 100)
  }),
]
