/** An incident after a deploy: which version brought the error, and retrying what failed since then. */
import type { Page } from 'playwright-core'
import { expect, test as plain } from 'vitest'
import { aClaim, aFinish, aJob, anInstance, DONE } from '../../conformance/src/factories.ts'
import type { FullStore } from '../../jobmill/src/index.ts'
import { marksIn } from '../src/kit/charts/marks.ts'
import { mission } from './support/mission.ts'

/** A process of the version before ran a job, and stopped. */
async function runBefore(store: FullStore<never>): Promise<void> {
  await store.open()
  const instance = anInstance({ version: '2.14.0', kinds: ['dies'] })
  await store.instances.register(instance)
  await store.enqueue([aJob({ kind: 'dies' })])
  const leases = await store.claim(aClaim(instance.id, { kinds: ['dies'] }))
  await store.finish(leases.map((lease) => aFinish(lease, DONE)))
  await store.instances.deregister(instance.id)
}

const rows = (page: Page) =>
  page.getByRole('table', { name: 'Jobs' }).getByRole('checkbox', { name: /^Select (?!all)/ })

async function filterBy(page: Page, text: string): Promise<void> {
  await page.getByRole('combobox', { name: 'Filter jobs' }).fill(text)
  await page.keyboard.press('Enter')
}

