/** To look closer at a part of a chart. */
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

/** From one part of its width to another, until it is in the address: what is refreshed in the middle of it ends it, and moves the chart. */
export async function drawOver(page: Page, chart: Locator, from: number, to: number): Promise<void> {
  await expect
    .poll(async () => {
      const box = await chart.boundingBox()
      if (box === null) return false
      const y = box.y + box.height / 3
      await page.mouse.move(box.x + box.width * from, y)
      await page.mouse.down()
      await page.mouse.move(box.x + box.width * to, y, { steps: 3 })
      await page.mouse.up()
      return page.evaluate(() => new URLSearchParams(location.search).has('to'))
    })
    .toBe(true)
}
