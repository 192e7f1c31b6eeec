/** The steps of a job: what ran, what it waits for, and an event that continues it. */
import { expect } from 'vitest'
import { mission } from './support/mission.ts'

mission('steps', (at, test) => {
  test('the page of a parked job opens on its steps, and sends the event that it waits for', async () => {
    const job = await at.mill.enqueue('onboards', { name: 'Ada' })
    const outcomes = async () => (await at.mill.history(job.id)).map(({ outcome }) => outcome)
    await expect.poll(outcomes, { timeout: 10_000 }).toEqual(['parked'])
    const page = await at.open(`/jobs/${job.id}`, { as: 'operator' })
    const steps = page.getByRole('table', { name: 'Steps' })
    await steps
      .getByRole('row', { name: /^create account/ })
      .getByText('Recorded')
      .waitFor()
    const survey = steps.getByRole('row', { name: /^survey/ })
    await survey.getByText(/^Waiting for survey, /).waitFor()
    await page.getByText(/^Step "survey" waits for the event "survey"/).waitFor()
    await page.getByText('Handler version').locator('xpath=..').getByText('2 or later').waitFor()
    await at.expectAccessible(page)

    await page.getByRole('button', { name: 'Send event' }).click()
    const dialog = page.getByRole('dialog', { name: 'Send event' })
    expect(await dialog.getByLabel('Event').inputValue()).toBe('survey')
    await dialog.getByLabel('Payload').fill('{"score": 9}')
    await at.expectAccessible(page)
    await dialog.getByRole('button', { name: 'Send event' }).click()
    await page.getByText('Sent survey').waitFor()
    expect(await job.result()).toEqual({ score: 9 })
    await survey.getByText('Received').waitFor()
    const { entries } = await at.mill.audit.list({ limit: 1 })
    expect(entries).toMatchObject([{ who: 'olga', what: 'jobs.send-event', job: job.id }])
  })

  test('children are links, and an ended job is rewound and forked from a step', async () => {
    const job = await at.mill.enqueue('onboards', { name: 'Ada', pages: [1, 2] })
    await at.mill.sendEvent(job.id, 'survey', { score: 1 })
    expect(await job.result()).toEqual({ score: 1 })
    const page = await at.open(`/jobs/${job.id}?tab=steps`, { as: 'operator' })
    const pages = page.getByRole('table', { name: 'Steps' }).getByRole('row', { name: /^pages/ })
    await pages.getByText('2 children').click()
    await at.expectAccessible(page)
    await pages.getByRole('link').first().click()
    await page.getByRole('tab', { name: 'Steps' }).click()
    await page.getByText('Child of').waitFor()
    await page.getByRole('link', { name: job.id }).click()
    await page.getByRole('tab', { name: 'Steps' }).click()

    const survey = page.getByRole('row', { name: /^survey/ })
    await survey.getByRole('button', { name: 'Actions for survey' }).click()
    await page.getByRole('menuitem', { name: 'Fork…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Fork job' })
    await at.expectAccessible(page)
    await dialog.getByRole('button', { name: 'Fork' }).click()
    await page.getByText('Enqueued a fork').waitFor()
    const { jobs } = await at.mill.list({ kind: 'onboards' })
    const fork = jobs.find(({ id }) => id > job.id)
    await page.waitForURL(`**/jobs/${fork?.id ?? 'none'}*`)
    expect(await at.mill.get(fork?.id ?? '')).toMatchObject({ payload: { name: 'Ada', pages: [1, 2] } })

    await page.goto(`${at.url}/jobs/${job.id}?tab=steps`)
    await survey.getByRole('button', { name: 'Actions for survey' }).click()
    await page.getByRole('menuitem', { name: 'Rewind…' }).click()
    await page.getByRole('dialog', { name: 'Rewind job' }).getByRole('button', { name: 'Rewind' }).click()
    await page.getByText('Rewound to survey').waitFor()
    // The event is received again.
    await survey.getByText('Received').waitFor()
    const { entries } = await at.mill.audit.list({ limit: 2 })
    expect(entries.map(({ what }) => what)).toEqual(['jobs.rewind', 'jobs.fork'])
  })

  test.nightly('a job without steps says so, and an ended one takes no event', async () => {
    const job = await at.mill.enqueue('echo', 1)
    await job.result()
    const page = await at.open(`/jobs/${job.id}?tab=steps`)
    await page.getByText('No steps').waitFor()
    expect(await page.getByRole('button', { name: 'Send event' }).count()).toBe(0)
  })
})
