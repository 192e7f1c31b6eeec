// DBOS with its defaults. Workflows are started in this process, without a queue, which is its fastest way: a
// queue polls. Pools of 5, 20 and 40 connections were not faster than its default of 10.
import { DBOS } from '@dbos-inc/dbos-sdk'
import { versionOf } from '../measure/versions.ts'
import type { Place, StepRunner, StepWork, System } from '../system.ts'

async function openSteps({ url }: Place): Promise<StepRunner> {
  let work: StepWork | undefined
  DBOS.setConfig({
    name: 'bench',
    systemDatabaseUrl: url,
    applicationVersion: 'bench',
    logLevel: 'error',
  })
  const stepping = DBOS.registerWorkflow(
    async (job: number, steps: number) => {
      await work?.started()
      for (let step = 0; step < steps; step += 1) {
        const run = async (): Promise<{ ok: boolean }> => {
          work?.ran(job, step)
          return { ok: true }
        }
        await DBOS.runStep(run, { name: `step ${step}` })
      }
      return { ok: true }
    },
    { name: 'stepping' },
  )
  await DBOS.launch()
  return {
    async run(given) {
      work = given
      await Promise.all(
        Array.from({ length: given.jobs }, async (_, job) => {
          const handle = await DBOS.startWorkflow(stepping)(job, given.steps)
          await handle.getResult()
        }),
      )
    },
    stop: () => DBOS.shutdown(),
  }
}

export const systems: readonly System[] = [
  {
    name: 'dbos',
    store: 'postgres',
    setting: 'default',
    settings: 'none: workflows started in the process, pool of 10',
    version: versionOf('@dbos-inc/dbos-sdk'),
    keeps: 'workflow, input, output and each step; a recorded step survives a power cut',
    openSteps,
  },
]
