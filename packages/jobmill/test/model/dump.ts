// Everything that is visible through the read side of a store. Two stores with the same history look the
// same.
import { JOB_STATES } from '../../src/job/state.ts'
import type { JobFilter } from '../../src/store/types/job-list.ts'
import type { JobSummary } from '../../src/store/types/job-record.ts'
import { RESOLUTIONS } from '../../src/store/types/metrics.ts'
import { stepsOf } from './durable/check.ts'
import { plainHeld, plainInstances, plainJob, plainSummary } from './plain.ts'
import { QUEUES, SCHEDULES, TAGS } from './steps/names.ts'
import type { System } from './systems.ts'
import { type World, ask } from './world.ts'

/** Dumps every system, and compares. */
export async function compareAll(world: World): Promise<void> {
  await ask(
    world,
    'what it shows',
    (system) => dump(world, system),
    (text) => text,
  )
}

async function dump({ ids, instances, durable }: World, system: System): Promise<object> {
  const { store } = system
  const [jobs, histories, helds] = await Promise.all([
    store.get(ids),
    Promise.all(ids.map((id) => store.history(id))),
    Promise.all(instances.map((id) => store.instances.held(id))),
  ])
  return {
    jobs: jobs.map((job, n) => plainJob(system, job, histories[n] ?? [])),
    steps: await stepsOf(system, [...durable.jobs.keys()]),
    held: helds.map((held) => plainHeld(system, held)),
    results: await store.results(ids),
    failures: await store.inspect.failures(ids.slice(-500)),
    runs: (await store.inspect.runs(ids.slice(-500), 0)).map(({ instance: _, ...run }) => run),
    counts: await store.counts(),
    unservedKinds: await store.inspect.unservedKinds(),
    queues: (await store.queues.list()).toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    instances: plainInstances(await store.instances.list()),
    versions: await store.inspect.versions(),
    duties: await store.instances.duties(),
    slots: await store.instances.slots(),
    schedules: await store.schedules.list(),
    overrides: await store.overrides.list(),
    ticks: await Promise.all(SCHEDULES.map((name) => store.schedules.ticks(name, 100))),
    limits: await store.limits.list(),
    metrics: await Promise.all(
      RESOLUTIONS.map((resolution) => store.metrics.read({ resolution, from: 0, before: 7_258_118_400_000 })),
    ),
    // Numbers may have gaps; only their order counts.
    timeline: (await store.metrics.timeline({ limit: 500 })).map(({ n: _, ...event }) => event),
    lists: Object.fromEntries(
      await Promise.all(
        LISTS.map(
          async ({ filter, limit }) => [JSON.stringify(filter), await pages(system, filter, limit)] as const,
        ),
      ),
    ),
  }
}

/** Every order, and every kind of filter; with small pages, so that cursors are used. */
const LISTS: readonly { readonly filter: JobFilter; readonly limit: number }[] = [
  { filter: {}, limit: 500 },
  { filter: { tags: TAGS }, limit: 2 },
  { filter: { payloadText: '1' }, limit: 7 },
  { filter: { errorText: 'e' }, limit: 7 },
  { filter: { startedFrom: 0 }, limit: 7 },
  { filter: { failedFrom: 0 }, limit: 7 },
  { filter: { state: 'dead', failedFrom: 0, startedFrom: 0 }, limit: 7 },
  { filter: { orderKey: 'o1' }, limit: 7 },
  { filter: { version: '1' }, limit: 7 },
  ...JOB_STATES.map((state) => ({ filter: { state }, limit: 7 })),
  ...QUEUES.map((queue) => ({ filter: { queue, state: 'ready' as const }, limit: 3 })),
]

async function pages({ store }: System, filter: JobFilter, limit: number): Promise<object[]> {
  const jobs: JobSummary[] = []
  let cursor: string | undefined
  do {
    const page = await store.list(filter, { limit, cursor })
    jobs.push(...page.jobs)
    cursor = page.next ?? undefined
  } while (cursor !== undefined)
  return jobs.map((job) => plainSummary(job))
}
