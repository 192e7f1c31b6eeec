// Schedules are declared, changed, deleted and run, also by a process that knows an old state of them.
import * as fc from 'fast-check'
import type { NewJob } from '../../../src/job/enqueue/new-job.ts'
import {
  overlapKey,
  type ScheduleDefinition,
  type SchedulePatch,
} from '../../../src/job/schedule/schedule.ts'
import type { DeclaredSchedule, ScheduleRecord, Tick } from '../../../src/store/types/schedule.ts'
import { aDefinition } from '../../../../conformance/src/factories.ts'
import { ask, orCode, pick, type World } from '../world.ts'
import { makeJobs } from './enqueue.ts'
import { anyOne, KINDS, NOBODY, QUEUES, SCHEDULES, stepOf, type Weighted } from './names.ts'

const name = fc.constantFrom(...SCHEDULES)

/** Declared at the start of a run. */
export const FIRST_SCHEDULES: readonly DeclaredSchedule[] = [
  { name: 's1', version: 1, definition: aDefinition() },
  { name: 's2', version: 1, definition: aDefinition({ queue: 'b' }) },
]

const patch: fc.Arbitrary<SchedulePatch> = fc.record(
  {
    when: fc.constantFrom('0 9 * * *', 'every 10m'),
    zone: fc.constantFrom('UTC', 'Asia/Tokyo'),
    startAt: fc.constantFrom(null, 5),
    paused: fc.constantFrom(false, false, false, true),
    overlap: fc.constantFrom('allow', 'skip'),
    queue: fc.constantFrom(...QUEUES),
    payload: fc.constantFrom('null', '{"b": 1, "a": 2}'),
    priority: fc.constantFrom(0, 1),
    timeoutMs: fc.constantFrom(null, 50),
    tags: fc.constantFrom([], ['t', 's']),
  },
  { requiredKeys: [], noNullPrototype: true },
)
const definition: fc.Arbitrary<ScheduleDefinition> = patch.map((changes) => aDefinition(changes))

const ticking = fc.record({
  name: fc.constantFrom(...SCHEDULES, ...SCHEDULES, ...SCHEDULES, NOBODY),
  /** What its sender knows of the schedule. */
  knows: fc.constantFrom(
    'now' as const,
    'now' as const,
    'now' as const,
    'another revision' as const,
    'another instant' as const,
  ),
  nextInMs: fc.constantFrom(0, 10, 500, 1_000, 4_000, 4_000, null),
  /** Few different instants per run, so that ticks are often repeated. */
  instants: fc.array(fc.nat({ max: 8 }), { maxLength: 3 }),
  shape: fc.record({ kind: fc.constantFrom(...KINDS), queue: fc.constantFrom(...QUEUES) }),
  isAlone: fc.boolean(),
  missed: fc.constantFrom(0, 0, 2),
})
type Ticking = typeof ticking extends fc.Arbitrary<infer T> ? T : never

/** The first instant of a run. */
const FIRST_AT = 1_000_000_000_000

function jobsFor(world: World, { name, instants, shape, isAlone }: Ticking): NewJob[] {
  const jobs = makeJobs(
    world,
    instants.map(() => shape),
  )
  if (!isAlone) return jobs
  return jobs.map((job) => ({
    ...job,
    dedupe: { key: overlapKey(name), holdMs: 0, holdAfter: 'done' as const, onConflict: 'keep' as const },
  }))
}

function tickFor(world: World, record: ScheduleRecord | undefined, wanted: Ticking): Tick {
  const { knows, nextInMs, missed, instants } = wanted
  const { revision = 1, nextAt: from = null } = record ?? {}
  const jobs = jobsFor(world, wanted)
  return {
    schedule: wanted.name,
    revision: revision + (knows === 'another revision' ? 1 : 0),
    from: knows === 'another instant' ? (from ?? world.clock.now()) + 10 : from,
    nextAt: nextInMs === null ? null : world.clock.now() + nextInMs,
    fires: instants.flatMap((n, at) => {
      const job = jobs[at]
      return job === undefined ? [] : [{ at: FIRST_AT + n * 60_000, job }]
    }),
    missed,
  }
}

async function send(world: World, ticks: readonly Tick[]): Promise<void> {
  world.sentTicks.push(ticks)
  await ask(
    world,
    'tick',
    ({ store }) => store.schedules.tick(ticks),
    (replies) => replies,
  )
}

export const scheduleSteps: readonly Weighted[] = [
  stepOf(
    2,
    'declare schedules',
    fc.array(fc.record({ name, version: fc.integer({ min: 0, max: 3 }), definition }), { maxLength: 2 }),
    async (world, declared) => {
      await ask(
        world,
        'declare schedules',
        ({ store }) => store.schedules.declare(declared),
        () => 'declared',
      )
    },
  ),
  stepOf(
    1,
    'create schedule',
    fc.record({ name, definition, named: fc.subarray(['when', 'paused', 'priority'] as const) }),
    async (world, { name, definition, named }) => {
      await ask(
        world,
        'create schedule',
        ({ store }) => orCode(() => store.schedules.create(name, definition, 'ops', named)),
        (record) => record,
      )
    },
  ),
  stepOf(2, 'change schedule', fc.record({ name, patch }), async (world, { name, patch }) => {
    await ask(
      world,
      'change schedule',
      ({ store }) => orCode(() => store.schedules.change(name, patch)),
      (record) => record,
    )
  }),
  stepOf(1, 'delete schedule', name, async (world, name) => {
    await ask(
      world,
      'delete schedule',
      ({ store }) => store.schedules.delete(name, 'ops'),
      (reply) => reply,
    )
  }),
  stepOf(
    1,
    'reset schedule',
    fc.record({ name, options: fc.constantFrom(null, ['deleted'], ['priority', 'when']) }),
    async (world, { name, options }) => {
      await ask(
        world,
        'reset schedule',
        ({ store }) => orCode(() => store.overrides.reset('schedule', name, options)),
        (reset) => reset,
      )
    },
  ),
  stepOf(
    1,
    'schedule failed',
    fc.record({ name, error: fc.constantFrom(null, 'no') }),
    async (world, { name, error }) => {
      await ask(
        world,
        'schedule failed',
        ({ store }) => store.schedules.failed(name, error),
        () => 'noted',
      )
    },
  ),
  stepOf(5, 'tick', fc.array(ticking, { minLength: 1, maxLength: 2 }), async (world, wanted) => {
    const records = (await world.systems[0]?.store.schedules.list()) ?? []
    await send(
      world,
      wanted.map((one) =>
        tickFor(
          world,
          records.find((record) => record.name === one.name),
          one,
        ),
      ),
    )
  }),
  // The reply was lost; by now the schedule may have any state.
  stepOf(1, 'tick again', anyOne, async (world, by) => {
    const ticks = pick(world.sentTicks, by)
    if (ticks !== undefined) await send(world, ticks)
  }),
]
