/** Task 12: no page, menu, dialog or drawer breaks a rule of WCAG A or AA, in any theme. */
import type { Page } from 'playwright-core'
import { violations } from '../../../packages/dashboard/test/support/axe.ts'
import { until } from '../until.ts'
import { rival, type Task } from './task.ts'
import { openView, viewsOf, viewText } from './views.ts'

export const accessible: Task = {
  id: '12',
  name: 'axe on every page and drawer',
  rival: rival('unknown'),
  async perform({ scene, visit, themes }) {
    const broken: string[] = []
    for (const colours of themes) {
      const page = await visit('/', { colours })
      for (const view of await viewsOf(scene)) {
        await openView(page, scene.url, view)
        await loaded(page, viewText(view))
        broken.push(...(await violations(page)).map((one) => `${viewText(view)}, ${colours}: ${one}`))
      }
    }
    if (broken.length > 0) throw new Error(`axe found ${broken.length} violations:\n${broken.join('\n')}`)
  },
}

async function loaded(page: Page, view: string): Promise<void> {
  await until(
    `${view} is loaded`,
    () => page.locator('[aria-busy=true]').count(),
    (busy) => busy === 0,
  )
}
