/** The enqueue drawer. */
import { expect } from 'vitest'
import { mission } from './support/mission.ts'

mission('the enqueue drawer', (at, test) => {
  test('validates the payload while the user types, and enqueues with all options', async () => {
    const page = await at.open('/queues', { as: 'operator', mayComplain: /400|422/ })
    // The button appears once the role is known.
    await page.getByRole('button', { name: 'Enqueue' }).waitFor()
    await page.keyboard.press('n')
    const drawer = page.getByRole('dialog', { name: 'Enqueue job' })
    const kind = drawer.getByRole('combobox', { name: 'Kind' })
    const payload = drawer.getByLabel('Payload')
    await expect.poll(() => kind.evaluate((field) => field === document.activeElement)).toBe(true)

    // A kind without a worker; then one by a part of its name, with the keyboard.
    await page.keyboard.type('nobody.serves')
    await drawer.getByText('No worker handles this kind. The job will wait for one.').waitFor()
    await kind.fill('send')
    await drawer.getByRole('option', { name: 'mail.send' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    expect(await kind.inputValue()).toBe('mail.send')
    await drawer.getByText('The payload is validated as you type').waitFor()
    expect(JSON.parse(await payload.inputValue())).toMatchObject({ to: 'person1@example.com' })

    await payload.fill('{\n  "to": "x",\n  "copies": 9,\n}')
    await drawer.getByText('Line 4, column 1: Remove the comma before }').waitFor()
    await payload.fill('{"to": "x", "copies": 9}')
    await drawer.getByText('to must be an email address.').waitFor()
    await drawer.getByText('copies must be at most 5.').waitFor()
    await drawer.getByText('subject is required.').waitFor()
    await at.expectAccessible(page)

    // Tab indents until Escape is pressed, which does not close the drawer.
    await payload.fill('{"to": "ada@example.com", "subject": "hi"}')
    await drawer.getByRole('button', { name: 'Format' }).click()
    expect(await payload.inputValue()).toBe('{\n  "to": "ada@example.com",\n  "subject": "hi"\n}')
    await payload.press('Control+End')
    await payload.press('Tab')
    expect(await payload.inputValue()).toMatch(/\} {2}$/)
    await payload.press('Escape')
    await payload.press('Tab')
    expect(await payload.evaluate((field) => field === document.activeElement)).toBe(false)

    await drawer.getByRole('combobox', { name: 'Queue' }).fill('by-hand')
    await drawer.getByLabel('Tags').fill('vip, new')
    await drawer.getByLabel('Run', { exact: true }).selectOption('After a delay')
    await drawer.getByLabel('Delay').fill('soon')
    await drawer.getByText('Enter a duration such as 90s').waitFor()
    await drawer.getByLabel('Delay').fill('1h')
    await drawer.getByLabel('Priority').fill('-3')
    await drawer.getByLabel('Max attempts').fill('2')
    await drawer.getByLabel('Attempt timeout').fill('20000d')
    await drawer.getByLabel('Dedupe key').fill('once')
    await drawer.getByLabel('Order key').fill('ada')
    await page.keyboard.press('Control+Enter')
    // Problems that only the server knows are shown at their fields too.
    await drawer.getByText(/longer than ten years/).waitFor()
    await drawer.getByLabel('Attempt timeout').fill('30s')
    await page.keyboard.press('Control+Enter')
    await drawer.getByText('Enqueued 1 mail.send job.').waitFor()
    await drawer.getByRole('link', { name: 'Open job' }).click()
    await page.waitForURL(/\/jobs\/[0-9a-f-]{36}$/)
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await at.mill.get(page.url().split('/').at(-1) ?? '')).toMatchObject({
      kind: 'mail.send',
      queue: 'by-hand',
      state: 'scheduled',
      payload: { to: 'ada@example.com', subject: 'hi' },
      tags: ['vip', 'new'],
      priority: -3,
      maxAttempts: 2,
      timeoutMs: 30_000,
      orderKey: 'ada',
      dedupeKey: 'global once',
    })
  })

  test.nightly(
    'enqueues many with numbers in them, or generated from the schema, and reports duplicates',
    async () => {
      const page = await at.open('/queues', { as: 'operator', width: 390 })
      await page.getByRole('button', { name: 'Enqueue' }).click()
      const drawer = page.getByRole('dialog', { name: 'Enqueue job' })
      await drawer.getByRole('combobox', { name: 'Kind' }).fill('echo')
      await drawer.getByLabel('Payload').fill('{"id": "{{n}}", "say": "no {{n}}"}')
      await drawer.getByRole('combobox', { name: 'Queue' }).fill('many')
      await drawer.getByLabel('Dedupe key').fill('many')
      await drawer.getByText('Repeat').click()
      await drawer.getByLabel('Number of jobs').fill('1001')
      await drawer.getByText('Enter a number from 1 to 1000.').waitFor()
      await drawer.getByLabel('Number of jobs').fill('3')
      await drawer.getByRole('button', { name: 'Enqueue 3 jobs' }).click()
      await drawer.getByText('Enqueued 1 echo job; 2 duplicates skipped').waitFor()
      await drawer.getByRole('button', { name: 'Enqueue another' }).click()
      await drawer.getByLabel('Dedupe key').fill('')
      await drawer.getByLabel('Number of jobs').fill('4')
      await drawer.getByRole('button', { name: 'Enqueue 4 jobs' }).click()
      await drawer.getByText('Enqueued 4 echo jobs.').waitFor()
      await drawer.getByRole('button', { name: 'Enqueue another' }).click()
      await drawer.getByRole('combobox', { name: 'Kind' }).fill('mail.send')
      await drawer.getByLabel('Number of jobs').fill('20')
      await drawer.getByLabel('Payloads').selectOption('Generated examples')
      await drawer.getByRole('button', { name: 'Enqueue 20 jobs' }).click()
      await drawer.getByText('Enqueued 20 mail.send jobs.').waitFor()
      await at.expectAccessible(page)
      await drawer.getByRole('button', { name: 'Close' }).last().click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })

      const { jobs } = await at.mill.list({ queue: 'many' }, { limit: 100 })
      const payloads = await Promise.all(jobs.map(async ({ id }) => (await at.mill.get(id))?.payload))
      expect(payloads).toContainEqual({ id: 4, say: 'no 4' })
      expect(payloads).toContainEqual({ to: 'person20@example.com', subject: 'subject 20', copies: 5 })
      expect(jobs).toHaveLength(25)
    },
  )
})
