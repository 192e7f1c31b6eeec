/** The Errors page: groups and their actions. */
import { expect } from 'vitest'
import type { Locator } from 'playwright-core'
import { mission } from './support/mission.ts'

const JOBS = 550
const NAMES = 'limo tavi sona rudi pelo kimu nalo doti vesu golu mira polo tuni ravo seki lopa'.split(' ')
const LETTERS = 'abcdefghijklmnopqrstuvwxyz'

/** `req_` with letters and digits, as Stripe makes them. */
const requestId = (n: number): string =>
  `req_${n}${LETTERS[n % 26] ?? ''}${LETTERS[(n * 7) % 26] ?? ''}u${n * 31}cb9${n % 7}x`

mission('errors', (at, test) => {
  test.nightly('groups dead and retrying jobs, opens to an example, and retries the dead jobs', async () => {
    const page = await at.open('/errors')
    const handles = await at.mill.enqueueMany('dies', [{ payload: 1 }, { payload: 2 }, { payload: 3 }])
    const ids = handles.map(({ id }) => id)
    const failing = await at.mill.enqueue('fails', null, { queue: 'slow' })
    const states = () => Promise.all(ids.map(async (id) => (await at.mill.get(id))?.state))
    await expect.poll(states).toEqual(['dead', 'dead', 'dead'])
    await expect.poll(async () => (await at.mill.history(failing.id)).length).toBe(1)

    // By queue and kind, in the address.
    const row = page.getByRole('list', { name: 'Error groups' }).getByRole('listitem')
    await page.getByRole('main').getByLabel('Queue').selectOption('slow')
    await page.getByRole('heading', { name: '1 error group, 1 job' }).waitFor()
    await expect.poll(() => page.url()).toBe(`${at.url}/errors?queue=slow`)
    expect(await row.innerText()).toMatch(/attempt\s*number\s*failed\s*fails in slow/)
    await page.getByRole('main').getByLabel('Kind').selectOption('dies')
    await page.getByText('No matching errors').waitFor()
    await page.getByRole('main').getByLabel('Queue').selectOption('All queues')
    await page.getByRole('heading', { name: '1 error group, 3 jobs' }).waitFor()
    expect(await row.innerText()).toMatch(/the server said no to\s*id\s*dies in default/)

    await page.getByRole('button', { name: /the server said no/ }).click()
    await expect.poll(() => page.url()).toMatch(/\?kind=dies&open=[0-9a-f]{16}$/)
    await page.getByText('Causes and stack').click()
    await page.getByText('caused by: Error: connect ECONNREFUSED').waitFor()
    await at.expectAccessible(page)
    const jobs = page.getByRole('link', { name: 'View dead jobs' })
    expect(await jobs.getAttribute('href')).toBe(
      '/jobs?kind=dies&state=dead&errorText=Dead%3A+the+server+said+no+to',
    )
    const example = await page.getByRole('link', { name: 'Open latest job' }).getAttribute('href')
    expect(ids.map((id) => `/jobs/${id}`)).toContain(example)

    await page.getByRole('button', { name: 'Retry 3 jobs' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('3 dead dies jobs will be ready again').waitFor()
    await dialog.getByRole('button', { name: 'Retry 3 jobs' }).click()
    await page.waitForURL(/\/jobs\/[0-9a-f-]{36}$/)
    const bulk = page.url().split('/').at(-1) ?? ''
    await expect.poll(async () => (await at.mill.get(bulk))?.result).toMatchObject({ changed: 3 })
    for (const id of ids) await expect.poll(async () => (await at.mill.history(id)).length).toBe(2)
  })

  test('a time range leaves out older failures, in the list, in its links and in a retry', async () => {
    const old = await at.mill.enqueue('dies', 1, { queue: 'slow' })
    const failedAt = async (id: string) => (await at.mill.get(id))?.endedAt ?? 0
    await expect.poll(() => failedAt(old.id)).toBeGreaterThan(0)
    const since = (await failedAt(old.id)) + 1
    await expect.poll(() => Date.now()).toBeGreaterThan(since)
    const fresh = await at.mill.enqueue('dies', 1, { queue: 'slow' })
    await expect.poll(() => failedAt(fresh.id)).toBeGreaterThan(since)
    const page = await at.open('/errors?queue=slow&kind=dies')
    await page.getByRole('heading', { name: '1 error group, 2 jobs' }).waitFor()
    const choice = page.getByRole('group', { name: 'Time range' })
    const all = choice.getByRole('button', { name: 'all' })
    expect(await all.getAttribute('aria-pressed')).toBe('true')
    await choice.getByRole('button', { name: '15m', exact: true }).click()
    await expect.poll(() => new URL(page.url()).search).toBe('?queue=slow&kind=dies&range=15m')
    await page.getByRole('heading', { name: '1 error group, 2 jobs' }).waitFor()
    await page.getByRole('button', { name: /the server said no/ }).click()
    expect(await page.getByRole('link', { name: 'View dead jobs' }).getAttribute('href')).toBe(
      '/jobs?kind=dies&state=dead&failedFrom=15m&errorText=Dead%3A+the+server+said+no+to',
    )

    const to = since + 3_600_000
    await page.goto(`${at.url}/errors?queue=slow&kind=dies&from=${since}&to=${to}`)
    await page.getByRole('heading', { name: '1 error group, 1 job' }).waitFor()
    await page.getByRole('button', { name: 'Retry 1 job' }).click()
    await page.getByRole('dialog').getByText('1 dead dies job in slow will be ready again').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Reset zoom' }).click()
    await page.getByRole('heading', { name: '1 error group, 2 jobs' }).waitFor()
    expect(await all.getAttribute('aria-pressed')).toBe('true')
  })

  test('550 failures with request ids are one group, retried with one click and a confirmation', async () => {
    await at.mill.enqueueMany(
      'payments.charge',
      Array.from({ length: JOBS }, (_, n) => ({ payload: { request: requestId(n) }, queue: 'mail' })),
    )
    await expect
      .poll(async () => (await at.mill.count({ kind: 'payments.charge', state: 'dead' })).jobs)
      .toBe(JOBS)
    const page = await at.open('/errors?kind=payments.charge')
    let clicks = 0
    const click = async (locator: Locator): Promise<void> => {
      clicks += 1
      await locator.click()
    }
    await page.getByRole('heading', { name: `1 error group, ${JOBS} jobs` }).waitFor()
    await click(page.getByRole('button', { name: `Retry ${JOBS} jobs` }))
    const dialog = page.getByRole('dialog')
    await dialog.getByText(`${JOBS} dead payments.charge jobs will be ready again`).waitFor()
    await click(dialog.getByRole('button', { name: `Retry ${JOBS} jobs` }))
    await page.waitForURL(/\/jobs\/[0-9a-f-]{36}$/)
    expect(clicks).toBe(2)
    const bulk = page.url().split('/').at(-1) ?? ''
    await expect.poll(async () => (await at.mill.get(bulk))?.result).toMatchObject({ changed: JOBS })
  })

  test.nightly(
    'errors with free text fold into one row, which opens in place, can be searched and retried',
    async () => {
      const texts = NAMES.flatMap((one) => NAMES.map((two) => `${one} ${two} rang ${two}${one}`)).slice(
        0,
        230,
      )
      await at.mill.enqueueMany(
        'greet',
        texts.map((text) => ({ payload: { text }, queue: 'mail' })),
      )
      const elsewhere = await at.mill.enqueue('greet', { text: texts[0] }, { queue: 'slow' })
      await expect.poll(async () => (await at.mill.count({ kind: 'greet', state: 'dead' })).jobs).toBe(231)
      const page = await at.open('/errors?queue=mail&kind=greet&sort=lastAt')
      await page.getByRole('heading', { name: '1 error group, 230 jobs' }).waitFor()
      const rows = page
        .getByRole('list', { name: 'Error groups' })
        .getByRole('button', { name: /similar errors/ })
      expect(await rows.innerText()).toMatch(/\d+ similar errors · greet in mail · run \(.*jobs\.ts\)/)
      await rows.click()
      const inside = page.getByRole('list', { name: 'Similar errors' }).getByRole('listitem')
      await page.getByText(/^The 200 latest of \d+ error groups/).waitFor()
      expect(await inside.count()).toBe(200)
      await page.getByLabel('Search errors').fill('LIMO TAVI')
      await page.getByText(/^1 error group, 1 job$/).waitFor()
      await inside.getByRole('button').first().click()
      await page.getByRole('button', { name: 'Retry 1 job' }).waitFor()
      await page.getByLabel('Search errors').fill('')
      await page.getByRole('button', { name: 'Retry 230 jobs' }).click()
      await page.getByRole('dialog').getByText('230 dead greet jobs in mail will be ready again').waitFor()
      await page.getByRole('dialog').getByRole('button', { name: 'Retry 230 jobs' }).click()
      await page.waitForURL(/\/jobs\/[0-9a-f-]{36}$/)
      const bulk = page.url().split('/').at(-1) ?? ''
      await expect.poll(async () => (await at.mill.get(bulk))?.result).toMatchObject({ changed: 230 })
      // The page was filtered by the queue, and so was the retry.
      expect(await at.mill.history(elsewhere.id)).toHaveLength(1)
    },
  )

  test.nightly('is readable for viewers, and has an empty state for a kind without errors', async () => {
    const { id } = await at.mill.enqueue('fails', null, { queue: 'mail' })
    await expect.poll(async () => (await at.mill.history(id)).length).toBe(1)
    const page = await at.open('/errors?kind=unheard', { as: 'viewer', width: 390 })
    await page.getByText('No matching errors').waitFor()
    await page.getByRole('button', { name: 'View all errors' }).click()
    await page.getByRole('button', { name: /attempt/ }).click()
    await page.getByRole('link', { name: 'View all jobs' }).waitFor()
    expect(await page.getByRole('button', { name: /Retry/ }).count()).toBe(0)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
  })
})
