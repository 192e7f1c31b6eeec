/** Live lists hold still while they are used. */
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { holdRows } from '../src/kit/table/held-rows.ts'
import { mission } from './support/mission.ts'

const ids = (page: Page) =>
  page.locator('[data-job]').evaluateAll((rows) => rows.map((row) => row.dataset['job']))

mission('lists that hold still', (at, test) => {
  test('rows keep their place under the pointer and the focus, and newer ones are counted', async () => {
    const before = holdRows(
      [
        { id: 'a', state: 'ready' },
        { id: 'b', state: 'ready' },
      ],
      [
        { id: 'c', state: 'ready' },
        { id: 'a', state: 'running' },
      ],
    )
    expect(before).toEqual({
      rows: [
        { id: 'a', state: 'running' },
        { id: 'b', state: 'ready' },
      ],
      fresh: 1,
    })

    const add = async (many: number): Promise<string[]> => {
      const items = Array.from({ length: many }, (_, payload) => ({ payload, queue: 'held' }))
      return (await at.mill.enqueueMany('nobodys', items)).map(({ id }) => id)
    }
    const first = await add(3)
    const page = await at.open('/jobs?queue=held')
    await expect.poll(async () => new Set(await ids(page))).toEqual(new Set(first))
    const order = await ids(page)
    await page.getByRole('table', { name: 'Jobs' }).hover()
    const more = await add(2)
    await page.getByRole('button', { name: '2 new' }).waitFor()
    expect(await ids(page)).toEqual(order)
    // Known rows show their newest state.
    await at.mill.cancel(first[0] ?? '')
    await page.locator(`[data-job="${first[0]}"]`).getByText('cancelled').waitFor()
    await page.mouse.move(0, 0)
    await expect.poll(async () => new Set(await ids(page))).toEqual(new Set([...first, ...more]))

    await page.keyboard.press('j')
    await add(1)
    await page.getByRole('button', { name: '1 new' }).waitFor()
    expect(await ids(page)).toHaveLength(5)
    await at.expectAccessible(page)
    await page.getByRole('button', { name: '1 new' }).click()
    await expect.poll(async () => ids(page)).toHaveLength(6)

    // An action of the user shows its result at once.
    await page.keyboard.press('j')
    await add(1)
    await page.getByRole('button', { name: '1 new' }).waitFor()
    await page.keyboard.press('r')
    await expect.poll(async () => ids(page)).toHaveLength(7)
  })
})
