/** The Limits page: usage, and changes by an operator. */
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { type Mission, mission } from './support/mission.ts'

const limitOf = async (at: Mission, name: string) =>
  (await at.mill.limits.list()).find((limit) => limit.name === name)

const rowOf = (page: Page, name: string) =>
  page.getByRole('row').filter({ has: page.getByRole('button', { name, exact: true }) })

async function act(page: Page, name: string, item: string): Promise<void> {
  await page.getByRole('button', { name: `Actions for ${name}` }).click()
  await page.getByRole('menuitem', { name: item }).click()
}

mission('limits', (at, test) => {
  test('are created, changed and deleted', async () => {
    const page = await at.open('/limits', { mayComplain: /status of 409/ })
    await page.getByRole('button', { name: 'New limit' }).click()
    const drawer = page.getByRole('dialog', { name: 'New limit' })
    const create = drawer.getByRole('button', { name: 'Create' })
    expect(await create.isDisabled()).toBe(true)
    await drawer.getByLabel('Name').fill('two words')
    await drawer.getByText('Use letters, digits and').waitFor()
    await drawer.getByLabel('Name').fill('smtp')
    await drawer.getByLabel('Rate').fill('120')
    await drawer.getByText('one second’s worth (2)').waitFor()
    await at.expectAccessible(page)
    await create.click()
    await drawer.getByText('a limit with this name already exists').waitFor()
    await drawer.getByLabel('Name').fill('sms')
    await create.click()
    await rowOf(page, 'sms').getByText('120 per 1 min, burst 2').waitFor()
    expect(await limitOf(at, 'sms')).toMatchObject({
      settings: { type: 'rate', amount: 120, perMs: 60_000, burst: 2 },
    })

    await act(page, 'sms', 'Edit')
    const edit = page.getByRole('dialog', { name: 'Edit sms' })
    await edit.getByLabel('Type').selectOption('concurrency')
    await edit.getByLabel('Max concurrent').fill('3')
    await edit.getByRole('button', { name: 'Save' }).click()
    await rowOf(page, 'sms').getByText('3 concurrent').waitFor()
    expect(await limitOf(at, 'sms')).toMatchObject({ settings: { type: 'concurrency', most: 3 } })

    await act(page, 'sms', 'Delete')
    const asks = page.getByRole('dialog', { name: 'Delete sms?' })
    await asks.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('Deleted limit sms').waitFor()
    expect(await limitOf(at, 'sms')).toBeUndefined()
  })

  test.nightly('count for each key on its own', async () => {
    const page = await at.open('/limits')
    await page.getByRole('button', { name: 'New limit' }).click()
    const drawer = page.getByRole('dialog', { name: 'New limit' })
    await drawer.getByLabel('Name').fill('chat')
    await drawer.getByLabel('Type').selectOption('rate per key')
    await drawer.getByLabel('Rate').fill('1')
    await drawer.getByLabel('Period').fill('1h')
    await drawer.getByLabel('Burst').fill('3')
    await drawer.getByRole('button', { name: 'Create' }).click()
    const row = rowOf(page, 'chat')
    await row.getByText('1 per 1 h, burst 3, per key').waitFor()
    await row.getByText('0 keys in use').waitFor()
    await act(page, 'chat', 'Drain')
    const asks = page.getByRole('dialog', { name: 'Drain chat?' })
    expect(await asks.getByRole('button', { name: 'Drain' }).isDisabled()).toBe(true)
    await asks.getByLabel('Key').fill('bot 7')
    await asks.getByRole('button', { name: 'Drain' }).click()
    await row.getByText('1 key in use').waitFor()
    expect(await at.mill.limit('chat', { key: 'bot 7' }).tryAcquire()).toBeNull()
    expect(await at.mill.limit('chat', { key: 'bot 8' }).tryAcquire()).not.toBeNull()
    await act(page, 'chat', 'Edit')
    const edit = page.getByRole('dialog', { name: 'Edit chat' })
    const offered = () => edit.getByLabel('Type').locator('option').allInnerTexts()
    await expect.poll(offered).toEqual(['rate per key'])
    await edit.getByLabel('Rate').fill('2')
    await edit.getByRole('button', { name: 'Save' }).click()
    await row.getByText('2 per 1 h, burst 3, per key').waitFor()
    expect(await limitOf(at, 'chat')).toMatchObject({ settings: { amount: 2, perKey: true }, keys: 2 })
  })

  test.nightly('are drained, and show their usage', async () => {
    await at.mill.changeQueue('slow', { limit: 'smtp' })
    const page = await at.open('/limits', { as: 'operator' })
    const row = rowOf(page, 'smtp')
    await row.getByText('5 per 1 h, burst 1').waitFor()
    await row.getByRole('link', { name: 'slow' }).waitFor()
    expect(await page.getByRole('button', { name: 'New limit' }).count()).toBe(0)
    await act(page, 'smtp', 'Drain')
    const asks = page.getByRole('dialog', { name: 'Drain smtp?' })
    await asks.getByLabel('Duration').fill('2 days')
    expect(await asks.getByRole('button', { name: 'Drain' }).isDisabled()).toBe(true)
    await asks.getByLabel('Duration').fill('10m')
    await asks.getByRole('button', { name: 'Drain' }).click()
    await row.getByText('drained').waitFor()
    const { drainedMs = 0 } = (await limitOf(at, 'smtp')) ?? {}
    expect(drainedMs).toBeGreaterThan(9 * 60_000)

    await page.getByRole('button', { name: 'smtp', exact: true }).click()
    await page.getByRole('figure', { name: 'Available tokens of smtp' }).waitFor()
    await page.getByRole('heading', { name: 'Usage by kind' }).waitFor()
    await at.expectAccessible(page)
    const viewed = await at.open('/limits', { as: 'viewer' })
    await rowOf(viewed, 'smtp').waitFor()
    expect(await viewed.getByRole('button', { name: 'Actions for smtp' }).count()).toBe(0)
  })
})
