/** Task 4: find a runaway job, and cancel it from the overview and from its page. */
import type { Page } from 'playwright-core'
import { transcode } from '../scene/kinds.ts'
import type { Scene } from '../scene/scene.ts'
import { until } from '../until.ts'
import { audited, REVIEWED, rival, type Task } from './task.ts'

async function untilCancelled(scene: Scene, id: string): Promise<void> {
  await until(
    'the runaway job is cancelled',
    async () => (await scene.mill.get(id))?.state,
    (state) => state === 'cancelled',
  )
  await audited(scene, 'jobs.cancel', id)
}

const cancel = `Cancel ${transcode.kind}`
const longestRunning = (page: Page) => page.getByRole('table', { name: 'Longest-running jobs' })

export const cancelFromOverview: Task = {
  id: '4a',
  name: 'cancel a runaway job, from the overview',
  rival: rival('Oban, River', { clicks: 2 }),
  async perform({ scene, op }) {
    const id = await scene.runaway()
    await op.click(longestRunning(op.page).getByRole('button', { name: cancel }))
    await untilCancelled(scene, id)
  },
}

const startOf = ({ startedAt }: { readonly startedAt: number | null }): number =>
  startedAt ?? Number.POSITIVE_INFINITY

export const findRunaway: Task = {
  id: '4b',
  name: 'find the job that runs the longest',
  rival: rival(REVIEWED, { clicks: 1 }),
  async perform({ scene, op: { page } }) {
    const { jobs } = await scene.mill.list({ state: 'running' }, { limit: 500 })
    const [longest] = jobs.toSorted((a, b) => startOf(a) - startOf(b))
    const first = longestRunning(page).locator('tbody tr').first()
    await until(
      `the first row is the job ${longest?.id}, with its time`,
      async () => [
        await first.getByRole('link').first().getAttribute('href'),
        await first.locator('td').nth(1).innerText(),
      ],
      ([to, time]) => to?.endsWith(`/jobs/${longest?.id}`) === true && /\d (?:s|min|h)/.test(time ?? ''),
    )
  },
}

export const cancelFromJob: Task = {
  id: '4c',
  name: 'cancel an opened runaway job',
  rival: rival('Oban, River', { clicks: 1 }),
  startsAt: async (scene) => `/jobs/${await scene.runaway()}`,
  async perform({ scene, op }) {
    const id = await scene.runaway()
    await op.click(op.page.getByRole('main').getByRole('button', { name: cancel }))
    await untilCancelled(scene, id)
  },
}
