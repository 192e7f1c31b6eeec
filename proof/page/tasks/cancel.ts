/** Task 4: cancel a runaway job, from the overview and from its page. */
import { transcode } from '../scene/kinds.ts'
import type { Scene } from '../scene/scene.ts'
import { until } from '../until.ts'
import { audited, rival, type Task } from './task.ts'

async function untilCancelled(scene: Scene, id: string): Promise<void> {
  await until(
    'the runaway job is cancelled',
    async () => (await scene.mill.get(id))?.state,
    (state) => state === 'cancelled',
  )
  await audited(scene, 'jobs.cancel', id)
}

const cancel = `Cancel ${transcode.kind}`

export const cancelFromOverview: Task = {
  id: '4a',
  name: 'cancel a runaway job, from the overview',
  rival: rival('Oban, River', { clicks: 2 }),
  async perform({ scene, op }) {
    const id = await scene.runaway()
    const longest = op.page.getByRole('table', { name: 'Longest-running jobs' })
    await op.click(longest.getByRole('button', { name: cancel }))
    await untilCancelled(scene, id)
  },
}

export const cancelFromJob: Task = {
  id: '4b',
  name: 'cancel an opened runaway job',
  rival: rival('Oban, River', { clicks: 1 }),
  startsAt: async (scene) => `/jobs/${await scene.runaway()}`,
  async perform({ scene, op }) {
    const id = await scene.runaway()
    await op.click(op.page.getByRole('main').getByRole('button', { name: cancel }))
    await untilCancelled(scene, id)
  },
}
