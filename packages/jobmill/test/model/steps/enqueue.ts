// Jobs of every sort are enqueued, some calls twice.
import * as fc from 'fast-check'
import type { NewJob } from '../../../src/job/enqueue/new-job.ts'
import { type JobRequest, prepareJobs } from '../../../src/job/enqueue/prepare-jobs.ts'
import type { World } from '../world.ts'
import { ask, mintId, pick } from '../world.ts'
import {
  DEDUPE_KEYS,
  HOLD_MS,
  KINDS,
  ORDER_KEYS,
  QUEUES,
  TAGS,
  type Weighted,
  anyOne,
  stepOf,
} from './names.ts'

/** Mostly due at once; `inMs` becomes an instant when the job is made. */
const due = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  { weight: 2, arbitrary: fc.record({ delay: fc.constantFrom(10, 500, 4_000) }) },
  { weight: 1, arbitrary: fc.record({ inMs: fc.constantFrom(-5_000, 0, 1_000) }) },
)

const onConflict = fc.constantFrom('keep' as const, 'replace' as const)

const dedupe = fc
  .record(
    {
      key: fc.constantFrom(...DEDUPE_KEYS),
      scope: fc.constantFrom('global' as const, 'global' as const, 'queue' as const, 'kind' as const),
      hold: fc.oneof(
        { weight: 3, arbitrary: fc.record({ holdFor: fc.constantFrom(0, HOLD_MS), onConflict }) },
        {
          weight: 1,
          arbitrary: fc.record({
            holdFor: fc.constant(HOLD_MS),
            holdAfter: fc.constant('ended' as const),
            onConflict,
          }),
        },
        { weight: 1, arbitrary: fc.record({ window: fc.constant(HOLD_MS) }) },
        { weight: 1, arbitrary: fc.record({ until: fc.constant('started' as const), onConflict }) },
      ),
    },
    { requiredKeys: ['key'] },
  )
  .map(({ hold, ...rest }) => ({ ...rest, ...hold }))

export interface JobShape extends Omit<JobRequest, 'payload'> {
  readonly inMs?: number
}

const rarely = { requiredKeys: ['kind', 'queue'] } satisfies { requiredKeys: ['kind', 'queue'] }

/** Due at once, without any key. */
export const plainShape: fc.Arbitrary<JobShape> = fc.record(
  {
    kind: fc.constantFrom(...KINDS),
    queue: fc.constantFrom(...QUEUES),
    priority: fc.integer({ min: -1, max: 1 }),
    tags: fc.subarray(TAGS),
    maxAttempts: fc.integer({ min: 1, max: 3 }),
    timeout: fc.constantFrom(50, 60_000),
  },
  rarely,
)

const debounce = fc.record(
  {
    key: fc.constantFrom(...DEDUPE_KEYS),
    wait: fc.constantFrom(503, HOLD_MS),
    maxWait: fc.constant(2 * HOLD_MS),
  },
  { requiredKeys: ['key', 'wait'] },
)

const undebounced: fc.Arbitrary<JobShape> = fc
  .tuple(
    plainShape,
    fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, { weight: 2, arbitrary: fc.record({ dedupe }) }),
    fc.oneof(
      { weight: 2, arbitrary: fc.constant({}) },
      { weight: 1, arbitrary: fc.record({ orderKey: fc.constantFrom(...ORDER_KEYS) }) },
    ),
    due,
  )
  .map((parts) => Object.assign({}, ...parts) as JobShape)

export const shape: fc.Arbitrary<JobShape> = fc.oneof(
  { weight: 6, arbitrary: undebounced },
  {
    weight: 1,
    arbitrary: fc
      .tuple(plainShape, fc.record({ debounce }))
      .map((parts) => Object.assign({}, ...parts) as JobShape),
  },
)

export const shapes = (most: number): fc.Arbitrary<JobShape[]> =>
  fc.array(shape, { minLength: 1, maxLength: most }).map(oneOrderKey)

/**
 * PostgreSQL writes the new jobs of a call before it replaces others, so a job that is replaced joins its
 * order queue behind the new ones.
 */
function oneOrderKey(wanted: JobShape[]): JobShape[] {
  if (!wanted.some(({ dedupe }) => dedupe?.onConflict === 'replace')) return wanted
  return wanted.map(({ orderKey, ...one }, n) =>
    n === 0 && orderKey !== undefined ? { ...one, orderKey } : one,
  )
}

/** Makes jobs from shapes, with distinct ids and payloads. */
export function makeJobs(world: World, wanted: readonly JobShape[]): NewJob[] {
  const requests = wanted.map(({ inMs, ...request }) => ({
    ...request,
    ...(inMs === undefined ? {} : { runAt: world.clock.now() + inMs }),
    payload: { n: world.minted },
  }))
  const jobs = prepareJobs(requests, { mintId: () => mintId(world) })
  world.ids.push(...jobs.map(({ id }) => id))
  return jobs
}

export async function send(world: World, jobs: readonly NewJob[], mayRepeat: boolean): Promise<void> {
  world.sentJobs.push(jobs)
  await ask(
    world,
    'enqueue',
    ({ store }) => store.enqueue(jobs, { mayRepeat }),
    (replies) => replies,
  )
}

export const enqueueSteps: readonly Weighted[] = [
  stepOf(9, 'enqueue', shapes(6), (world, wanted) => send(world, makeJobs(world, wanted), false)),
  stepOf(1, 'enqueue twice', shapes(3), async (world, wanted) => {
    const jobs = makeJobs(world, wanted)
    await send(world, jobs, false)
    await send(world, jobs, true)
  }),
  // The reply was lost, and the client retries, maybe much later.
  stepOf(1, 'enqueue again', anyOne, async (world, by) => {
    const jobs = pick(world.sentJobs, by)
    if (jobs !== undefined) await send(world, jobs, true)
  }),
]
