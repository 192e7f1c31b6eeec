/** Task 11: with the keyboard alone, from anywhere to an open job. */
import { until } from '../until.ts'
import { rival, type Task } from './task.ts'

export const keyboard: Task = {
  id: '11',
  name: 'open a job with the keyboard',
  rival: rival('Trigger.dev', { keys: 4 }),
  async perform({ scene, op }) {
    const { page } = op
    await op.press('g', 'j')
    await page.locator('[data-job]').first().waitFor()
    await op.press('j', 'Enter')
    await until(
      'a job is open',
      async () => (await scene.mill.get(page.url().split('/').at(-1) ?? '').catch(() => null))?.kind,
      (kind) => kind !== undefined,
    )
    await page.getByRole('main').getByRole('heading', { level: 1 }).waitFor()
  },
}
