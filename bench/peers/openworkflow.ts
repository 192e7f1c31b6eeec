// OpenWorkflow on PostgreSQL and on SQLite. Its worker polls, up to once a second. So it starts here when the
// jobs of a wave are enqueued, claims them at once, and stops after the wave. On PostgreSQL, pools of 5, 20
// and 40 connections were not faster than its default of 10.
import { OpenWorkflow } from 'openworkflow'
import { BackendPostgres } from 'openworkflow/postgres'
import { BackendSqlite } from 'openworkflow/sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { versionOf } from '../measure/versions.ts'
import type { Place, StepRunner, StepWork, StoreName, System } from '../system.ts'

/** As many as jobs are in flight. */
const CONCURRENCY = 64

const nothing = (): void => {}

interface Input {
  readonly job: number
  readonly steps: number
}

async function openSteps({ store, url }: Place): Promise<StepRunner> {
  const backend = store === 'sqlite' ? BackendSqlite.connect(url) : await BackendPostgres.connect(url)
  const client = new OpenWorkflow({ backend })
  let work: StepWork | undefined
  let left = 0
  let allRan = nothing
  let stopped = Promise.resolve()
  const stepping = client.defineWorkflow<Input, { ok: boolean }>(
    { name: 'stepping' },
    async ({ input, step }) => {
      await work?.started()
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

const system = (store: StoreName): System => ({
  name: 'openworkflow',
  store,
  setting: 'default',
  settings: `one worker with concurrency ${CONCURRENCY}${store === 'postgres' ? ', pool of 10' : ''}`,
  version: versionOf('openworkflow'),
  keeps: 'run, input, output and each attempt of a step; a recorded step survives a power cut',
  openSteps,
})

export const systems: readonly System[] = [system('postgres'), system('sqlite')]
