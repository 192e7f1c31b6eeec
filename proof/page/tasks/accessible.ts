/** Task 12: no page, menu, dialog or drawer breaks a rule of WCAG A or AA, in either theme. */
import { violations } from '../../../packages/dashboard/test/support/axe.ts'
import { until } from '../until.ts'
import { rival, type Task } from './task.ts'
import { openView, viewsOf, viewText } from './views.ts'

const THEMES = ['light', 'dark'] as const

export const accessible: Task = {
  id: '12',
  name: 'axe on every page and drawer, light and dark',
  rival: rival('unknown'),
  async perform({ scene, visit }) {
    const page = await visit('/')
    const broken: string[] = []
    for (const view of await viewsOf(scene)) {
      await openView(page, scene.url, view)
      await until(
        `${viewText(view)} is loaded`,
        () => page.locator('[aria-busy=true]').count(),
        (busy) => busy === 0,
      )
      for (const colorScheme of THEMES) {
        await page.emulateMedia({ colorScheme })
        await page.locator(`html[data-theme=${colorScheme}]`).waitFor({ state: 'attached' })
        broken.push(...(await violations(page)).map((one) => `${viewText(view)}, ${colorScheme}: ${one}`))
      }
      await page.emulateMedia({ colorScheme: 'light' })
    }
    if (broken.length > 0) throw new Error(`axe found ${broken.length} violations:\n${broken.join('\n')}`)
  },
}
