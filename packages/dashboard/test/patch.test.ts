/** Retries with a patched payload: the editor, its preview, the result, and the timeline of a patched job. */
import { expect } from 'vitest'
import { mission } from './support/mission.ts'

mission('patches', (at, test) => {
  test.nightly(
    'the preview shows the first job before and after, and the result says which jobs were skipped',
    async () => {
      // No worker serves this queue. The newest job is previewed.
      const queue = 'patched'
      const echo = await at.mill.enqueue('echo', { amount: 1 }, { queue })
      const mail = await at.mill.enqueue('mail.send', { to: 'ada@example.com', subject: 'Hello' }, { queue })
      for (const { id } of [echo, mail]) await at.mill.cancel(id)
      const page = await at.open(`/jobs?queue=${queue}&state=cancelled`)
      await page.getByRole('button', { name: 'Retry all…' }).click()
      const dialog = page.getByRole('dialog', { name: 'Retry all matching jobs?' })
      const retry = dialog.getByRole('button', { name: 'Retry 2 jobs' })
      await retry.waitFor()
      await dialog.getByRole('button', { name: 'Patch payloads' }).click()
      const editor = dialog.getByLabel('Merge patch')

      // An empty patch, or none at all, cannot be sent.
      expect(await retry.isDisabled()).toBe(true)
      await editor.fill('{"subject": "Hi"')
      await dialog.getByText('Missing }').waitFor()
      expect(await retry.isDisabled()).toBe(true)
      await editor.fill('["subject"]')
      await dialog.getByText('Must be an object').waitFor()
      expect(await retry.isDisabled()).toBe(true)

      await editor.fill('{"subject": "Hi", "to": null}')
      await dialog.getByText('Would be skipped: to is required.').waitFor()
      await editor.fill('{"subject": "Hi"}')
      await dialog.getByText('Matches the schema of mail.send.').waitFor()
      const diff = dialog.getByRole('list', { name: 'First job: mail.send diff' })
      const lines = await diff.getByRole('listitem').allTextContents()
      expect(lines).toContain('-before only:   "subject": "Hello"')
      expect(lines).toContain('+after only:   "subject": "Hi"')
      await at.expectAccessible(page)

      // Without the patch it is a retry as before.
      await dialog.getByRole('button', { name: 'Remove patch' }).click()
      expect(await retry.isDisabled()).toBe(false)
      await dialog.getByRole('button', { name: 'Patch payloads' }).click()
      await editor.fill('{"subject": ""}')
      await dialog.getByText('Would be skipped: subject must not be empty.').waitFor()
      await retry.click()
      await page.waitForURL(/\/jobs\/[\da-f-]{36}$/)
      const skipped = page.getByRole('list', { name: 'Skipped jobs' })
      await skipped.getByText('1, payload invalid at /subject').waitFor()
      expect(await page.getByText('Patch', { exact: true }).count()).toBe(1)
      expect(await at.mill.get(mail.id)).toMatchObject({ state: 'cancelled', payload: { subject: 'Hello' } })
      expect(await at.mill.get(echo.id)).toMatchObject({
        state: 'ready',
        payload: { amount: 1, subject: '' },
      })

      await page.goto(`${at.url}/jobs/${echo.id}`)
      await page.getByRole('tab', { name: 'Events' }).click()
      await page.getByText('Retried by adam with a patched payload').waitFor()
    },
  )

  test.nightly('the first selected job that can be retried is previewed', async () => {
    const queue = 'selected'
    const { id } = await at.mill.enqueue('echo', { n: 1 }, { queue })
    await at.mill.cancel(id)
    await at.mill.enqueue('echo', { n: 2 }, { queue, delay: '1h' })
    const page = await at.open(`/jobs?queue=${queue}`, { as: 'operator', width: 390, colours: 'dark' })
    await page.getByRole('checkbox', { name: 'Select all on this page' }).click()
    const selected = page.getByRole('toolbar', { name: 'Selected jobs' })
    await selected.getByRole('button', { name: 'Retry' }).click()
    await page.getByRole('button', { name: 'Patch payloads' }).click()
    await page.getByLabel('Merge patch').fill('{"m": [true]}')
    const diff = page.getByRole('list', { name: 'First job: echo diff' })
    await diff.getByText('"n": 1').waitFor()
    await page.getByText('The server does not know the schema of echo').waitFor()
    await at.expectAccessible(page)
    await page.getByRole('button', { name: 'Retry 1 job' }).click()
    await expect.poll(async () => (await at.mill.get(id))?.payload).toEqual({ n: 1, m: [true] })
  })

  test('the jobs of an error are retried with a patch', async () => {
    const { id } = await at.mill.enqueue('payments.charge', { request: 'req_1' })
    await expect.poll(async () => (await at.mill.get(id))?.state).toBe('dead')
    const page = await at.open('/errors?kind=payments.charge')
    await page.getByRole('button', { name: 'Retry 1 job' }).click()
    const dialog = page.getByRole('dialog', { name: 'Retry dead jobs with this error?' })
    await dialog.getByRole('button', { name: 'Patch payloads' }).click()
    await dialog.getByLabel('Merge patch').fill('{"request": "req_2"}')
    await dialog.getByRole('list', { name: 'First job: payments.charge diff' }).getByText('"req_2"').waitFor()
    await dialog.getByRole('button', { name: 'Retry 1 job' }).click()
    await expect.poll(async () => (await at.mill.get(id))?.payload).toEqual({ request: 'req_2' })
  })
})
