/** Groups of queues: their jobs, their table on the Queues page, and the settings of one. */
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { type Mission, mission } from './support/mission.ts'

const QUEUES = {
  default: {},
  slow: { workers: 4, groups: { fair: true, concurrency: 1 } },
  empty: { workers: 1, groups: { fair: true } },
  busy: { workers: 1, groups: { fair: true } },
  edited: { workers: 1, groups: { fair: true, concurrency: 1 } },
} as const

/** Runs until it is cancelled, and fills its group. */
async function hold(at: Mission, group: string): Promise<string> {
  const { id } = await at.mill.enqueue('holds', null, { queue: 'slow', group })
  await expect.poll(async () => (await at.mill.get(id))?.state).toBe('running')
  return id
}

const fact = (page: Page, name: string) =>
  page.locator('dt', { hasText: name }).locator('xpath=following-sibling::dd[1]')

const groupsOf = (page: Page, queue: string) =>
  page.getByRole('table', { name: `Groups of ${queue}`, exact: true })

/** The texts of the cells of a group. */
const cellsOf = (page: Page, queue: string, group: string) =>
  groupsOf(page, queue)
    .getByRole('row')
    .filter({ has: page.getByRole('link', { name: group, exact: true }) })
    .getByRole('cell')
    .allInnerTexts()

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

