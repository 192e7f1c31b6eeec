/** A kind that fails: the overview, the menu, the queues, and the pages of the kinds. */
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { mission } from './support/mission.ts'

const menu = (page: Page, name: string | RegExp) => page.getByRole('navigation').getByRole('link', { name })
const issues = (page: Page) => page.getByRole('region', { name: /need attention/ }).getByRole('listitem')

mission('an incident', (at, test) => {
  /** Enough failures to count. Other issues are there before: a paused queue, and a job without a worker. */
  const breakDown = async (): Promise<void> => {
    if ((await at.mill.count({ kind: 'dies' })).jobs > 0) return
    await at.mill.pause('mail')
    await at.mill.enqueue('mail.send', { to: 'ada@example.com', subject: 'Hi' }, { queue: 'mail' })
    await at.mill.enqueue('nobody.has-this', 1)
    await (await at.mill.enqueue('echo', 1)).result()
    await at.mill.enqueueMany(
      'dies',
      Array.from({ length: 12 }, (_, n) => ({ payload: n, queue: 'slow' })),
    )
    await expect.poll(async () => (await at.mill.count({ state: 'dead' })).jobs).toBe(12)
  }

  test('leads the issues with its error, before success rate and dead jobs, and counts in the menu', async () => {
    await breakDown()
    const page = await at.open('/')
    const first = issues(page).first()
    await first
      .getByText(/^dies: 100% of \d+ attempts failed in the last 10 min, since .* Dead: the server/)
      .waitFor()
    await first.getByText('Error', { exact: true }).waitFor()
    expect(await issues(page).count()).toBeLessThanOrEqual(10)
    expect((await first.boundingBox())?.height).toBeLessThan(50)
    await at.expectAccessible(page)

    const figures = page.getByRole('region', { name: /^Current metrics/ }).getByRole('link')
    await expect.poll(async () => (await figures.first().innerText()).split('\n')[0]).toBe('Success rate')
    await figures.first().getByText('1 failing').waitFor()
    await menu(page, 'Errors 12 dead jobs').waitFor()
    await menu(page, 'Workers 1 kind without a worker').waitFor()
    await menu(page, /^Overview \d issues$/).waitFor()
    await page.getByRole('row', { name: /^slow failing/ }).waitFor()
    await page.getByRole('row', { name: /^mail paused/ }).waitFor()

    await first.getByRole('button').click()
    await first.getByText('Review the errors, fix the cause, then retry the jobs').waitFor()
    await first.getByRole('link', { name: 'View errors' }).click()
    await expect.poll(() => page.url()).toBe(`${at.url}/errors?kind=dies`)
  })

  /** Counts the clicks on these, one after another, and waits until the bulk action has ended. */
  async function retryBy(page: Page, ...clicked: readonly Locator[]): Promise<number> {
    for (const locator of clicked) await locator.click()
    await page.waitForURL(/\/jobs\/[0-9a-f-]{36}$/)
    const bulk = page.url().split('/').at(-1) ?? ''
    await expect.poll(async () => (await at.mill.get(bulk))?.result).toMatchObject({ changed: 12 })
    await expect.poll(async () => (await at.mill.count({ state: 'dead' })).jobs).toBe(12)
    return clicked.length
  }

  test('all its jobs are retried in three clicks from the overview, by error and by queue', async () => {
    await breakDown()
    const page = await at.open('/', { as: 'operator' })
    const confirm = page.getByRole('dialog').getByRole('button', { name: 'Retry 12 jobs' })
    const byError = [
      issues(page).first().getByRole('link', { name: 'View errors' }),
      page.getByRole('button', { name: 'Retry 12 jobs' }),
      confirm,
    ]
    expect(await retryBy(page, ...byError)).toBe(3)
    await page.goto(at.url)
    const queue = page.getByRole('table', { name: 'Queues' }).getByRole('row', { name: /^slow/ })
    const byQueue = [
      queue.getByRole('link', { name: '12', exact: true }),
      page.getByRole('button', { name: 'Retry all' }),
      confirm,
    ]
    expect(await retryBy(page, ...byQueue)).toBe(3)
  })

  test.nightly(
    'is first of the kinds, whose page has its success rate, errors, jobs and processes',
    async () => {
      await breakDown()
      await at.mill.schedules.create({ name: 'dying', job: 'dies', when: '@yearly' })
      const page = await at.open('/kinds')
      const rows = page.getByRole('table', { name: 'Kinds' }).getByRole('row')
      await expect.poll(() => rows.nth(1).innerText()).toMatch(/^dies\s+failing\s+0%/)
      await at.expectAccessible(page)
      await rows.nth(1).getByRole('link', { name: 'dies' }).click()
      await page.getByRole('heading', { level: 1, name: 'dies' }).waitFor()
      await page.getByText('failing', { exact: true }).waitFor()
      await page.getByRole('figure', { name: 'Attempts by outcome, dies' }).waitFor()
      await page.locator('dl').getByText('Success rate').waitFor()
      await page
        .getByRole('table', { name: 'Errors' })
        .getByRole('link', { name: /the server said no/ })
        .waitFor()
      expect(await page.getByRole('table', { name: 'Recent jobs' }).getByRole('row').count()).toBe(11)
      await page.getByRole('link', { name: 'dying' }).waitFor()
      await at.expectAccessible(page)
      await page.getByRole('link', { name: 'View jobs' }).click()
      await expect.poll(() => page.url()).toBe(`${at.url}/jobs?kind=dies`)
    },
  )

  test.nightly('a kind in the list of jobs is a filter, and links from a job to its page', async () => {
    await breakDown()
    const page = await at.open('/jobs?state=dead')
    await page.getByRole('link', { name: 'Only jobs of this kind' }).first().click()
    await expect.poll(() => page.url()).toBe(`${at.url}/jobs?kind=dies`)
    await page.getByRole('link', { name: 'dies', exact: true }).first().click()
    await page.getByRole('link', { name: 'dies', exact: true }).click()
    await expect.poll(() => page.url()).toBe(`${at.url}/kinds/dies`)
  })

  test.nightly('fits on a phone, also in the dark theme', async () => {
    await breakDown()
    for (const path of ['/', '/kinds', '/kinds/dies']) {
      const page = await at.open(path, { as: 'viewer', width: 390, colours: 'dark' })
      await page
        .getByText(/failing|failed/)
        .first()
        .waitFor()
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
      await at.expectAccessible(page)
    }
  })
})
