/** Saved views: in the menu of the Jobs page, in the command palette, and as links. */
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { mission } from './support/mission.ts'

const menu = async (page: Page): Promise<void> => page.getByRole('button', { name: 'Views' }).click()
const item = (page: Page, name: string) => page.getByRole('menuitem', { name })

mission('saved views', (at, test) => {
  test('a filter is saved under a name, and opens from the menu and from the command palette', async () => {
    const queue = 'viewed'
    const { id } = await at.mill.enqueue('echo', 1, { queue, tags: ['a b'] })
    await at.mill.cancel(id)
    await at.mill.enqueue('echo', 2, { queue })
    const page = await at.open('/jobs')
    await menu(page)
    expect(await item(page, 'Save view…').isDisabled()).toBe(true)
    await page.keyboard.press('Escape')

    await page.goto(`${at.url}/jobs?queue=${queue}&state=cancelled&tag=a+b&enqueuedFrom=1h`)
    await menu(page)
    await item(page, 'Save view…').click()
    const dialog = page.getByRole('dialog', { name: 'Save view' })
    await dialog.getByText('Relative times stay relative').waitFor()
    await dialog.getByLabel('Name').press('Enter')
    await dialog.getByText('Enter a name.').waitFor()
    await dialog.getByLabel('Name').fill('Cancelled / mine')
    await at.expectAccessible(page)
    await dialog.getByLabel('Name').press('Enter')
    await page.getByText('Saved view Cancelled / mine').waitFor()
    const search = `queue=${queue}&state=cancelled&tag=a+b&enqueuedFrom=1h`
    expect(await at.mill.views.list()).toMatchObject([{ name: 'Cancelled / mine', search, by: 'adam' }])

    await page.goto(`${at.url}/jobs`)
    await menu(page)
    await item(page, 'Cancelled / mine').click()
    await expect.poll(() => new URL(page.url()).search).toBe(`?${search}`)
    const rows = page.getByRole('table', { name: 'Jobs' }).getByRole('link', { name: 'echo', exact: true })
    await expect.poll(() => rows.count()).toBe(1)

    await page.goto(`${at.url}/queues`)
    await page.getByRole('heading', { name: 'Queues', level: 1 }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search and commands' }).fill('cancelled mine')
    await page.getByRole('option', { name: 'Cancelled / mine View' }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(`${at.url}/jobs?${search}`)
  })

  test.nightly('a name that is taken is refused at its field', async () => {
    await at.mill.views.add({ name: 'Taken', search: 'state=dead' })
    const page = await at.open('/jobs?state=ready', { mayComplain: /409/ })
    await menu(page)
    await item(page, 'Save view…').click()
    const dialog = page.getByRole('dialog', { name: 'Save view' })
    const name = dialog.getByLabel('Name')
    await name.fill('Taken')
    await dialog.getByRole('button', { name: 'Save view' }).click()
    await dialog.getByText('Another view has this name').waitFor()
    await dialog.getByText('Use another name, or delete that view first').waitFor()
    expect(await name.getAttribute('aria-invalid')).toBe('true')
    await name.fill('Free')
    await dialog.getByRole('button', { name: 'Save view' }).click()
    await dialog.waitFor({ state: 'detached' })
    const saved = await at.mill.views.list()
    expect(saved.filter(({ name: one }) => ['Free', 'Taken'].includes(one))).toMatchObject([
      { name: 'Free', search: 'state=ready' },
      { name: 'Taken', search: 'state=dead' },
    ])
  })

  test.nightly('a view is deleted and restored; its link can be copied', async () => {
    await at.mill.views.add({ name: 'Short-lived', search: 'kind=echo' }, { by: 'otto' })
    const page = await at.open('/jobs', { as: 'operator', colours: 'dark' })
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await menu(page)
    await item(page, 'Manage views…').click()
    const list = page.getByRole('list', { name: 'Saved views' })
    await list.getByText('Saved by otto').waitFor()
    await at.expectAccessible(page)
    await list.getByRole('button', { name: 'Copy link of Short-lived' }).click()
    await page.getByText('Copied the link').waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(`${at.url}/jobs?kind=echo`)
    await list.getByRole('button', { name: 'Delete Short-lived' }).click()
    await page.getByText('Deleted view Short-lived').waitFor()
    const names = async (): Promise<string[]> => (await at.mill.views.list()).map(({ name }) => name)
    expect(await names()).not.toContain('Short-lived')
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect.poll(names).toContain('Short-lived')
  })

  test.nightly('viewers open views, and cannot change them', async () => {
    await at.mill.views.add({ name: 'Secret', search: 'payloadText=hunter2&state=dead' })
    const page = await at.open('/jobs', { as: 'viewer', width: 390, mayComplain: /403/ })
    await menu(page)
    await item(page, 'Secret').waitFor()
    const shown = await page.getByRole('menuitem').allTextContents()
    expect(shown).not.toContain('Save view…')
    expect(shown).not.toContain('Manage views…')
    await item(page, 'Secret').click()
    await expect.poll(() => new URL(page.url()).searchParams.get('state')).toBe('dead')
    expect(page.url()).not.toContain('hunter2')
  })
})
