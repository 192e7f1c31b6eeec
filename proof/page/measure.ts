/** Measures how long each page takes until it is usable. */
import type { Browser } from 'playwright-core'
import { LOOKS } from './looks.ts'

export interface PageTimes {
  readonly name: string
  readonly medianMs: number
  readonly slowestMs: number
}

/** Each in a new tab of a warm browser. */
export async function measure(browser: Browser, url: string, rounds: number): Promise<PageTimes[]> {
  const times = new Map<string, number[]>()
  for (let round = 0; round < rounds; round += 1) {
    const context = await browser.newContext({ viewport: { width: 1_280, height: 900 } })
    for (const { name, look } of LOOKS) {
      const page = await context.newPage()
      const began = performance.now()
      const usable = await look(page, url, () => performance.now())
      times.set(name, [...(times.get(name) ?? []), usable.at - (usable.from ?? began)])
      await page.close()
    }
    await context.close()
  }
  return [...times].map(([name, all]) => {
    const sorted = all.toSorted((a, b) => a - b)
    return {
      name,
      medianMs: Math.round(sorted[Math.floor(sorted.length / 2)] ?? Number.NaN),
      slowestMs: Math.round(sorted.at(-1) ?? Number.NaN),
    }
  })
}
