/** The capacity table of the Queues page, and sorting by its headings. */
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { bucketOf } from '../../jobmill/src/job/metric-data.ts'
import type { FullStore } from '../../jobmill/src/index.ts'
import { mission } from './support/mission.ts'

const SOURCE = '01900000-0000-7000-8000-000000000003'

const part = (queue: string, enqueued: number, done: number, waitMs: number) =>
  Array.from({ length: 6 }, (_, n) => ({
    scope: `queue ${queue}`,
    agoMs: 3_000 + n * 10_000,
    data: {
      counters: { enqueued, started: done, done },
      histograms: { waiting: { [bucketOf(waitMs)]: done }, running: { [bucketOf(500)]: done } },
    },
  }))

/** The last minute of two queues: jobs come faster than they end, and the other way round. */
async function writeMinute(store: FullStore<never>): Promise<void> {
  const deltas = [...part('grows', 140, 100, 40_000), ...part('drains', 10, 100, 90)]
  await store.metrics.record({ source: SOURCE, seq: 1, own: [], events: [], deltas })
}

const table = (page: Page) => page.getByRole('table', { name: 'Capacity' })
const names = (page: Page) => table(page).locator('tbody tr td:first-child').allInnerTexts()

mission(
  'the capacity of queues',
  (at, test) => {
    test('shows rates, percentiles, workers and a forecast, sorted by any column', async () => {
      for (const queue of ['grows', 'drains'])
        await at.mill.enqueueMany(
          'nobodys',
          Array.from({ length: 30 }, (_, payload) => ({ payload, queue })),
        )
      const page = await at.open('/queues')
      const row = (name: string) => table(page).getByRole('row').filter({ hasText: name })
      await row('grows')
        .getByText(/^grows \d/)
        .waitFor()
      await row('drains')
        .getByText(/^drains in \d+(?:\.\d)? s$/)
        .waitFor()
      await row('grows').getByText('none').waitFor()
      await row('mail').getByText('no backlog').waitFor()
      await row('mail').getByText('0 of 2').waitFor()

      // Their latencies are 40 s and 90 ms.
      await at.mill.changeQueue('grows', { targetLatency: '30s' })
      await at.mill.changeQueue('drains', { targetLatency: '1h' })
      await row('grows')
        .getByTitle(/percentile/)
        .getByText('missed')
        .waitFor()
      await row('drains')
        .getByTitle(/percentile/)
        .getByText('met')
        .waitFor()
      await row('drains').getByText('1 h').waitFor()
      await table(page).getByRole('columnheader', { name: 'Target' }).getByRole('button').click()
      await expect.poll(async () => (await names(page)).slice(0, 2)).toEqual(['grows', 'drains'])

      const heading = table(page).getByRole('columnheader', { name: 'Queue latency p95' })
      await heading.getByRole('button').click()
      await expect.poll(() => heading.getAttribute('aria-sort')).toBe('descending')
      expect((await names(page)).slice(0, 2)).toEqual(['grows', 'drains'])
      expect(new URL(page.url()).searchParams.get('capacity')).toBe('-waiting-p95')
      await heading.getByRole('button').press('Enter')
      await expect.poll(() => heading.getAttribute('aria-sort')).toBe('ascending')
      expect((await names(page)).slice(0, 2)).toEqual(['drains', 'grows'])
      // A link shows the same order.
      await page.reload()
      await expect.poll(() => heading.getAttribute('aria-sort')).toBe('ascending')
      expect((await names(page)).slice(0, 2)).toEqual(['drains', 'grows'])
      await heading.getByRole('button').click()
      await expect.poll(() => heading.getAttribute('aria-sort')).toBeNull()
      await at.expectAccessible(page)
    })
  },
  { before: writeMinute },
)
