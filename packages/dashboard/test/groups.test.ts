/** Groups of queues: their jobs, their table on the Queues page, and the settings of one. */
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { type Mission, mission } from './support/mission.ts'

const QUEUES = {
  default: {},
  crawl: { workers: 4, groups: { fair: true, concurrency: 1 } },
}

/** Runs until it is cancelled, and fills its group. */
async function hold(at: Mission, group: string): Promise<string> {
  const { id } = await at.mill.enqueue('holds', null, { queue: 'crawl', group })
  await expect.poll(async () => (await at.mill.get(id))?.state).toBe('running')
  return id
}

const fact = (page: Page, name: string) =>
  page.locator('dt', { hasText: name }).locator('xpath=following-sibling::dd[1]')

mission(
  'groups',
  (at, test) => {
    test('a job that waits for its group says so, and cannot run now', async () => {
      const held = await hold(at, 'acme corp')
      const { id } = await at.mill.enqueue('echo', 1, { queue: 'crawl', group: 'acme corp' })
      await at.mill.enqueue('echo', 1, { queue: 'crawl', group: 'globex', delay: '1h' })
      const page = await at.open(`/jobs/${id}`)
      await page.getByText('scheduled, waits for group acme corp').waitFor()
      await page.getByText(/^Group acme corp: 1 of 1 running/).waitFor()
      expect(await page.getByRole('button', { name: 'Run now' }).count()).toBe(0)
      await page.getByRole('link', { name: 'View groups' }).waitFor()
      await fact(page, 'Group').getByRole('link', { name: 'acme corp' }).click()
      await page.waitForURL('**/jobs?queue=crawl&group=acme+corp')
      const rows = page.getByRole('table', { name: 'Jobs' }).getByRole('row')
      await rows.getByText('waits for group acme corp').waitFor()
      // The heading, the job that runs and the one that waits, and none of the other group.
      expect(await rows.count()).toBe(3)
      await at.mill.cancel(held)
    })
  },
  { queues: QUEUES },
)
