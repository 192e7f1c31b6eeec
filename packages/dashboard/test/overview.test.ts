/** The Overview page: issues and their fixes, metrics, charts and time ranges. */
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { drawOver } from './support/draw-over.ts'
import { mission } from './support/mission.ts'

const figure = (page: Page, name: string) => page.getByRole('link', { name: new RegExp(`^${name}`) })
const chart = (page: Page, name: string) => page.getByRole('figure', { name })
const paused = (page: Page) => page.getByRole('listitem').filter({ hasText: '"mail" is paused' })
const cooling = (page: Page) => page.getByRole('listitem').filter({ hasText: '"slow" is cooling down' })
const parameterOf = (page: Page, key: string) => new URL(page.url()).searchParams.get(key)

mission('the overview', (at, test) => {
  const queue = async (name: string) => (await at.mill.queues()).find((one) => one.name === name)

  test('lists issues, and offers the fix to users whose role allows it', async () => {
    await at.mill.pause('mail')
    await at.mill.enqueue('mail.send', { to: 'ada@example.com', subject: 'Hi' }, { queue: 'mail' })
    await at.mill.changeQueue('slow', { coolFor: '1h' })
    await at.mill.enqueue('nobody.has-this', 1)

    const page = await at.open('/', { as: 'operator' })
    await paused(page).getByText('1 job is waiting').waitFor()
    await cooling(page)
      .getByText(/Resumes in 5\d min/)
      .waitFor()
    expect(await page.getByRole('button', { name: 'End cool-down' }).count()).toBe(0)
    await at.expectAccessible(page)
    await paused(page).getByRole('button', { name: 'Resume' }).click()
    await page.getByText('Resumed mail').waitFor()
    expect(await queue('mail')).toMatchObject({ paused: false })

    const whole = await at.open('/')
    await cooling(whole).getByRole('button', { name: 'End cool-down' }).click()
    await whole.getByText('Ended the cool-down of slow').waitFor()
    expect(await queue('slow')).toMatchObject({ coolingMs: 0 })
    await whole
      .getByRole('listitem')
      .filter({ hasText: 'nobody.has-this' })
      .getByRole('link', { name: 'View workers' })
      .click()
    await whole.getByRole('heading', { level: 1, name: 'Workers' }).waitFor()
  })

  test.nightly(
    'A shows resource usage of database and process, with a sparkline that grows while it is open',
    async () => {
      const page = await at.open('/', { hasClock: true })
      const resources = page
        .locator('section')
        .filter({ has: page.getByRole('heading', { name: 'Resources' }) })
      const { database } = await at.mill.resources()
      const isFile = database?.pool === null
      const own = isFile ? ['Disk free'] : ['Server connections', 'Pool in use']
      for (const name of ['Database size', 'Write-ahead log', 'Memory', ...own])
        await resources.getByRole('img', { name: `${name} over time` }).waitFor()
      expect(await resources.getByText(isFile ? 'Server connections' : 'Disk free').count()).toBe(0)
      const course = () =>
        resources.getByRole('img', { name: 'Memory over time' }).locator('polyline').getAttribute('points')
      const points = async () => {
        await page.clock.runFor('00:05')
        return ((await course()) ?? '').split(' ').length
      }
      // A single sample is drawn as a line, too.
      await expect.poll(points, { timeout: 20_000 }).toBeGreaterThan(2)
      await at.expectAccessible(page)
    },
  )

  test.nightly('lists the longest-running jobs, and one click cancels one of them', async () => {
    const { id } = await at.mill.enqueue('holds', null)
    await expect.poll(async () => (await at.mill.get(id))?.state).toBe('running')
    const page = await at.open('/', { as: 'operator', width: 390 })
    const job = page.getByRole('table', { name: 'Longest-running jobs' }).getByRole('row', { name: /^holds/ })
    await job.getByText(/^slow · /).waitFor()
    expect(await job.getByRole('link', { name: 'holds' }).getAttribute('href')).toBe(`/jobs/${id}`)
    const slow = page.getByRole('table', { name: 'Queues' }).getByRole('row', { name: /^slow/ })
    await slow.getByText('1 running', { exact: true }).waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
    await at.expectAccessible(page)
    await job.getByRole('button', { name: 'Cancel holds' }).click()
    await page.getByText('Asked holds to stop').waitFor()
    await expect.poll(async () => (await at.mill.get(id))?.state).toBe('cancelled')
    const { entries } = await at.mill.audit.list({ limit: 1 })
    expect(entries).toMatchObject([{ who: 'olga', what: 'jobs.cancel', target: id }])
    await page.getByRole('heading', { name: 'Longest-running jobs' }).click()
    // The first row of an empty list appears, also under the pointer.
    await page.getByText('No job has been running for more than a second.').hover()

    // A row with the focus stays, even when its job ends.
    const other = await at.mill.enqueue('holds', null)
    await job.getByRole('link', { name: 'holds' }).focus()
    await at.mill.cancel(other.id)
    await job.getByText('ended').waitFor()
  })

  test('shows metrics, and every metric links to its jobs', async () => {
    await (await at.mill.enqueue('echo', 1)).result()
    const { id } = await at.mill.enqueue('dies', 1)
    await expect.poll(async () => (await at.mill.get(id))?.state).toBe('dead')
    await at.mill.audit.write({
      who: 'ada',
      role: 'admin',
      what: 'queues.pause',
      target: 'default',
      before: null,
      after: null,
    })
    const page = await at.open('/')
    await figure(page, 'Dead').getByText('1', { exact: true }).waitFor()
    await figure(page, 'Throughput')
      .getByText(/\d\/(?:min|h)/)
      .waitFor()
    await figure(page, 'Success rate').getByText(/\d%/).waitFor()
    await figure(page, 'Running').getByText('of 23 workers').waitFor()
    const row = page.getByRole('table', { name: 'Queues' }).getByRole('row', { name: /^default/ })
    await row.getByRole('cell', { name: 'ok', exact: true }).waitFor()
    await page.getByText('1 active, 0 lost').waitFor()
    const database = page.getByRole('region', { name: 'Database' })
    await database.getByText('ok', { exact: true }).waitFor()
    await database.getByText(/(?:SQLite|PostgreSQL) [\d.]+ · [\d.]+ [KM]iB/).waitFor()
    expect(await database.getByRole('link').getAttribute('href')).toBe('/system')
    await page.getByText('ada paused queue default').waitFor()
    // Follows from every start of a process.
    expect(await page.getByText(/became leader/).count()).toBe(0)
    for (const [word, paused] of [
      ['Pause', true],
      ['Resume', false],
    ] as const) {
      await row.getByRole('button', { name: `${word} default` }).click()
      await expect.poll(async () => (await queue('default'))?.paused).toBe(paused)
    }
    await row.getByRole('link', { name: '1', exact: true }).last().click()
    await expect.poll(() => page.url()).toBe(`${at.url}/jobs?queue=default&state=dead`)
    await page.goBack()
    await figure(page, 'Dead').click()
    await expect.poll(() => page.url()).toBe(`${at.url}/jobs?state=dead`)
  })

  test.nightly('shows the chosen time range and queue, which are part of the address', async () => {
    const page = await at.open('/')
    await page.getByRole('button', { name: '15m' }).click()
    await expect.poll(() => parameterOf(page, 'range')).toBe('15m')
    await page.getByLabel('Chart queue').selectOption('mail')
    await chart(page, 'Queue latency in mail').getByText('p99').waitFor()

    await drawOver(page, chart(page, 'Attempts by outcome').locator('.u-over'), 0.25, 0.75)
    await page.getByRole('button', { name: 'Reset zoom' }).waitFor()
    await expect.poll(() => parameterOf(page, 'to')).not.toBeNull()
    const drawnMs = Number(parameterOf(page, 'to')) - Number(parameterOf(page, 'from'))
    expect(drawnMs).toBeGreaterThan(6 * 60_000)
    expect(drawnMs).toBeLessThan(9 * 60_000)

    await page.reload()
    await page.getByRole('button', { name: 'Reset zoom' }).click()
    await page.getByRole('button', { name: '15m', pressed: true }).waitFor()
    await expect.poll(() => [parameterOf(page, 'from'), parameterOf(page, 'queue')]).toEqual([null, 'mail'])
  })

  test.nightly('reports normal systems, also on a phone', async () => {
    await at.mill.resume('mail')
    await at.mill.changeQueue('slow', { coolFor: 0 })
    for (const { id } of (await at.mill.list({ kind: 'nobody.has-this' })).jobs) await at.mill.cancel(id)
    for (const { id } of (await at.mill.list({ state: 'dead' })).jobs) await at.mill.delete(id)
    const page = await at.open('/', { as: 'viewer', width: 390, colours: 'dark' })
    await page.getByText('All systems normal.').waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
    await at.expectAccessible(page)
  })
})
