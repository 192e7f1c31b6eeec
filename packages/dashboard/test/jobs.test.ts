/** The Jobs page: filtering, paging, and actions on one job, on selected jobs and on all that match. */
import { randomUUID } from 'node:crypto'
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import type { JobFilter } from '../../jobmill/src/internal.ts'
import { prepareJobs } from '../../jobmill/src/store.ts'
import { inFull } from '../../../test/support/suite/in-full.ts'
import { type Mission, mission } from './support/mission.ts'

const field = (page: Page): Locator => page.getByRole('combobox', { name: 'Filter jobs' })
const rows = (page: Page): Locator =>
  page.getByRole('table', { name: 'Jobs' }).getByRole('checkbox', { name: /^Select (?!all)/ })
const chip = (page: Page, text: string): Locator => page.getByRole('button', { name: `Remove ${text}` })

/** The dashboard asks the server first, and other processes may use this machine too. */
async function soon<T>(look: () => Promise<T>, wanted: T): Promise<void> {
  await expect.poll(look).toEqual(wanted)
}

const numbers = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, n) => String(from + n))

async function states(at: Mission, filter: JobFilter): Promise<Record<string, number>> {
  const { jobs } = await at.mill.list(filter, { limit: 500 })
  const counts: Record<string, number> = {}
  for (const { state } of jobs) counts[state] = (counts[state] ?? 0) + 1
  return counts
}

/** The bulk action has ended, and the page shows its result. */
async function bulkEnded(at: Mission, page: Page): Promise<void> {
  await page.waitForURL(/\/jobs\/[\da-f-]{36}$/)
  const id = page.url().split('/').at(-1) ?? ''
  await soon(async () => (await at.mill.get(id))?.state, 'done')
}

