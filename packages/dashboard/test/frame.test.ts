/** What stands around every page: the menu, keys, colours, who looks, and the door. */
import { expect, test } from 'vitest'
import { mission } from './support/mission.ts'

const PAGES = ['Overview', 'Jobs', 'Errors', 'Queues', 'Workers', 'Schedules', 'Limits', 'System']

mission('the frame', (at) => {
  test('leads to every page by its menu and by keys, and says where it is', async () => {
    const page = await at.open('/')
    for (const name of PAGES) {
      await page.getByRole('navigation').getByRole('link', { name }).click()
      await page.getByRole('heading', { level: 1, name }).waitFor()
      expect(await page.title()).toBe(`${name} · Jobmill`)
    }
    await page.keyboard.press('g')
    await page.keyboard.press('q')
    await page.getByRole('heading', { level: 1, name: 'Queues' }).waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).getByText('Go to Jobs').waitFor()
    await at.expectAccessible(page)
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })
})
