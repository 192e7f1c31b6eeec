/** The job page: its content and every action. */
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { defineJob, type JobContext } from '../../jobmill/src/index.ts'
import { type Mission, mission } from './support/mission.ts'

const MIB = 1_048_576

async function until(at: Mission, id: string, state: string): Promise<void> {
  await expect.poll(async () => (await at.mill.get(id))?.state).toBe(state)
}

const tab = (page: Page, name: RegExp): Promise<void> => page.getByRole('tab', { name }).click()
const fact = (page: Page, name: string): Promise<string | null> =>
  page.locator(`dt:text-is("${name}") + dd`).textContent()
/** With the words that only screen readers read, and without signs. */
const texts = async (items: Locator): Promise<string[]> =>
  (await items.allTextContents()).map((text) => text.replace(/^[-+ ]/, ''))
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true })

/** Completes, or fails permanently. */
const flaky = defineJob({
  kind: 'flaky',
  maxAttempts: 1,
  run({ payload: { rate }, log }: JobContext<{ rate: number | null; token: string }>) {
    log('converting', { rate })
    if (rate === null) throw new Error('no rate for the currency', { cause: new Error('rates are empty') })
    return { rate }
  },
})

mission(
  'a job',
  (at, test) => {
    test('that failed and waits shows why, runs now, and shows its attempts in every tab', async () => {
      const { id } = await at.mill.enqueue(
        'fails',
        { who: 'ada', deep: [{ a: 1 }] },
        { tags: ['v&p'], orderKey: 'line-1' },
      )
      await until(at, id, 'scheduled')
      const blocked = await at.mill.enqueue('echo', 1, { orderKey: 'line-1' })
      const page = await at.open(`/jobs/${blocked.id}`)
      await page.getByText(`Blocked by job ${id}, which has the same order key`).waitFor()
      expect(await button(page, 'Run now').count()).toBe(0)
      expect(await fact(page, 'Timeout')).toBe('none (default)')
      expect(await fact(page, 'Backoff')).toBe('10 s, doubled up to 30 min, with jitter (from the queue)')
      await page.getByRole('link', { name: 'Open blocking job' }).click()
      await page.getByRole('heading', { level: 1, name: 'fails' }).waitFor()
      expect(await fact(page, 'Attempts')).toBe('1 of 5 (from the kind)')
      expect(await fact(page, 'Backoff')).toBe('1 h (from the kind)')
      await page.getByText(/^Due in .+, because the last attempt failed$/).waitFor()
      await page.getByText(/^Ends in \d+ min/).waitFor()
      expect(await page.getByRole('link', { name: 'v&p' }).getAttribute('href')).toBe('/jobs?tag=v%26p')
      expect(await page.title()).toBe('fails · Jobs · Jobmill')

      await button(page, 'Run now').click()
      await expect.poll(async () => (await at.mill.history(id)).length).toBe(2)
      await page.keyboard.press('r')
      await page.getByRole('table', { name: 'Attempts' }).getByRole('cell', { name: '#2' }).waitFor()
      await page.getByRole('img', { name: /^2 attempts from enqueue until now, scheduled/ }).waitFor()

      await tab(page, /^Errors/)
      await page
        .getByRole('article', { name: 'Error of attempt #2' })
        .getByText('Error: attempt 2 failed', { exact: true })
        .waitFor()
      await tab(page, /^Log/)
      const log = page.getByRole('log')
      await log.getByText('attempt 1 begins').waitFor()
      await page.getByLabel('Minimum level').selectOption('error')
      await log.getByText('attempt 1 begins').waitFor({ state: 'detached' })
      await expect.poll(() => new URL(page.url()).search).toBe('?tab=log&level=error')
      await tab(page, /^Compare/)
      await page.getByRole('list', { name: 'Error diff' }).getByText('Error: attempt 1 failed').waitFor()
      await page.getByRole('list', { name: 'Log diff' }).getByText('info attempt 2 begins').waitFor()
      await page.getByLabel('First attempt').selectOption('2')
      await page.getByRole('heading', { name: 'Error (identical)' }).waitFor()
      await at.expectAccessible(page)
      await tab(page, /^Audit/)
      await page.getByRole('table', { name: 'Manual actions' }).getByText('jobs.run-now').waitFor()

      // One click, at once; the toast offers to undo it.
      await page.getByRole('button', { name: 'Cancel fails' }).click()
      // The toast says it, too.
      await page.getByText('It will not run unless it is retried.').first().waitFor()
      await page.getByRole('status').getByRole('button', { name: 'Retry' }).click()
      const actions = async () => (await at.mill.audit.list({ job: id })).entries.map(({ what }) => what)
      await expect.poll(actions).toEqual(['jobs.retry', 'jobs.cancel', 'jobs.run-now'])
      const outcomes = async () => (await at.mill.history(id)).map(({ outcome }) => outcome)
      await expect.poll(outcomes).toEqual(['failed', 'failed', 'cancelled', 'failed'])
    })

    test('that died shows its error and log, and is compared with the last completed job', async () => {
      const { id: done } = await at.mill.enqueue('flaky', { rate: 1, token: 'secret-1' })
      await until(at, done, 'done')
      const { id: other } = await at.mill.enqueue('flaky', { rate: null, token: 'secret-2' })
      const { id } = await at.mill.enqueue('flaky', { rate: null, token: 'secret-3' })
      for (const one of [other, id]) await until(at, one, 'dead')
      const page = await at.open(`/jobs/${id}`)
      await page.getByRole('tab', { name: /^Errors ?1$/, selected: true }).waitFor()
      const why = page.locator('section', { has: page.getByRole('heading', { name: 'Why it failed' }) })
      expect(await fact(page, 'Root cause')).toBe('Error: rates are empty')
      expect(await fact(page, 'Thrown in')).toMatch(/^run \(.*job\.test\.ts:\d+\)$/)
      await why.getByText('converting').waitFor()
      expect(await page.locator('dt', { hasText: /key|Priority|Tags/ }).count()).toBe(0)
      await why.getByRole('link', { name: '1 other job has this error' }).click()
      await page.getByRole('button', { name: /^Error: no rate/, expanded: true }).waitFor()
      await page.goBack()

      await why.getByRole('link', { name: 'Compare with the last completed job' }).click()
      const payload = page.getByRole('list', { name: 'Payload diff' }).getByRole('listitem')
      const lines = [
        'both: {',
        'last completed job only:   "rate": 1',
        'last completed job only:   "token": "secret-1"',
        'this job only:   "rate": null',
        'this job only:   "token": "secret-3"',
        'both: }',
      ]
      await expect.poll(() => texts(payload)).toEqual(lines)
      await page.getByRole('table', { name: 'Job comparison' }).getByRole('link').first().waitFor()
      await at.expectAccessible(page)

      const viewer = await at.open(`/jobs/${id}?tab=compare`, { as: 'viewer' })
      const seen = viewer.getByRole('list', { name: 'Payload diff' }).getByRole('listitem')
      await expect.poll(() => texts(seen)).toContain('both:   "token": "(hidden)"')
      expect(await viewer.content()).not.toContain('secret-')
    })

    test.nightly('that died shows the error with its causes, is retried, and is deleted', async () => {
      const { id } = await at.mill.enqueue('dies', null)
      await until(at, id, 'dead')
      const page = await at.open(`/jobs/${id}?tab=errors`, { mayComplain: /404/ })
      const error = page.getByRole('article', { name: 'Error of attempt #1' })
      await error.getByRole('list', { name: 'Causes' }).getByText('connect ECONNREFUSED').waitFor()
      await at.expectAccessible(page)
      await button(page, 'Retry').click()
      await expect.poll(async () => (await at.mill.history(id)).length).toBe(2)
      await until(at, id, 'dead')
      await button(page, 'Delete').click()
      await page.getByRole('dialog').getByText('Deletes the job with its payload').waitFor()
      await button(page, 'Delete job').click()
      await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor()
      expect(await at.mill.get(id)).toBeNull()

      await page.goto(`${at.url}/jobs/${id}`)
      await page.getByRole('heading', { level: 1, name: 'Job not found' }).waitFor()
      await page.getByText(/It may have been deleted/).waitFor()
      await at.expectAccessible(page)
    })

    test.nightly(
      'that runs shows how far it is and what it logs, and is cancelled with a reason',
      async () => {
        const { id } = await at.mill.enqueue('holds', null)
        await until(at, id, 'running')
        const page = await at.open(`/jobs/${id}?tab=log`, { colours: 'dark' })
        await page.getByRole('log').getByText('holding').waitFor()
        await expect.poll(() => page.getByRole('progressbar').getAttribute('aria-valuenow')).toBe('40')
        await at.expectAccessible(page)
        await button(page, 'Actions for this job').click()
        await page.getByRole('menuitem', { name: 'Cancel with reason…' }).click()
        await page.getByLabel('Reason').fill('wrong customer')
        await button(page, 'Cancel job').click()
        await until(at, id, 'cancelled')
        await page.keyboard.press('r')
        await page.getByRole('heading', { name: 'Cancelled' }).waitFor()
        await page.getByText('wrong customer').first().waitFor()
        expect((await at.mill.history(id)).at(-1)?.error).toContain('wrong customer')
      },
    )

    test.nightly('shows a check mark only after its id was copied', async () => {
      const { id } = await at.mill.enqueue('echo', 1, { queue: 'copied', delay: '1h' })
      const page = await at.open(`/jobs/${id}`)
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
      const copying = button(page, 'Copy the job id')
      const mark = copying.locator('.lucide-check')
      await page.evaluate(() => {
        navigator.clipboard.writeText = () => Promise.reject(new Error('blocked'))
      })
      await copying.click()
      await page.getByText('The browser blocked copying the job id').first().waitFor()
      expect(await mark.count()).toBe(0)
      await page.evaluate(() => Reflect.deleteProperty(navigator.clipboard, 'writeText'))
      await copying.click()
      await mark.waitFor()
    })

    test.nightly('is copied as commands, and into the form that enqueues', async () => {
      const { id } = await at.mill.enqueue(
        'mail.send',
        { to: 'ada@example.com', subject: "it's" },
        { priority: 7, delay: '1h' },
      )
      const page = await at.open(`/jobs/${id}`, { as: 'operator' })
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
      for (const [name, says] of [
        ['curl', `POST ${at.url}/api/jobs`],
        ['TypeScript', 'await mill.enqueue("mail.send", {'],
        ['CLI command', 'jobmill enqueue --queue mail --priority 7'],
      ] as const) {
        await button(page, 'Copy as').click()
        await page.getByRole('menuitem', { name }).click()
        await page.getByText(`Copied the job as ${name}`).waitFor()
        expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(says)
      }
      expect(await button(page, 'Delete').count()).toBe(0)
      await button(page, 'Enqueue copy').click()
      const drawer = page.getByRole('dialog', { name: 'Enqueue copy' })
      await drawer.getByLabel('Payload').fill('{"to": "bob@example.com", "subject": "other"}')
      await page.keyboard.press('Control+Enter')
      await drawer.getByRole('link', { name: 'Open job' }).click()
      await page.waitForURL((url) => !url.pathname.endsWith(id))
      const copied = await at.mill.get(page.url().split('/').at(-1) ?? '')
      expect(copied).toMatchObject({
        kind: 'mail.send',
        queue: 'mail',
        priority: 7,
        payload: { to: 'bob@example.com' },
      })
    })

    test.nightly('looks the same to a viewer, without secrets and actions; also on a phone', async () => {
      const { id } = await at.mill.enqueue(
        'nobody.serves.this.kind.with.a.long.name',
        { password: 'x', to: 'ada' },
        { queue: 'nowhere' },
      )
      const page = await at.open(`/jobs/${id}`, { as: 'viewer', width: 390 })
      await page.getByText('No running process serves queue nowhere').waitFor()
      expect(await page.getByRole('link', { name: 'View workers' }).getAttribute('href')).toBe('/workers')
      await page.getByText('hidden from viewers').waitFor()
      for (const name of [/^Cancel/, 'Delete', 'Retry', 'Run now', 'Enqueue copy', 'Copy as'])
        expect(await button(page, name).count()).toBe(0)
      expect(await page.getByRole('tab', { name: 'Audit' }).count()).toBe(0)
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
      await at.expectAccessible(page)
    })

    test.nightly('with a payload of 5 MiB loads at once, and the payload on demand', async () => {
      const name = 'x'.repeat(100)
      const rows = Array.from({ length: 37_000 }, (_, n) => ({ n, name, nested: { list: [1, 2, 3] } }))
      const { id } = await at.mill.enqueue('echo', { rows }, { delay: '1h' })
      const page = await at.open(`/jobs/${id}`)
      await page.getByText(/^payload is 5\.\d MiB/i).waitFor()
      await button(page, 'Load payload').click()
      await button(page, '36,950 more').waitFor()
      expect(await page.locator('*').count()).toBeLessThan(5_000)
      await tab(page, /^Log/)
      await page.getByRole('tab', { name: /^Log/, selected: true }).waitFor()
      await tab(page, /^Payload/)
      const downloads = page.waitForEvent('download')
      await button(page, 'Download payload').click()
      expect((await downloads).suggestedFilename()).toBe(`payload-${id}.json`)
    })

    test.nightly('that is a bulk action shows its filter and its result', async () => {
      const jobs = await Promise.all(
        [1, 2, 3].map(() => at.mill.enqueue('echo', null, { delay: '1h', tags: ['many'] })),
      )
      const answer = await fetch(`${at.url}/api/bulk`, {
        method: 'POST',
        headers: { authorization: 'Bearer admin-token-0123456789', 'content-type': 'application/json' },
        body: JSON.stringify({ act: 'cancel', filter: { tags: ['many'] }, reason: 'all of them' }),
      })
      const { id } = (await answer.json()) as { id: string }
      await until(at, id, 'done')
      const page = await at.open(`/jobs/${id}`)
      await page.getByText('Cancel matching jobs').waitFor()
      expect(await page.getByText('Changed').locator('..').textContent()).toBe('Changed3 jobs')
      for (const { id: one } of jobs) expect((await at.mill.get(one))?.state).toBe('cancelled')
      await at.expectAccessible(page)
    })
  },
  { payloadLimitBytes: 8 * MIB, moreJobs: [flaky] },
)
