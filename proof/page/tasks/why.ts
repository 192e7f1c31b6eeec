/** Task 2: why is this job not running? */
import { rival, type Task } from './task.ts'

export const why: Task = {
  id: '2',
  name: 'why an opened job is not running',
  rival: rival('Temporal'),
  startsAt: async ({ blocked }) => `/jobs/${blocked}`,
  async perform({ scene, op: { page } }) {
    const found = await scene.mill.why(scene.blocked)
    const [reason] = found?.reasons ?? []
    if (reason?.why !== 'order' || reason.job !== scene.blocking)
      throw new Error(`mill.why: expected the job ${scene.blocking} (got ${JSON.stringify(reason)})`)
    await page.getByText(reason.message).first().waitFor()
    const link = page.getByRole('link', { name: 'Open blocking job' })
    const to = await link.getAttribute('href')
    if (to?.endsWith(`/jobs/${scene.blocking}`) !== true)
      throw new Error(`the page links to ${to}, not to the job ${scene.blocking}`)
  },
}
