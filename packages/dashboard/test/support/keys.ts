/** Navigation by keyboard. */
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

/**
 * Goes to another page. Two keys count as one shortcut only within a second, so on a busy machine they are
 * pressed again.
 */
export async function goByKeys(page: Page, letter: string, name: string): Promise<void> {
  const there = page.getByRole('heading', { level: 1, name })
  await expect
    .poll(async () => {
      for (const key of ['g', letter]) await page.keyboard.press(key)
      return there.isVisible()
    })
    .toBe(true)
}
