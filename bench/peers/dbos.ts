// DBOS: workflows are started in this process, without a queue, which is its fastest way: a queue polls. Only
// the size of its pool can be set.
import { DBOS } from '@dbos-inc/dbos-sdk'
import { versionOf } from '../measure/versions.ts'
import type { Place, Setting, StepRunner, StepWork, System } from '../system.ts'

const POOL = { default: 10, best: 20 } as const

async function openSteps({ url }: Place, setting: Setting): Promise<StepRunner> {
  let work: StepWork | undefined
  DBOS.setConfig({
    name: 'bench',
    systemDatabaseUrl: url,
    applicationVersion: 'bench',
    logLevel: 'error',
    ...(setting === 'best' && { systemDatabasePoolSize: POOL.best }),
  })
  const stepping = DBOS.registerWorkflow(
    async (job: number, steps: number) => {
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

export const systems: readonly System[] = (['default', 'best'] as const).map((setting) => ({
  name: 'dbos',
  store: 'postgres',
  setting,
  settings: `workflows started in the process, pool of ${POOL[setting]}${setting === 'default' ? ' (its default)' : ''}`,
  version: versionOf('@dbos-inc/dbos-sdk'),
  keeps: 'workflow, input, output and each step; a recorded step survives a power cut',
  openSteps: (place) => openSteps(place, setting),
}))
