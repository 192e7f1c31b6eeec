/** Charts in a browser: labels that are not cut off, a legend that hides lines, and a logarithmic scale. */
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { bucketOf } from '../../jobmill/src/job/metric-data.ts'
import type { FullStore } from '../../jobmill/src/index.ts'
import { mission } from './support/mission.ts'

const SOURCE = '01900000-0000-7000-8000-000000000002'
const MINUTE = 60_000

/** Half an hour of short waits, with one of 12 minutes. */
async function writeSpike(store: FullStore<never>): Promise<void> {
  const deltas = Array.from({ length: 30 }, (_, n) => ({
    scope: 'queue mail',
    agoMs: (n + 1) * MINUTE,
    data: {
      counters: { enqueued: 100, started: 100, done: 99, retried: 1 },
      histograms: { waiting: { [bucketOf(n === 9 ? 12.4 * MINUTE : 20 + n)]: 100 } },
    },
  }))
  await store.metrics.record({ source: SOURCE, seq: 1, own: [], events: [], deltas })
}

interface Drawn {
  readonly text: string
  /** Where its left edge is, in pixels of the canvas. */
  readonly left: number
}

/** The texts of the next drawing of all charts. */
async function drawnTexts(page: Page, draw: () => Promise<void>): Promise<Drawn[]> {
  await page.evaluate(() => {
    const { prototype } = CanvasRenderingContext2D
    // oxlint-disable-next-line typescript/unbound-method -- it is called with its own context below
    const { fillText } = prototype
    const drawn: Drawn[] = []
    Object.assign(globalThis, { drawn })
    prototype.fillText = function fill(this: CanvasRenderingContext2D, text, x, y, ...rest) {
      const { width } = this.measureText(text)
      const share = { right: 1, center: 0.5 }[this.textAlign as string] ?? 0
      drawn.push({ text, left: this.getTransform().e + x - width * share })
      fillText.call(this, text, x, y, ...rest)
    }
  })
  await draw()
  return page.evaluate(() => (globalThis as unknown as { drawn: Drawn[] }).drawn)
}

mission(
  'charts',
  (at, test) => {
    test('a chart shows whole labels, hides lines by click and keyboard, and has a log scale for a spike', async () => {
      const page = await at.open('/')
      const latency = page.getByRole('figure', { name: 'Queue latency' })
      const texts = await drawnTexts(page, async () => {
        await page.keyboard.press('t')
        await page.locator('html[data-theme=dark]').waitFor({ state: 'attached' })
        await latency.waitFor()
      })
      const labels = texts.map(({ text }) => text)
      expect(labels).toContain('10 min')
      expect(labels.filter((text) => /^\d+ min \d+ s$/.test(text))).toEqual([])
      expect(texts.filter(({ left }) => left < 0)).toEqual([])

      const p99 = latency.getByRole('button', { name: /^p99/ })
      await expect.poll(() => p99.getAttribute('aria-pressed')).toBe('true')
      await p99.click()
      await expect.poll(() => p99.getAttribute('aria-pressed')).toBe('false')
      await p99.getByText('–').waitFor()
      await p99.press('Enter')
      await expect.poll(() => p99.getAttribute('aria-pressed')).toBe('true')

      const log = latency.getByRole('button', { name: 'Log scale' })
      const logTexts = await drawnTexts(page, () => log.press('Space'))
      await expect.poll(() => log.getAttribute('aria-pressed')).toBe('true')
      expect(logTexts.map(({ text }) => text)).toContain('100 ms')

      const failures = page.getByRole('figure', { name: 'Failure rate' })
      await failures.getByRole('button', { name: /^failed/ }).waitFor()
      expect(labels).toContain('1.0%')
      await at.expectAccessible(page)
    })
  },
  { before: writeSpike },
)
