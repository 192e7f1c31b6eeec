// OpenWorkflow on PostgreSQL and on SQLite. Its worker polls, up to once a second. So it starts here when the
// jobs of a wave are enqueued, claims them at once, and stops after the wave.
import { OpenWorkflow } from 'openworkflow'
import { BackendPostgres } from 'openworkflow/postgres'
import { BackendSqlite } from 'openworkflow/sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { versionOf } from '../measure/versions.ts'
import type { Place, Setting, StepRunner, StepWork, StoreName, System } from '../system.ts'

/** As many as jobs are in flight. */
const CONCURRENCY = 64
/** Connections. The default is that of postgres.js; its URL can set another. */
const POOL = { default: 10, best: 20 } as const

interface Input {
  readonly job: number
  readonly steps: number
}

async function connect({ store, url }: Place, setting: Setting): Promise<BackendPostgres | BackendSqlite> {
  if (store === 'sqlite') return BackendSqlite.connect(url)
  return BackendPostgres.connect(setting === 'best' ? `${url}?max=${POOL.best}` : url)
}

async function openSteps(place: Place, setting: Setting): Promise<StepRunner> {
  const backend = await connect(place, setting)
  const client = new OpenWorkflow({ backend })
  let work: StepWork | undefined
  let left = 0
  let allRan: () => void = () => {}
  let stopped = Promise.resolve()
  const stepping = client.defineWorkflow<Input, { ok: boolean }>(
    { name: 'stepping' },
    async ({ input, step }) => {
      for (let at = 0; at < input.steps; at += 1) {
        await step.run({ name: `step ${at}` }, () => {
          work?.ran(input.job, at)
          left -= 1
          if (left === 0) allRan()
          return { ok: true }
        })
      }
      return { ok: true }
    },
  )
  return {
    async run(given) {
      await stopped
      work = given
      left = given.jobs * given.steps
      const ran = new Promise<void>((resolve) => void (allRan = resolve))
      for (let job = 0; job < given.jobs; job += 1) await stepping.run({ job, steps: given.steps })
      const worker = client.newWorker({ concurrency: CONCURRENCY })
      await worker.start()
      await ran
      // It does not report when an outcome is written.
      while ((await backend.countWorkflowRuns()).running > 0) await sleep(1)
      stopped = worker.stop()
    },
    async stop() {
      await stopped
      await backend.stop()
    },
  }
}

function system(store: StoreName, setting: Setting): System {
  const pool = `, pool of ${POOL[setting]}${setting === 'default' ? ' (its default)' : ''}`
  return {
    name: 'openworkflow',
    store,
    setting,
    settings: `one worker with concurrency ${CONCURRENCY}${store === 'sqlite' ? '' : pool}`,
    version: versionOf('openworkflow'),
    keeps: 'run, input, output and each attempt of a step; a recorded step survives a power cut',
    openSteps: (place) => openSteps(place, setting),
  }
}

export const systems: readonly System[] = [
  system('postgres', 'default'),
  system('postgres', 'best'),
  system('sqlite', 'default'),
]
