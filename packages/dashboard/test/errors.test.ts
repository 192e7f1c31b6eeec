/** The Errors page: groups and their actions. */
import { expect } from 'vitest'
import { mission } from './support/mission.ts'

mission('errors', (at, test) => {
  test('groups dead and retrying jobs, opens to an example, and retries the dead jobs', async () => {
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