mission(
  'versions and what failed',
  (at, test) => {
    async function dead(queue: string, jobs: number): Promise<readonly string[]> {
      const made = await at.mill.enqueueMany(
        'dies',
        Array.from({ length: jobs }, () => ({ payload: null, queue })),
      )
      const ids = made.map(({ id }) => id)
      const states = () => Promise.all(ids.map(async (id) => (await at.mill.get(id))?.state))
      await expect.poll(states).toEqual(ids.map(() => 'dead'))
      return ids
    }

    test('an error says that it is new in a version, and its jobs can be filtered by the version', async () => {
      const [id = ''] = await dead('default', 2)
      const page = await at.open('/errors?kind=dies')
      await page.getByText('· new in 2.15.0').waitFor()
      await page.getByRole('button', { name: /the server said no/ }).click()
      const versions = page.getByText('Failures by version')
      await expect
        .poll(async () => versions.locator('..').innerText())
        .toBe('Failures by version: 2.15.0: 2 · 2.14.0: 0 – new in 2.15.0')
      await at.expectAccessible(page)
      await page.getByRole('link', { name: '2.15.0', exact: true }).click()
      await page.getByRole('button', { name: 'Remove version:2.15.0' }).waitFor()
      await expect.poll(() => rows(page).count()).toBe(2)

      await page.goto(`${at.url}/jobs`)
      await filterBy(page, 'version:2.14')
      await page.getByText('No matching jobs').waitFor()
      await page.getByRole('button', { name: 'Remove version:2.14' }).click()
      await page.getByRole('combobox', { name: 'Filter jobs' }).fill('version:2.14')
      await page.getByRole('option', { name: 'version:2.14.0' }).click()
      await expect.poll(() => rows(page).count()).toBe(1)
      await page.getByText('done', { exact: true }).first().waitFor()

      await page.goto(`${at.url}/jobs/${id}`)
      await page
        .getByRole('table', { name: 'Attempts' })
        .getByRole('cell', { name: '2.15.0', exact: true })
        .waitFor()
    })

    test.nightly(
      'the page of a kind has its attempts by version, and errors that are new in one',
      async () => {
        await dead('default', 2)
        // Processes write their metrics every 2 s, and the page reads them less often.
        const known = async () => (await at.mill.metrics({ kinds: ['dies'] })).kinds[0]?.all.byVersion
        await expect.poll(known).toHaveProperty(['2.15.0'])
        const page = await at.open('/kinds/dies')
        const row = page.getByRole('table', { name: 'Attempts by version' }).getByRole('row').nth(1)
        await expect.poll(() => row.innerText()).toMatch(/^2\.15\.0\s.*\s(\d+)\s+\1\s+100%$/s)
        await page.getByRole('table', { name: 'Errors' }).getByText('new in 2.15.0').waitFor()
        await page.getByText(/^Worker time\d.* workers\)$/).waitFor()
        await row.getByRole('link', { name: '2.15.0' }).click()
        await expect.poll(() => page.url()).toBe(`${at.url}/jobs?kind=dies&version=2.15.0`)
      },
    )

    test.nightly('jobs that failed since a time are retried with one query and two clicks', async () => {
      const queue = 'mail'
      const early = await dead(queue, 2)
      const since = Math.max(...(await at.mill.list({ queue })).jobs.map(({ endedAt }) => endedAt ?? 0)) + 1
      await expect.poll(() => Date.now()).toBeGreaterThan(since)
      const late = await dead(queue, 3)

      const page = await at.open('/jobs')
      await page.evaluate(() => {
        const { dataset } = document.documentElement
        addEventListener(
          'click',
          () => (dataset['clicks'] = String(Number(dataset['clicks'] ?? 0) + 1)),
          true,
        )
      })
      await filterBy(page, `queue:${queue} failed-after:${new Date(since).toISOString()}`)
      await expect.poll(() => rows(page).count()).toBe(3)
      const clicksBefore = await clicks(page)
      await page.getByRole('button', { name: 'Retry all' }).click()
      await page.getByRole('button', { name: 'Retry 3 jobs' }).click()
      expect((await clicks(page)) - clicksBefore).toBe(2)
      await page.waitForURL(/\/jobs\/[\da-f-]{36}$/)
      const bulk = page.url().split('/').at(-1) ?? ''
      await expect.poll(async () => (await at.mill.get(bulk))?.result).toMatchObject({ changed: 3 })
      const attempts = async (id: string) => (await at.mill.history(id)).length
      for (const id of late) await expect.poll(() => attempts(id)).toBe(2)
      for (const id of early) expect(await attempts(id)).toBe(1)
    })

    test.nightly('a copied link has fixed times, and the address keeps the relative one', async () => {
      const page = await at.open('/jobs')
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
      const from = Date.now()
      await filterBy(page, 'failed-after:10m queue:mail')
      await page.getByRole('button', { name: 'Remove failed-after:10m' }).waitFor()
      await page.getByRole('button', { name: 'Copy link' }).click()
      await page.getByText('Copied the link').waitFor()
      const link = new URL(await page.evaluate(() => navigator.clipboard.readText()))
      const copied = Number(link.searchParams.get('failedFrom')) + 600_000
      expect(copied).toBeGreaterThanOrEqual(from - 60_000)
      expect(copied).toBeLessThanOrEqual(Date.now() + 60_000)
      expect(link.searchParams.get('queue')).toBe('mail')
      expect(new URL(page.url()).searchParams.get('failedFrom')).toBe('10m')
      await page.goto(link.href)
      await page.getByRole('button', { name: /^Remove failed-after:\d{4}-/ }).waitFor()
    })

    test.nightly('charts mark when a version was first seen', async () => {
      const page = await at.open('/?range=5m')
      const chart = page.getByRole('figure', { name: 'Attempts by outcome' })
      await chart.getByText('2.15.0', { exact: true }).waitFor()
      await expect
        .poll(() => chart.getByRole('list', { name: 'Deploys' }).innerText())
        .toMatch(/^2\.15\.0 first seen .*\n2\.14\.0 first seen /)
      expect(await chart.getByTitle(/^2\.15\.0 first seen/).count()).toBe(1)
      await at.expectAccessible(page)
    })
  },
  { instance: { version: '2.15.0' }, prepare: runBefore },
)

/** Counted in the document, which a navigation inside the page keeps. */
const clicks = (page: Page): Promise<number> =>
  page.evaluate(() => Number(document.documentElement.dataset['clicks'] ?? 0))

const version = (name: string, firstAt: number) => ({
  version: name,
  firstAt,
  lastAt: firstAt,
  instances: 1,
  alive: 1,
})

plain('marks are where their version was first seen, and none is outside of the chart', () => {
  const times = [1_000, 2_000, 3_000, 4_000, 5_000]
  const found = marksIn(
    [
      version('after', 6_000),
      version('end', 5_900),
      version('half', 3_000),
      version('start', 1_000),
      version('before', 999),
    ],
    times,
  )
  expect(found.map(({ version: name, share }) => [name, share])).toEqual([
    ['end', 1],
    ['half', 0.5],
    ['start', 0],
  ])
  expect(marksIn([version('one', 1_000)], [1_000])).toEqual([])
})
