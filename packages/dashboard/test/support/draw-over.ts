/** Zooms into a part of a chart. */
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

/**
 * Drags from one share of the width to another until the range is in the address. A refresh in the middle of
 * a drag ends it and moves the chart, so it may take several tries.
 */
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
