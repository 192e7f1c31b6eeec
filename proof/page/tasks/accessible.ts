/** Task 12: no page breaks a rule of WCAG A or AA, in either theme. */
import { violations } from '../../../packages/dashboard/test/support/axe.ts'
import { charge } from '../scene/kinds.ts'
import { SCHEDULE } from '../scene/scene.ts'
import { rival, type Task } from './task.ts'

export const accessible: Task = {
  id: '12',
  name: 'axe on every page, light and dark',
  rival: rival('unknown'),
  async perform({ scene, visit }) {
    const [dead] = (await scene.mill.list({ state: 'dead' }, { limit: 1 })).jobs
    const pages = [
      '/',
      '/jobs',
      '/jobs?state=dead&queue=webhooks',
      `/jobs/${dead?.id}`,
      `/jobs/${scene.blocked}`,
      '/errors',
      '/queues',
      '/queues?open=payments',
      '/kinds',
      `/kinds/${charge.kind}`,
      '/workers',
      '/schedules',
      `/schedules/${SCHEDULE}`,
      '/limits',
      '/system',
    ]
    const broken: string[] = []
    for (const colours of ['light', 'dark'] as const)
      for (const address of pages) {
        const page = await visit(address, { colours })
        await page.locator('main [aria-busy=true]').waitFor({ state: 'detached' })
        broken.push(...(await violations(page)).map((one) => `${address}, ${colours}: ${one}`))
        await page.context().close()
      }
    if (broken.length > 0) throw new Error(broken.join('\n'))
  },
}
