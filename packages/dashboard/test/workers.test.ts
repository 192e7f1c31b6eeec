/** The Workers page: what an operator requests of a process. */
import { expect } from 'vitest'
import { anInstance } from '../../conformance/src/factories.ts'
import { mission } from './support/mission.ts'

mission('requests to workers', (at, test) => {
  test('a process is made quiet and resumed in one click each, and stopping it asks first', async () => {
    const { id } = at.mill.instance
    const requested = async () => (await at.mill.instances()).find((one) => one.id === id)?.requested
    const { id: job } = await at.mill.enqueue('holds', null)
    await expect.poll(async () => (await at.mill.get(job))?.state).toBe('running')
    const page = await at.open('/workers', { as: 'operator' })
    await page.getByText('active', { exact: true }).waitFor()
    await page.getByRole('button', { name: /^Quiet / }).click()
    await page.getByText('quiet, 1 job running', { exact: true }).waitFor()
    await page.getByText('It claims no jobs until you resume it. 1 running job will finish.').waitFor()
    expect(await requested()).toBe('quiet')
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('active', { exact: true }).waitFor()
    expect(await requested()).toBe(null)

    await page.getByRole('button', { name: /^Stop / }).click()
    const asks = page.getByRole('dialog', { name: /^Stop .+\?$/ })
    await asks.getByText('1 running job can finish within the grace period').waitFor()
    await at.expectAccessible(page)
    await asks.getByRole('button', { name: 'Cancel' }).click()
    await asks.waitFor({ state: 'detached' })
    expect(await requested()).toBe(null)
    const { entries } = await at.mill.audit.list()
    expect(entries.map(({ who, what }) => `${who} ${what}`)).toEqual([
      'olga workers.resume',
      'olga workers.quiet',
    ])
    await at.mill.cancel(job)
  })

  test.nightly('a viewer sees the state of a process and no actions', async () => {
    const { id } = at.mill.instance
    await at.mill.quietInstance(id, { by: 'ada' })
    const page = await at.open('/workers', { as: 'viewer' })
    await page.getByText(/^quiet, /).waitFor()
    expect(await page.getByRole('button', { name: /^(?:Resume|Quiet|Stop) / }).count()).toBe(0)
    await at.mill.resumeInstance(id)
    await page.getByText('active', { exact: true }).waitFor()
  })

  test.nightly('another process is stopped, and shows that it is stopping', async () => {
    const other = anInstance({ label: 'web-1', leaseMs: 600_000 })
    await at.store.instances.register(other)
    const page = await at.open('/workers', { as: 'operator' })
    await page.getByRole('button', { name: 'Stop web-1' }).click()
    const asks = page.getByRole('dialog', { name: 'Stop web-1?' })
    await asks.getByText('No jobs are running on it.').waitFor()
    await asks.getByRole('button', { name: 'Stop process' }).click()
    await page.getByText('stopping, no jobs running', { exact: true }).waitFor()
    // Disabled, and says why.
    const quiet = page.getByRole('button', { name: 'Quiet web-1' })
    await quiet.hover()
    await page.getByRole('tooltip').getByText('web-1 is stopping. This cannot be undone.').waitFor()
    expect(await quiet.isDisabled()).toBe(true)
    const record = (await at.mill.instances()).find(({ id }) => id === other.id)
    expect(record).toMatchObject({ requested: 'stop', requestedBy: 'olga' })
    await at.store.instances.deregister(other.id)
  })
})
