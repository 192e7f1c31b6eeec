// Time passes, and the duties run.
import * as fc from 'fast-check'
import { crashError } from '../../../src/job/attempt/crash.ts'
import { onDeadJob } from '../../../src/job/attempt/on-dead.ts'
import type { RetainRequest } from '../../../src/store/types/replies.ts'
import { endCancelledParents } from '../durable/cancelled-parents.ts'
import { settle } from '../durable/settle.ts'
import { plainReaped, plainStaged } from '../plain.ts'
import type { World } from '../world.ts'
import { ask } from '../world.ts'
import { type Weighted, stepOf } from './names.ts'

/** More than ever wait in a run. */
const STAGES_ALL = 100

export async function stage(world: World, limit: number): Promise<void> {
  await ask(world, 'stage', ({ store }) => store.stage(limit), plainStaged)
  if (limit === STAGES_ALL) world.durable.isStaged = true
}

export async function reap(world: World, crashesUntilDead: number): Promise<void> {
  await endCancelledParents(world)
  const options = { crashesUntilDead, limit: 10 }
  const { jobs } = await ask(world, 'reap', ({ store }) => store.instances.reap(options), plainReaped)
  // A death may enqueue a follow-up job with a predictable id; otherwise no job has this id.
  const dead = jobs.filter(({ state }) => state === 'dead')
  const at = world.clock.now()
  world.ids.push(
    ...dead.map((job) => onDeadJob({ ...job, orderKey: null, error: crashError(job.crashes), at }).id),
  )
  await settle(world)
}

const little = fc.constantFrom(10, 10, 500, 1_000, 4_000)
/** Past every lease, and now and then past the retention of ended instances. */
const much = fc.constantFrom(11_000, 11_000, 11_000, 3_700_000)

type Ages = 'long' | 'short'

const AGES: Readonly<Record<Ages, Omit<RetainRequest, 'limit'>>> = {
  long: { ticksMs: 1e10, eventsMs: 1e10, metricsMs: [1e10, 1e10, 1e10, 1e10] },
  short: { ticksMs: 4_000, eventsMs: 4_000, metricsMs: [1_000, 60_000, 300_000, 3_600_000] },
}

export const dutySteps: readonly Weighted[] = [
  stepOf(4, 'time passes', little, async ({ clock }, ms) => clock.advance(ms)),
  stepOf(1, 'a lease passes', much, async ({ clock }, ms) => clock.advance(ms)),
  stepOf(6, 'stage', fc.constantFrom(1, 3, STAGES_ALL, STAGES_ALL), stage),
  stepOf(1, 'reap', fc.constantFrom(1, 2, 3), reap),
  stepOf(1, 'retain', fc.constantFrom<Ages>('long', 'short'), async (world, ages) => {
    await ask(
      world,
      'retain',
      ({ store }) => store.retain({ limit: 1_000, ...AGES[ages] }),
      (retained) => retained,
    )
  }),
  // Folding is internal to a store; the next comparison shows that counts stay the same.
  stepOf(1, 'fold', fc.constantFrom(2, 1_000), async (world, limit) => {
    await ask(
      world,
      'fold',
      ({ store }) => store.fold(limit),
      () => 'folded',
    )
  }),
]
