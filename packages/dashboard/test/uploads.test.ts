/** The Uploads pages: mailboxes, pending files and files that expired unfetched. */
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { type Box, mailbox, type Scene, scene } from '../../uploads/test/support/inboxes.ts'
import { goByKeys } from './support/keys.ts'
import { mission } from './support/mission.ts'

const HOUR_MS = 3_600_000

let made: Scene

const rowOf = (page: Page, name: string) =>
  page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) })

const act = async (box: Box, file: string, what: 'content' | 'ack'): Promise<void> => {
  const answer = await box.ask(`/uploads/${file}/${what}`, { method: what === 'ack' ? 'POST' : 'GET' })
  expect(answer.status).toBe(200)
  await answer.arrayBuffer()
}

/** As if it had been sent this long ago. */
async function sentAgo(hours: number, box: Box, ...contents: string[]): Promise<string[]> {
  made.later(-hours * HOUR_MS)
  try {
    return await box.sent(...contents)
  } finally {
    made.later(hours * HOUR_MS)
  }
}

mission(
  'uploads',
  (at, test) => {
    test.nightly(
      'lists mailboxes, warns of files that expired unfetched, and opens one by keyboard',
      async () => {
        const forgotten = await mailbox(made, { name: 'forgotten' })
        await sentAgo(25, forgotten, 'one', 'two')
        await made.inbox.sweep()
        const letters = await mailbox(made, { name: 'letters', quotaBytes: 2_000, quotaFiles: 10 })
        await sentAgo(3, letters, 'x'.repeat(500))
        await letters.sent('y'.repeat(1_000))
        await mailbox(made, { name: '100%_free' })

        const page = await at.open('/jobs', { as: 'viewer' })
        await page.getByRole('link', { name: 'Uploads' }).waitFor()
        await goByKeys(page, 'u', 'Uploads')
        const row = rowOf(page, 'letters')
        await row.getByText('1.5 KiB of 2.0 KiB').waitFor()
        expect(await row.getByRole('cell').nth(1).innerText()).toBe('2\n1.5 KiB')
        await row.getByText('3 h ago').waitFor()
        await rowOf(page, '100%_free').getByText('Never').waitFor()
        const warning = page.getByRole('alert')
        await warning.getByText('forgotten: 2 files, latest 1 h ago').waitFor()
        expect(await rowOf(page, 'forgotten').getByRole('cell').last().innerText()).toBe('2')
        await at.expectAccessible(page)
        for (const width of [1_280, 390]) {
          await page.setViewportSize({ width, height: 900 })
          const table = page.getByRole('table', { name: 'Mailboxes' })
          await expect
            .poll(() =>
              table.evaluate((one) => [one.scrollWidth, one.parentElement?.clientWidth].join(' of ')),
            )
            .toMatch(/^(\d+) of \1$/)
        }
        await page.setViewportSize({ width: 1_280, height: 900 })

        const find = page.getByLabel('Search mailboxes')
        await find.fill('0%_F')
        await rowOf(page, 'letters').waitFor({ state: 'detached' })
        expect(await page.getByRole('row').count()).toBe(2)
        await find.fill('nobody')
        await page.getByText('No matching mailboxes').waitFor()
        await find.fill(letters.id.toUpperCase())
        await row.getByRole('link').focus()
        await page.keyboard.press('Enter')
        await page.getByRole('heading', { level: 1, name: 'letters' }).waitFor()
        await page.getByText('2 of 10 files').waitFor()
        expect(await page.content()).not.toContain(letters.token)
      },
    )

    test('shows the files of a mailbox by state, a page at a time, on a phone in the dark', async () => {
      const box = await mailbox(made, { name: 'many' })
      const [first = ''] = await box.sent(...Array.from({ length: 51 }, (_, n) => `file ${n}`))
      const [acked = '', fetched = ''] = await box.sent('acked', 'fetched')
      await act(box, fetched, 'content')
      await act(box, acked, 'ack')
      await sentAgo(30, box, 'too late')

      const page = await at.open(`/apps/uploads/${box.id}`, { as: 'viewer', width: 390, colours: 'dark' })
      const files = page.getByRole('table', { name: 'Files, pending' }).getByRole('row')
      await expect.poll(() => files.count()).toBe(51)
      // The newest first.
      await files.nth(1).getByText(fetched).waitFor()
      await page.getByText('1×').waitFor()
      await files
        .nth(1)
        .getByText(/^in 23 h 5\d min$/)
        .waitFor()
      await page.getByRole('button', { name: 'Next' }).click()
      await expect.poll(() => files.count()).toBe(3)
      await files.last().getByText(first).waitFor()
      await page.getByRole('button', { name: 'Previous' }).click()
      await expect.poll(() => files.count()).toBe(51)
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
      const facts = await page
        .locator('dd')
        .evaluateAll((all) => all.map((one) => one.scrollWidth - one.clientWidth))
      expect(facts).toEqual(facts.map(() => 0))
      await at.expectAccessible(page)

      await page.getByRole('button', { name: 'expired 1' }).click()
      await page
        .getByRole('table', { name: 'Files, expired' })
        .getByText('6 h ago', { exact: true })
        .waitFor()
      await page.getByRole('button', { name: 'acked 1' }).click()
      await page.getByRole('table', { name: 'Files, acked' }).getByText(acked).waitFor()
      await expect.poll(() => new URL(page.url()).searchParams.get('state')).toBe('acked')
      await at.expectAccessible(page)
    })

    test.nightly('has messages for an empty mailbox, an unknown one, and a failing server', async () => {
      const box = await mailbox(made, { name: 'new' })
      const page = await at.open(`/apps/uploads/${box.id}`, { mayComplain: /status of 4/ })
      await page.getByText('No pending files').waitFor()
      await page.getByRole('button', { name: 'acked 0' }).click()
      await page.getByText('No acknowledged files').waitFor()
      await made.inbox.mailboxes.remove(box.id)
      await page.reload()
      await page.getByText('Mailbox not found').waitFor()
      await at.expectAccessible(page)
      // Restore it with the click: the dashboard also retries on its own, and the button would be gone.
      const wasClicked = (): Promise<boolean> =>
        page.evaluate(() => document.body.dataset['clicked'] !== undefined)
      await page.route('**/uploads/mailboxes?*', async (route) => {
        if (await wasClicked())
          await route.fulfill({ json: { mailboxes: [], next: null, expiredUnfetched: [] } })
        else await route.fulfill({ status: 409, json: { code: 'AWAY', detail: 'the inbox is away' } })
      })
      await page.getByRole('link', { name: 'All mailboxes' }).click()
      await page.getByText('the inbox is away').waitFor()
      await page.evaluate(() =>
        addEventListener('click', () => (document.body.dataset['clicked'] = ''), true),
      )
      await page.getByRole('button', { name: 'Try again' }).click()
      await page.getByText('jobmill-uploads mailboxes add NAME').waitFor()
    })
  },
  {
    async apps(on) {
      made = await scene(on)
      return { apps: { uploads: made.inbox.app }, close: made.close }
    },
  },
)
