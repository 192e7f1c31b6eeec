/** Tables fit a window of 1280 pixels, with long names, and what is cut off has an ellipsis. */
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { mission } from './support/mission.ts'

const LONG = 'notifications-for-customers-of-the-northern-region'

/** By how many pixels the widest table is wider than the room that it has. */
const beyond = (page: Page): Promise<number> =>
  page.evaluate(() =>
    Math.max(
      ...[...document.querySelectorAll('table')].map((table) => {
        const room = table.closest<HTMLElement>('.scrolls')
        return room === null ? 0 : room.scrollWidth - room.clientWidth
      }),
    ),
  )

const isCut = (page: Page, text: string): Promise<string> =>
  page
    .getByRole('link', { name: text })
    .first()
    .evaluate((link) => getComputedStyle(link).textOverflow)

mission('tables', (at, test) => {
  test('fit 1280 pixels, also with long names and tags', async () => {
    const tags = ['customer:4711-of-the-northern-region', 'vip', 'invoice']
    await at.mill.enqueue('nobodys', 1, { queue: LONG, tags })
    await (await at.mill.enqueue('echo', 1, { tags })).result()
    const { id } = await at.mill.enqueue('dies', 1)
    await expect.poll(async () => (await at.mill.get(id))?.state).toBe('dead')
    // Adds a column to the capacity of all queues.
    await at.mill.changeQueue('mail', { targetLatency: '30s' })
    const page = await at.open('/jobs')
    for (const [path, table] of [
      ['/jobs', 'Jobs'],
      ['/queues', 'Capacity'],
      ['/limits', 'Limits'],
      ['/kinds', 'Kinds'],
      ['/system', 'Duties'],
    ] as const) {
      await page.goto(`${at.url}${path}`)
      await page.getByRole('table', { name: table }).waitFor()
      expect({ path, beyond: await beyond(page) }).toEqual({ path, beyond: 0 })
    }
    await page.goto(`${at.url}/jobs?tag=vip`)
    expect(await isCut(page, tags[0] ?? '')).toBe('ellipsis')
    await page.getByText('+2', { exact: true }).first().waitFor()

    // All actions on the dead jobs fit a phone.
    await page.setViewportSize({ width: 390, height: 844 })
    await page.goto(`${at.url}/jobs?state=dead`)
    await page.getByRole('button', { name: 'Retry all…' }).waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  })

  test('show that a row is pointed at up to its last cell, and the focus around a tab', async () => {
    const { id } = await at.mill.enqueue('echo', 1, { delay: '1h', queue: 'pointed' })
    const page = await at.open('/jobs?queue=pointed')
    const row = page.locator(`[data-job="${id}"]`)
    await row.hover()
    const colours = () =>
      row.evaluate((one) =>
        [one, one.lastElementChild ?? one].map((part) => getComputedStyle(part).backgroundColor),
      )
    const [own, last] = await colours()
    expect(last).toBe(own)
    await page.mouse.move(0, 0)
    await expect.poll(async () => (await colours())[1]).not.toBe(last)
    await page.goto(`${at.url}/jobs/${id}`)
    const tab = page.getByRole('tab', { name: 'Payload' })
    await tab.focus()
    await page.keyboard.press('ArrowRight')
    const focused = page.locator('[role=tab]:focus')
    // Outside of the tab, the list of tabs would cut the ring off.
    const offset = () => focused.evaluate((one) => getComputedStyle(one).outlineOffset)
    await expect.poll(offset).toBe('-2px')
  })
})
