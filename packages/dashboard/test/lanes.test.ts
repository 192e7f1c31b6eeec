/** Swim lanes on the Workers page, with pointer and keyboard. */
import { expect } from 'vitest'
import { mission } from './support/mission.ts'

mission('swim lanes', (at, test) => {
  test('a lane shows what a process ran, arrow keys name each attempt, and Enter opens its job', async () => {
    await (await at.mill.enqueue('echo', 1)).result()
    const { id } = await at.mill.enqueue('dies', 1)
    await expect.poll(async () => (await at.mill.get(id))?.state).toBe('dead')
    const page = await at.open('/workers')
    const lanes = page.getByRole('list', { name: 'Runs by process' })
    await lanes.getByText(/2 runs, 1 failed, up to \d at once/).waitFor()
    const lane = lanes.getByRole('slider', { name: /^Runs of / })
    expect(await lane.getAttribute('aria-valuetext')).toMatch(/^dies in default, failed permanently, /)
    await lane.press('ArrowLeft')
    expect(await lane.getAttribute('aria-valuetext')).toMatch(/^echo in default, succeeded, /)
    expect(await lane.getAttribute('aria-valuenow')).toBe('1')
    await lanes.getByText(/^echo in default, succeeded, .* Enter opens the job$/).waitFor()
    await at.expectAccessible(page)
    await lane.press('End')
    await lane.press('Enter')
    await page.waitForURL(`**/jobs/${id}`)
  })
})
