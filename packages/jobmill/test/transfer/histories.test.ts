// Random histories on a store and the oracle; then everything is transferred to the other store, where the
// history continues. The oracle is not transferred, and must not see a difference. JOBMILL_RUNS asks for more
// runs, JOBMILL_SEED replays a failed one.
// oxlint-disable vitest/expect-expect -- `check` throws when a property does not hold
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { describe, test } from 'vitest'
import { inFull } from '../../../../test/support/suite/in-full.ts'
import { transferAll } from '../../src/cli/transfer/transfer-parts.ts'
import { verify } from '../../src/cli/transfer/verify.ts'
import type { ToolStore } from '../../src/store/store.ts'
import type { ConformanceSubject } from '../../../conformance/src/suite/subject.ts'
import { aRetain } from '../../../conformance/src/factories.ts'
import { currentPostgresSubject } from '../conformance/postgres-subject.ts'
import { sqliteSubject } from '../conformance/sqlite-subject.ts'
import { check, timeoutMs } from '../model/check.ts'
import { plainJob } from '../model/plain.ts'
import { begin, startWorkers, withStepsInError } from '../model/run.ts'
import { dutySteps, reap } from '../model/steps/duties.ts'
import { enqueueSteps } from '../model/steps/enqueue.ts'
import { directDispatchSteps } from '../model/steps/direct-dispatch.ts'
import { instanceSteps } from '../model/steps/instances.ts'
import { limitSteps } from '../model/steps/limits.ts'
import { SCHEDULES } from '../model/steps/names.ts'
import { operateSteps } from '../model/steps/operate.ts'
import { scheduleSteps } from '../model/steps/schedules.ts'
import { workSteps } from '../model/steps/work.ts'
import { ask, closeWorld, openWorld, type Step, type World } from '../model/world.ts'
import { WAY } from './places.ts'
import type { FullStore } from '../../src/store/store.ts'

const FILE = 'packages/jobmill/test/transfer/histories.test.ts'
const RUNS = inFull(3, 1)
const STEPS = 40

const steps = [
  ...enqueueSteps,
  ...directDispatchSteps,
  ...workSteps,
  ...operateSteps,
  ...instanceSteps,
  ...dutySteps,
  ...scheduleSteps,
]
const some = (from: typeof steps): fc.Arbitrary<Step[]> =>
  fc.array(fc.oneof(...from), { minLength: 1, maxLength: STEPS, size: 'max' })
// A transfer drops waiters for limits, so no step uses limits afterwards.
const history = fc.record({ before: some([...steps, ...limitSteps]), after: some(steps) })

/** What a transfer keeps. */
async function compareKept(world: World): Promise<void> {
  const { ids } = world
  await ask(
    world,
    'what it shows',
    async (system) => {
      const { store } = system
      const jobs = await store.get(ids)
      return {
        jobs: await Promise.all(
          jobs.map(async (job, n) => plainJob(system, job, await store.history(ids[n] ?? ''))),
        ),
        results: await store.results(ids),
        counts: await store.counts(),
        queues: await store.queues.list(),
        schedules: await store.schedules.list(),
        ticks: await Promise.all(SCHEDULES.map((name) => store.schedules.ticks(name, 100))),
        // Keys start full, so none is stored.
        limits: (await store.limits.list()).map(({ keys: _, ...limit }) => limit),
      }
    },
    (text) => text,
  )
}

/** All processes die, and their jobs are recovered. Then the store is replaced by the other one. */
async function moved(world: World, to: ConformanceSubject<FullStore>): Promise<World> {
  world.clock.advance(20_000)
  await reap(world, 3)
  const [oracle, source] = world.systems
  assert.ok(oracle !== undefined && source !== undefined)
  await to.fresh()
  const target = to.handle({ clock: world.clock.now }) as ToolStore<never>
  await target.open()
  // Without the check for a new target: it was used by the previous run, and only emptied.
  const places = { source: source.store as ToolStore<never>, target }
  await transferAll(places, null, WAY)
  assert.deepEqual((await verify(places, WAY)).differences, [])
  await source.store.close()
  const unseen = { settings: { version: null, changed: false }, members: null }
  const systems = [
    { ...oracle, ...unseen },
    { ...source, ...unseen, name: `${to.name} after the move`, store: target },
  ]
  return { ...world, systems, workers: [], sentFinishes: [] }
}

/** The oracle still has the earlier instances, which are not transferred. */
async function retain(world: World): Promise<void> {
  await ask(
    world,
    'retain',
    ({ store }) => store.retain(aRetain({ ticksMs: 4_000 })),
    ({ instances: _, ...retained }) => retained,
  )
}

async function run(
  [from, to]: readonly [ConformanceSubject<FullStore>, ConformanceSubject<FullStore>],
  { before, after }: { readonly before: readonly Step[]; readonly after: readonly Step[] },
): Promise<void> {
  let world = await openWorld([from])
  try {
    await begin(world)
    for (const step of before) await step.run(world)
    await withStepsInError(before, async () => {
      world = await moved(world, to)
      await compareKept(world)
    })
    await startWorkers(world)
    for (const [n, step] of after.entries())
      await withStepsInError([...before, ...after.slice(0, n + 1)], async () => {
        await (step.says.startsWith('retain') ? retain(world) : step.run(world))
        if (n % 10 === 9 || n === after.length - 1) await compareKept(world)
      })
  } finally {
    await closeWorld(world)
  }
}

describe('transferring histories between sqlite and postgres', () => {
  const [one, other] = [sqliteSubject(), currentPostgresSubject()]
  test.each([
    ['sqlite to postgres', [one, other]],
    ['postgres to sqlite', [other, one]],
  ] as const)(
    'P2 P3 P12 from %s: later calls give the same results',
    (_, pair) => check(FILE, history, RUNS, (input) => run(pair, input)),
    timeoutMs(RUNS),
  )
})
