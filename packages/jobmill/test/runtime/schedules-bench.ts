/** Schedules on both stores: two handles that act as two processes, and a clock that can be set back. */
import { inject, onTestFinished } from 'vitest'
import { freshFile } from '../../../../test/support/databases.ts'
import { recycledSchema } from '../../../../test/support/postgres/recycled-schemas.ts'
import type { AnyJob } from '../../src/job/kind/definition.ts'
import { prepareSchedule, type ScheduleOptions } from '../../src/job/schedule/schedule-options.ts'
import { systemPlatform } from '../../src/platform/platform.ts'
import { postgres } from '../../src/postgres.ts'
import { type Schedules, schedulesApi } from '../../src/runtime/operate/schedules.ts'
import type { MillTools } from '../../src/runtime/tools.ts'
import { sqlite } from '../../src/sqlite.ts'
import type { JobRecord } from '../../src/store/types/job-record.ts'
import type { FullStore } from '../../src/store/store.ts'
import { faultyStore } from '../../src/testing/index.ts'
import { type ServedSchedules, serveSchedules } from '../../src/upkeep/schedule.ts'

type Open = (clock: () => number) => FullStore

const databases: readonly (readonly ['sqlite' | 'postgres', () => Open])[] = [
  [
    'sqlite',
    () => {
      const path = freshFile()
      return (clock) => sqlite(path, { clock })
    },
  ],
  [
    'postgres',
    () => {
      const url = inject('keptPostgresUrl')
      const schema = recycledSchema(url, 'schedules')
      return (clock) => postgres(url, { schema, clock })
    },
  ],
]

interface Process {
  readonly store: ReturnType<typeof faultyStore<FullStore>>
  readonly schedules: Schedules
  readonly serve: () => Promise<ServedSchedules>
  /** Registers these schedules, as a process does at its start for those in its code. */
  readonly deploy: (...schedules: readonly ScheduleOptions[]) => Promise<void>
  /** The number of calls to `wake`. */
  readonly wakeCalls: () => number
}

export interface Bench {
  readonly clock: { readonly now: () => number; readonly set: (iso: string) => void }
  readonly process: (jobs?: readonly AnyJob[]) => Promise<Process>
  /** The planned instants of all existing jobs, in order. */
  readonly planned: (store: FullStore) => Promise<string[]>
}

function benchOn(open: Open): Bench {
  let now = 0
  const clock = { now: () => now, set: (iso: string) => void (now = Date.parse(iso)) }
  return {
    clock,
    async process(jobs = []) {
      const store = faultyStore(open(clock.now))
      await store.open()
      onTestFinished(() => store.close())
      return aProcess(store, clock.now, jobs)
    },
    async planned(store) {
      const jobs = await allJobs(store)
      return jobs.map(({ metadata }) => plannedAt(metadata)).toSorted()
    },
  }
}

function aProcess(store: Process['store'], now: () => number, jobs: readonly AnyJob[]): Process {
  const platform = { ...systemPlatform, now }
  const definition = (kind: string) => jobs.find((job) => job.kind === kind)
  const options = { queueOf: (kind: string) => `queue-of-${kind}`, payloadLimitBytes: 100_000 }
  let wakes = 0
  const { signal } = new AbortController()
  const tools: Partial<Omit<MillTools, 'options'>> = {
    opened: async () => store,
    definition,
    platform,
    emit: () => {},
    wake: () => void (wakes += 1),
    by: () => 'bench',
  }
  return {
    store,
    schedules: schedulesApi({ ...tools, options } as MillTools, async (job) => {
      const [answer] = await store.enqueue([job])
      return answer ?? { id: job.id, outcome: 'enqueued' }
    }),
    serve: () => serveSchedules({ store, platform, signal }),
    async deploy(...schedules) {
      const prepared = schedules.map((one, at) =>
        prepareSchedule(one, { ...options, definition }, `schedules[${at}]`),
      )
      for (const { fits } of prepared) await fits
      await store.schedules.declare(
        prepared.map(({ name, version, definition }) => ({ name, version, definition })),
      )
    },
    wakeCalls: () => wakes,
  }
}

export async function allJobs(store: FullStore): Promise<JobRecord[]> {
  const { jobs } = await store.list({}, { limit: 500 })
  const records = await store.get(jobs.map(({ id }) => id))
  return records.filter((record) => record !== null)
}

function plannedAt(metadata: string | null): string {
  const { plannedAt: at } = JSON.parse(metadata ?? '{}') as { readonly plannedAt?: string }
  return at?.replace('.000Z', 'Z') ?? 'none'
}

export const benches = databases.map(([name, database]) => [name, () => benchOn(database())] as const)