mission('jobs', (at, test) => {
  test('says how to enqueue the first job; filters by typing, suggestions and shared links, and removes filters', async () => {
    const page = await at.open('/jobs')
    await page.getByText('No jobs yet').waitFor()
    await page.getByText('jobmill enqueue email.send').waitFor()
    await at.expectAccessible(page)

    // No worker serves this queue, so its jobs stay.
    const queue = 'find-me'
    const { id } = await at.mill.enqueue(
      'echo',
      { user: { id: 42 }, note: 'a "quoted" word' },
      { queue, tags: ['very important'] },
    )
    await at.mill.enqueue('echo', { user: { id: 43 } }, { queue })
    await at.mill.enqueue('mail.send', { to: 'ada@example.com', subject: 'x' }, { queue, delay: '1h' })

    // By keyboard: / focuses it; arrows, Enter and Tab accept a suggestion.
    await page.keyboard.press('/')
    await page.keyboard.type('find')
    await page.getByRole('option', { name: 'queue:find-me' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await chip(page, 'queue:find-me').waitFor()
    await soon(() => rows(page).count(), 3)
    await expect.poll(() => new URL(page.url()).search).toBe('?queue=find-me')
    await page.keyboard.type('sta')
    await page.keyboard.press('Tab')
    await page.keyboard.type('re')
    await page.getByRole('option', { name: 'state:ready' }).waitFor()
    await page.keyboard.press('Tab')
    await soon(() => rows(page).count(), 2)
    await page.getByRole('link', { name: 'scheduled 1' }).click()
    await soon(() => rows(page).count(), 1)
    await page.goBack()
    await soon(() => rows(page).count(), 2)

    // Invalid parts are reported and stay; the rest is applied.
    await field(page).fill('payload.user.id:42 sate:dead tag:"very important" after:1h')
    await page.keyboard.press('Enter')
    await page.getByText('starts with "sate", which is not a filter key').waitFor()
    expect(await field(page).inputValue()).toBe('sate:dead')
    await soon(() => rows(page).count(), 1)
    await at.expectAccessible(page)
    await page.reload()
    await page.getByRole('link', { name: 'echo', exact: true }).waitFor()
    expect(await rows(page).count()).toBe(1)

    // Remove the filters one by one.
    await chip(page, 'tag:"very important"').click()
    await field(page).fill('"nowhere to be found"')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Remove payload contains nowhere to be found' }).click()
    await soon(() => rows(page).count(), 1)
    await field(page).fill('"user":{"id":4')
    await page.keyboard.press('Enter')
    await chip(page, 'payload.user.id:42').click()
    await soon(() => rows(page).count(), 2)
    await field(page).focus()
    await page.keyboard.press('Backspace')
    expect(await field(page).inputValue()).toBe(String.raw`"\"user\":{\"id\":4"`)
    await field(page).fill(id)
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/jobs/${id}`)
  })

  test.nightly('searches the index of a declared payload path, and all payloads on request', async () => {
    // No worker serves this queue. The second job was enqueued before its kind declared the path.
    const job = { kind: 'payments.charge', queue: 'indexed', payload: { request: 'req_4711' } }
    await at.mill.enqueue(job.kind, job.payload, { queue: job.queue })
    await at.store.enqueue(prepareJobs([job], { mintId: () => randomUUID() }))
    const page = await at.open('/jobs?payloadAt=request:req_4711')
    await page.getByText('From the index of request: jobs of payments.charge.').waitFor()
    await soon(() => rows(page).count(), 1)
    await page.getByRole('button', { name: 'Bulk actions' }).click()
    await page.getByRole('menuitem', { name: 'Cancel…' }).click()
    await page.getByRole('button', { name: 'Cancel 1 job', exact: true }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Search all payloads' }).click()
    await soon(() => rows(page).count(), 2)
    expect(new URL(page.url()).searchParams.get('search')).toBe('all')
    await at.expectAccessible(page)
    await page.getByRole('button', { name: 'Use the index' }).click()
    await soon(() => rows(page).count(), 1)
    // A kind without the path: every payload is compared.
    await page.goto(`${at.url}/jobs?payloadAt=request:req_4711&kind=echo`)
    await page.getByText('No matching jobs').waitFor()
    expect(await page.getByRole('button', { name: 'Search all payloads' }).count()).toBe(0)
  })

  test.nightly('lets viewers read, and search nothing that is secret', async () => {
    const queue = 'for-viewers'
    await at.mill.enqueue('echo', { secret: 1 }, { queue })
    const page = await at.open(`/jobs?queue=${queue}`, { as: 'viewer', width: 390, colours: 'dark' })
    await page.getByRole('link', { name: 'echo', exact: true }).waitFor()
    expect(await page.getByRole('checkbox').count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Bulk actions' }).count()).toBe(0)
    await page.getByRole('button', { name: /^Actions for echo/ }).click()
    await soon(() => page.getByRole('menuitem').allTextContents(), ['Open job', 'Copy job id'])
    await page.keyboard.press('Escape')
    await field(page).fill('secret')
    await page.keyboard.press('Enter')
    await page.getByText('searches payloads, which requires the operator role').waitFor()
    await at.expectAccessible(page)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
    // Errors are not secret.
    const { id } = await at.mill.enqueue('dies', null, { tags: ['seen-by-viewers'] })
    await soon(async () => (await at.mill.get(id))?.state, 'dead')
    await page.getByRole('button', { name: `Remove queue:${queue}` }).click()
    await field(page).fill('error:"the server said yes" tag:seen-by-viewers')
    await page.keyboard.press('Enter')
    await page.getByText('No matching jobs').waitFor()
    await field(page).fill('error:"the server said no"')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'dies', exact: true }).waitFor()
    expect(await page.getByRole('row').count()).toBe(2)
  })

  test.nightly('pages by keyset, returns to a page, and keeps the selection', async () => {
    const queue = 'pages'
    const made = await at.mill.enqueueMany(
      'echo',
      Array.from({ length: 60 }, (_, n) => ({ payload: n, queue, priority: n })),
    )
    const page = await at.open(`/jobs?queue=${queue}&state=ready`)
    await page.getByLabel('jobs per page').selectOption('25')
    await page.getByRole('button', { name: 'Columns' }).click()
    await page.getByRole('menuitemcheckbox', { name: 'Priority' }).click()
    await page.keyboard.press('Escape')
    const priorities = (): Promise<string[]> => page.locator('[data-job] td:nth-child(6)').allTextContents()
    await soon(priorities, numbers(0, 25))
    await page.getByRole('button', { name: 'Next' }).click()
    await soon(priorities, numbers(25, 50))
    await page.getByRole('button', { name: 'Next' }).click()
    await soon(priorities, numbers(50, 60))
    expect(await page.getByRole('button', { name: 'Next' }).isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'Previous', exact: true }).click()
    await soon(priorities, numbers(25, 50))

    // By keyboard to a job, and back to the same page.
    for (const key of ['j', 'j', 'j', 'k', 'x']) await page.keyboard.press(key)
    await page.getByText('1 job selected').waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/jobs/${made[26]?.id ?? ''}`)
    await page.goBack()
    await soon(priorities, numbers(25, 50))
    await page.getByRole('button', { name: 'First page' }).click()
    await soon(priorities, numbers(0, 25))
    await page.reload()
    await soon(priorities, numbers(0, 25))
  })

  test.nightly('acts on one job as its state allows', async () => {
    const queue = 'one-by-one'
    const { id } = await at.mill.enqueue('echo', 1, { queue, delay: '1h' })
    const page = await at.open(`/jobs?queue=${queue}`)
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    const choose = async (name: string): Promise<void> => {
      await page.getByRole('button', { name: /^Actions for echo/ }).click()
      await page.getByRole('menuitem', { name }).click()
    }
    await choose('Copy job id')
    await soon(() => page.evaluate(() => navigator.clipboard.readText()), id)
    await choose('Run now')
    await soon(() => states(at, { queue }), { ready: 1 })
    await page.getByRole('table', { name: 'Jobs' }).getByText('ready', { exact: true }).first().waitFor()
    await choose('Cancel with reason…')
    await page.getByLabel('Reason').fill('not wanted')
    await at.expectAccessible(page)
    await page.getByRole('button', { name: 'Cancel job' }).click()
    await soon(() => states(at, { queue }), { cancelled: 1 })
    expect((await at.mill.get(id))?.error).toContain('not wanted')
    await page.getByRole('link', { name: 'cancelled 1' }).waitFor()
    await page.getByRole('button', { name: /^Actions for echo/ }).click()
    await soon(
      () => page.getByRole('menuitem').allTextContents(),
      ['Open job', 'Retry', 'Delete…', 'Copy job id'],
    )
    await page.getByRole('menuitem', { name: 'Retry' }).click()
    await soon(() => states(at, { queue }), { ready: 1 })
    await page.getByRole('link', { name: 'ready 1' }).waitFor()
    await choose('Delete…')
    await page.getByRole('button', { name: 'Delete job' }).click()
    await page.getByText('No matching jobs').waitFor()
    expect(await at.mill.get(id)).toBeNull()
  })

  test('acts on selected jobs, and on all that match, as bulk actions', async () => {
    const queue = 'many'
    await at.mill.enqueueMany(
      'echo',
      Array.from({ length: 27 }, (_, n) => ({ payload: n, queue, delay: '1h' })),
    )
    const page = await at.open(`/jobs?queue=${queue}`)
    await page.getByLabel('jobs per page').selectOption('25')
    await rows(page).nth(2).click()
    await rows(page)
      .nth(5)
      .click({ modifiers: ['Shift'] })
    await page.getByText('4 jobs selected').waitFor()
    const selected = page.getByRole('toolbar', { name: 'Selected jobs' })
    expect(await selected.getByRole('button', { name: 'Retry' }).isDisabled()).toBe(true)
    await page.getByRole('checkbox', { name: 'Select all on this page' }).click()
    await page.getByText('25 jobs selected').waitFor()
    await page.getByRole('checkbox', { name: 'Select all on this page' }).click()
    await selected.waitFor({ state: 'detached' })
    await rows(page).nth(7).click()
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByText('1 job selected, 1 not on this page').waitFor()
    await rows(page).nth(1).click()
    await selected.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('list', { name: 'Affected jobs' }).getByText('scheduled').waitFor()
    await page.getByLabel('Reason').fill('two of them')
    await at.expectAccessible(page)
    await page.getByRole('button', { name: 'Cancel 2 jobs' }).click()
    await bulkEnded(at, page)
    expect(await states(at, { queue })).toEqual({ scheduled: 25, cancelled: 2 })

    const all = async (name: string, verb: string): Promise<void> => {
      await page.goBack()
      await page.getByRole('button', { name: 'Bulk actions' }).click()
      await page.getByRole('menuitem', { name }).click()
      await page.getByRole('button', { name: verb }).click()
      await bulkEnded(at, page)
    }
    const acts = [
      ['Run now', 'Run 25 jobs now', { ready: 25, cancelled: 2 }],
      ['Retry', 'Retry 2 jobs', { ready: 27 }],
    ] as const
    for (const [name, verb, after] of acts.slice(0, inFull(acts.length, 0))) {
      await all(name, verb)
      expect(await states(at, { queue })).toEqual(after)
    }
    await all('Cancel', `Cancel ${inFull(27, 25)} jobs`)
    expect(await states(at, { queue })).toEqual({ cancelled: 27 })
    await all('Delete', 'Delete 27 jobs')
    expect(await states(at, { queue })).toEqual({})

    // An action that would change nothing is disabled.
    await page.goBack()
    await page.getByRole('link', { name: 'all 0' }).waitFor()
    await page.getByRole('button', { name: 'Bulk actions' }).click()
    await page.getByRole('menuitem').first().waitFor()
    for (const item of await page.getByRole('menuitem').all()) expect(await item.isDisabled()).toBe(true)
  })
})
