// One run: the same steps on every system, with a comparison of everything now and then, and at the end.
import * as fc from 'fast-check'
import { DEFAULT_QUEUE_SETTINGS } from '../../src/job/queue/queue-settings.ts'
import type { ConformanceSubject } from '../../../conformance/src/suite/subject.ts'
import { checkDurable } from './durable/check.ts'
import { compareAll } from './dump.ts'
import { attemptSteps, openingSteps } from './steps/durable/attempts.ts'
import { eventSteps } from './steps/durable/events.ts'
import { durableJobSteps } from './steps/durable/jobs.ts'
import { parkSteps } from './steps/durable/parks.ts'
import { writeSteps } from './steps/durable/writes.ts'
import { dutySteps } from './steps/duties.ts'
import { enqueueSteps } from './steps/enqueue.ts'
import { metricSteps } from './steps/metrics.ts'
import { directDispatchSteps } from './steps/direct-dispatch.ts'
import { instanceSteps, newWorker, register } from './steps/instances.ts'
import { FIRST_LIMITS, limitSteps } from './steps/limits.ts'
import { QUEUES, type Weighted } from './steps/names.ts'
import { operateSteps } from './steps/operate.ts'
import { FIRST_SCHEDULES, scheduleSteps } from './steps/schedules.ts'
import { slotSteps } from './steps/slots.ts'
import { workSteps } from './steps/work.ts'
import { type Step, type World, closeWorld, openWorld } from './world.ts'
import type { FullStore } from '../../src/store/store.ts'

const LOOK_EVERY = 12

const oneStep: fc.Arbitrary<Step> = fc.oneof(
  ...enqueueSteps,
  ...directDispatchSteps,
  ...workSteps,
  ...operateSteps,
  ...instanceSteps,
  ...dutySteps,
  ...slotSteps,
  ...scheduleSteps,
  ...limitSteps,
  ...metricSteps,
)

/** Mostly jobs with durable steps, and everything that can happen to a job. */
const oneDurableStep: fc.Arbitrary<Step> = fc.oneof(
  ...[...durableJobSteps, ...attemptSteps, ...writeSteps, ...parkSteps, ...eventSteps].map(fourfold),
  ...enqueueSteps,
  ...workSteps,
  ...operateSteps,
  ...instanceSteps,
  ...dutySteps,
  ...limitSteps,
)

function fourfold({ weight, arbitrary }: Weighted): Weighted {
  return { weight: weight * 4, arbitrary }
}

export function someSteps(most: number): fc.Arbitrary<Step[]> {
  return fc.array(oneStep, { minLength: 1, maxLength: most, size: 'max' })
}

/** They begin with running jobs, because little can happen to others. */
export function someDurableSteps(most: number): fc.Arbitrary<Step[]> {
  const opening = fc.tuple(...openingSteps.map(({ arbitrary }) => arbitrary))
  const rest = fc.array(oneDurableStep, { minLength: Math.ceil(most / 2), maxLength: most, size: 'max' })
  return fc.tuple(opening, rest).map((parts) => parts.flat())
}

/** Adds the steps so far to an error. */
export async function withStepsInError(steps: readonly Step[], act: () => Promise<void>): Promise<void> {
  try {
    await act()
  } catch (error) {
    const past = steps.map(({ says }, n) => `${n + 1}. ${says}`).join('\n')
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n\nafter:\n${past}`, {
      cause: error,
    })
  }
}

/** The start of every run: settings, and the first workers. */
export async function begin(world: World): Promise<void> {
  const queues = QUEUES.map((name) => ({ name, settings: DEFAULT_QUEUE_SETTINGS }))
  await Promise.all(world.systems.map(({ store }) => store.queues.declare(queues)))
  await Promise.all(world.systems.map(({ store }) => store.limits.declare(FIRST_LIMITS)))
  await Promise.all(world.systems.map(({ store }) => store.schedules.declare(FIRST_SCHEDULES)))
  await startWorkers(world)
}

export async function startWorkers(world: World): Promise<void> {
  for (let n = 0; n < 3; n += 1) {
    const worker = newWorker(world)
    world.workers.push(worker)
    await register(world, worker)
  }
}

export async function run(
  subjects: readonly ConformanceSubject<FullStore>[],
  steps: readonly Step[],
): Promise<void> {
  const world = await openWorld(subjects)
  try {
    await begin(world)
    for (const [n, step] of steps.entries()) {
      const isTimeToLook = n % LOOK_EVERY === LOOK_EVERY - 1 || n === steps.length - 1
      await withStepsInError(steps.slice(0, n + 1), async () => {
        await step.run(world)
        await checkDurable(world)
        if (isTimeToLook) await compareAll(world)
      })
    }
  } finally {
    await closeWorld(world)
  }
}
