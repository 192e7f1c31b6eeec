/** Pages while they load: they hold the places of what comes, and say nothing that they do not know yet. */
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { mission } from './support/mission.ts'

/** Holds the responses of the API until the returned function is called. */
async function hold(page: Page): Promise<() => void> {
  const held = Promise.withResolvers<void>()
  await page.route('**/api/**', async (route) => {
    await held.promise
    await route.continue()
  })
  return held.resolve
}

mission('loading', (at, test) => {
  test('keeps the places of the top bar, and says nothing about workers before they are known', async () => {
    const page = await at.open('/')
    const place = () => page.getByRole('button', { name: 'Refresh now (r)' }).boundingBox()
    const release = await hold(page)
    await page.goto(`${at.url}/kinds/echo`)
    await page.getByRole('heading', { level: 1, name: 'echo' }).waitFor()
    await page.getByRole('status', { name: 'Loading' }).first().waitFor()
    const before = await place()
    for (const text of ['no worker', 'unknown to this process', 'No attempts in the last 10 minutes'])
      expect(await page.getByText(text).count()).toBe(0)
    await at.expectAccessible(page)
    release()
    await page.getByRole('button', { name: 'Enqueue' }).waitFor()
    await page.getByText('adam · admin').waitFor()
    expect(await place()).toEqual(before)
    await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' })
  })
})
