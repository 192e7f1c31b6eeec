/** Tables that are sorted by their headings, on every page that has one. */
import { expect } from 'vitest'
import { mission } from './support/mission.ts'

mission('sorted tables', (at, test) => {
  test('every table of a page sorts by a click on a heading, and the order is in the address', async () => {
    await at.mill.enqueueMany(
      'nobodys',
      [1, 2, 3].map((payload) => ({ payload, queue: 'mail' })),
    )
    await at.mill.enqueue('dies', 1)
    await at.mill.changeQueue('slow', { workers: 4 }, { by: 'ci' })
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
    await at.mill.alerts.set('ops', { url: 'https://example.com/hook', secret })
    const tables = [
      ['/', 'Queues', 'Ready', 'sort', '-ready'],
      ['/queues', 'Queues', 'Ready', 'sort', '-ready'],
      ['/schedules', '1 schedule', 'Next run', 'sort', '-next'],
      ['/limits', 'Limits', 'Limit', 'sort', 'name'],
      ['/kinds', 'Kinds', 'Processes', 'sort', '-processes'],
      ['/workers', 'Jobs without a worker', 'Jobs', 'waiting', '-jobs'],
      ['/system', 'Overrides', 'Option', 'overrides', 'option'],
      ['/system?tab=alerts', 'Alert rules', 'Cool-down', 'sort', '-cool'],
      ['/system', 'Duties', 'Duty', 'duties', 'name'],
      ['/system', 'Tables', 'Table', 'tables', 'name'],
      ['/system', 'Database latency', 'p95', 'latency', '-p95'],
    ] as const
    for (const [path, name, heading, parameter, value] of tables) {
      const page = await at.open(path)
      const column = page
        .getByRole('table', { name, exact: true })
        .getByRole('columnheader', { name: heading, exact: true })
      await column.getByRole('button').press('Enter')
      const direction = value.startsWith('-') ? 'descending' : 'ascending'
      await expect
        .poll(() => column.getAttribute('aria-sort'), { message: `${path} ${name}` })
        .toBe(direction)
      await expect.poll(() => new URL(page.url()).searchParams.get(parameter)).toBe(value)
      await at.expectAccessible(page)
      await page.context().close()
    }

    const page = await at.open('/queues?sort=-ready')
    const rows = page.getByRole('table', { name: 'Queues' }).locator('tbody tr')
    await expect.poll(() => rows.first().innerText()).toContain('mail')
  })
})