mission(
  'groups',
  (at, test) => {
    test('a job that waits for its group says so, and cannot run now', async () => {
      const held = await hold(at, 'acme corp')
      const { id } = await at.mill.enqueue('echo', 1, { queue: 'slow', group: 'acme corp' })
      await at.mill.enqueue('echo', 1, { queue: 'slow', group: 'globex', delay: '1h' })
      const page = await at.open(`/jobs/${id}`)
      await page.getByText('scheduled, waits for group acme corp').waitFor()
      await page.getByText(/^Group acme corp: 1 of 1 running/).waitFor()
      expect(await button(page, 'Run now').count()).toBe(0)
      await page.getByRole('link', { name: 'View groups' }).waitFor()
      await fact(page, 'Group').getByRole('link', { name: 'acme corp' }).click()
      await page.waitForURL('**/jobs?queue=slow&group=acme+corp')
      const rows = page.getByRole('table', { name: 'Jobs' }).getByRole('row')
      await rows.getByText('waits for group acme corp').waitFor()
      // The heading, the job that runs and the one that waits, and none of the other group.
      expect(await rows.count()).toBe(3)
      await at.mill.cancel(held)
    })

    test('a group is listed with its share, and paused', async () => {
      const held = await hold(at, 'initech')
      for (const group of ['initech', 'initech', 'umbrella'])
        await at.mill.enqueue('nobodys', 1, { queue: 'slow', group })
      const page = await at.open('/queues?open=slow', { as: 'operator' })
      const cells = (group: string) => cellsOf(page, 'slow', group)
      await expect.poll(async () => (await cells('initech')).slice(0, 3)).toEqual(['initech', '2', '1 of 1'])
      expect((await cells('initech'))[4]).toBe('1 (50.0%)')
      await button(page, 'Pause group umbrella').click()
      await page.getByText('None of its jobs starts until you resume it.').waitFor()
      await expect.poll(async () => (await cells('umbrella'))[6]).toBe('paused')
      expect(await at.mill.groups.get('slow', 'umbrella')).toMatchObject({ paused: true })
      // A paused group is due no share.
      expect((await cells('initech'))[4]).toBe('1 (100%)')

      await at.expectAccessible(page)
      await at.mill.cancel(held)
    })

    test.nightly('a group is edited, and a problem is shown at its field', async () => {
      await at.mill.enqueue('nobodys', 1, { queue: 'slow', group: 'soylent' })
      const page = await at.open('/queues?open=slow', { as: 'operator', mayComplain: /status of 400/ })
      await button(page, 'Edit group soylent').click()
      const drawer = page.getByRole('dialog', { name: 'Edit group soylent' })
      const save = drawer.getByRole('button', { name: 'Save' })
      expect(await save.isDisabled()).toBe(true)
      await drawer.getByLabel('Weight').fill('twice')
      await drawer.getByText('Enter a number such as 2 or 0.5').waitFor()
      expect(await save.isDisabled()).toBe(true)
      await drawer.getByLabel('Weight').fill('1000')
      await save.click()
      await drawer.getByText(/must be a number from 0.1 to 100/).waitFor()
      expect(await drawer.getByLabel('Weight').getAttribute('aria-invalid')).toBe('true')
      await at.expectAccessible(page)
      await drawer.getByLabel('Weight').fill('4')
      await drawer.getByLabel('Max running').fill('3')
      await drawer.getByLabel('Rate').fill('10')
      await drawer.getByLabel('Period').fill('1m')
      await save.click()
      await drawer.waitFor({ state: 'detached' })
      await expect.poll(async () => (await cellsOf(page, 'slow', 'soylent'))[2]).toBe('0 of 3')
      const { weight, concurrency, rate, ratePerMs } = await at.mill.groups.get('slow', 'soylent')
      expect([weight, concurrency, rate, ratePerMs]).toEqual([4, 3, 10, 60_000])
      const { entries } = await at.mill.audit.list({ queue: 'slow' })
      expect(entries.map(({ who, what, target }) => `${who} ${what} ${target}`)).toContain(
        'olga groups.change soylent',
      )
    })

    test.nightly('a blank field of a group uses the setting of its queue again', async () => {
      await at.mill.groups.update('slow', 'hooli', { weight: 4, concurrency: 3, rate: 10, per: '1m' })
      const page = await at.open('/queues?open=slow')
      await button(page, 'Edit group hooli').click()
      const drawer = page.getByRole('dialog', { name: 'Edit group hooli' })
      await drawer.getByLabel('Rate').fill('')
      await drawer.getByText('Enter a rate too, or leave blank.').waitFor()
      await drawer.getByLabel('Period').fill('')
      await drawer.getByLabel('Max running').fill('')
      expect(await drawer.getByLabel('Max running').getAttribute('placeholder')).toBe('1')
      await drawer.getByRole('button', { name: 'Save' }).click()
      await drawer.waitFor({ state: 'detached' })
      const { weight, concurrency, rate } = await at.mill.groups.get('slow', 'hooli')
      expect([weight, concurrency, rate]).toEqual([4, 1, null])
      const viewed = await at.open('/queues?open=slow', { as: 'viewer' })
      await groupsOf(viewed, 'slow').getByRole('link', { name: 'hooli', exact: true }).waitFor()
      expect(await viewed.getByRole('button', { name: /^(?:Pause|Edit) group/ }).count()).toBe(0)
    })

    test.nightly('shows when a group gets its next token, and says that no group has jobs', async () => {
      await at.mill.serve('calls', { workers: 1, groups: { rate: 1, per: '1h' } })
      const first = await at.mill.enqueue('echo', 1, { queue: 'calls', group: 'acme' })
      await first.result()
      await at.mill.enqueue('echo', 1, { queue: 'calls', group: 'acme' })
      const page = await at.open('/queues?open=calls')
      await groupsOf(page, 'calls').getByText('1 per 1 h').waitFor()
      await groupsOf(page, 'calls')
        .getByText(/^next token: \d+ min/)
        .waitFor()
      // Only a fair queue compares weights.
      expect(await groupsOf(page, 'calls').getByText('Weight').count()).toBe(0)
      await page.goto(`${at.url}/queues?open=empty`)
      await page.getByText('No group of this queue has jobs to run').waitFor()
      await page.goto(`${at.url}/queues?open=default`)
      await page.getByRole('figure', { name: 'Queue latency, default' }).waitFor()
      expect(await page.getByRole('heading', { name: 'Groups' }).count()).toBe(0)
    })

    test.nightly('shows 100 groups in the chosen order, and that there are more', async () => {
      const jobs = Array.from({ length: 101 }, (_, n) => ({
        payload: n,
        queue: 'busy',
        group: `g${String(n).padStart(3, '0')}`,
      }))
      await at.mill.enqueueMany('nobodys', jobs)
      await at.mill.enqueue('nobodys', 1, { queue: 'busy', group: 'g100' })
      const page = await at.open('/queues?open=busy')
      const rows = groupsOf(page, 'busy').getByRole('row')
      await rows.nth(1).getByText('g100').waitFor()
      expect(await rows.count()).toBe(101)
      await page.getByText('The first 100 groups. The queue has more.').waitFor()
      await groupsOf(page, 'busy').getByRole('button', { name: 'Group', exact: true }).click()
      await rows.nth(1).getByText('g000').waitFor()
      await expect.poll(() => new URL(page.url()).searchParams.get('groups')).toBe('name')
    })

    test.nightly('the groups of a queue are edited, and overrides are marked', async () => {
      const page = await at.open('/queues?open=edited', { mayComplain: /status of 400/ })
      await button(page, 'Edit edited').click()
      const drawer = page.getByRole('dialog', { name: 'Edit edited' })
      const save = drawer.getByRole('button', { name: 'Save' })
      await drawer.getByLabel('Groups take turns').uncheck()
      await drawer.getByLabel('Max running').fill('0')
      await save.click()
      await drawer.getByText(/would never run a job/).waitFor()
      expect(await drawer.getByLabel('Max running').getAttribute('aria-invalid')).toBe('true')
      await drawer.getByLabel('Max running').fill('2')
      await drawer.getByLabel('Rate').fill('5')
      await drawer.getByLabel('Period').fill('30s')
      await save.click()
      await drawer.waitFor({ state: 'detached' })
      const edited = async () => (await at.mill.queues()).find(({ name }) => name === 'edited')
      expect(await edited()).toMatchObject({
        groupFair: false,
        groupConcurrency: 2,
        groupRate: 5,
        groupRatePerMs: 30_000,
      })
      await fact(page, 'Groups')
        .getByText(/^at most 2 running each, 5 per 30 s each/)
        .waitFor()
      await fact(page, 'Groups').getByText('Value in code: 1.').waitFor()
      await button(page, 'Edit edited').click()
      await drawer.getByText('Value in code: 1.').waitFor()
      await at.expectAccessible(page)
    })
  },
  { queues: QUEUES },
)
