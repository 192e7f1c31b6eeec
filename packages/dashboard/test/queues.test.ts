/** The Queues page: states and live settings. */
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { drawOver } from './support/draw-over.ts'
import { type Mission, mission } from './support/mission.ts'

const queueOf = async (at: Mission, name: string) =>
  (await at.mill.queues()).find((queue) => queue.name === name)

const rowOf = (page: Page, name: string) =>
  page.getByRole('row').filter({ has: page.getByRole('button', { name, exact: true }) })

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

mission('queues', (at, test) => {
  test.nightly('shows state, workers and charts of each queue', async () => {
    await at.mill.enqueueMany(
      'nobodys',
      Array.from({ length: 13 }, (_, n) => ({ payload: n, queue: `many-${n + 10}` })),
    )
    const page = await at.open('/queues#many-22', { as: 'viewer', width: 1_440 })
    await rowOf(page, 'many-22').getByText('none', { exact: true }).waitFor()
    await expect.poll(() => rowOf(page, 'many-22').evaluate(isInSight)).toBe(true)
    await rowOf(page, 'mail').getByText('ok', { exact: true }).waitFor()
    expect(await page.getByRole('button', { name: /^(?:Pause|Edit) / }).count()).toBe(0)

    await page.getByRole('button', { name: 'mail', exact: true }).click()
    const chart = page.getByRole('figure', { name: 'Attempts by outcome, mail' })
    await chart.waitFor()
    await page.getByText('× 2').waitFor()
    await at.expectAccessible(page)
    await drawOver(page, chart.locator('.u-over'), 0.4, 0.8)
    await page.getByRole('button', { name: 'Reset zoom' }).click()
    await expect.poll(() => new URL(page.url()).searchParams.get('open')).toBe('mail')

    await rowOf(page, 'many-12').getByRole('link', { name: '1', exact: true }).click()
    await page.waitForURL('**/jobs?queue=many-12&state=ready')
  })

  test('is paused and resumed with one click each, which Undo and its key take back', async () => {
    await at.mill.enqueueMany(
      'nobodys',
      [1, 2, 3].map((payload) => ({ payload, queue: 'halted' })),
    )
    await at.mill.enqueue('nobodys', 4, { queue: 'halted', delay: '1h' })
    const paused = async () => (await queueOf(at, 'halted'))?.paused
    const page = await at.open('/queues', { as: 'operator' })
    const said = page.getByRole('status').filter({ hasText: 'halted' })
    await button(page, 'Pause halted').click()
    await said.getByText('3 ready and 1 scheduled job wait until you resume it.').waitFor()
    await rowOf(page, 'halted').getByText('paused').waitFor()
    await said.getByRole('button', { name: 'Undo' }).click()
    await said.getByText('Resumed halted').waitFor()
    await rowOf(page, 'halted').getByText('no workers').waitFor()
    expect(await paused()).toBe(false)

    // The second click of a double click does not resume the queue.
    await button(page, 'Pause halted').dblclick()
    await rowOf(page, 'halted').getByText('paused').waitFor()
    expect(await paused()).toBe(true)
    await button(page, 'Resume halted').click()
    await rowOf(page, 'halted').getByText('no workers').waitFor()
    await page.keyboard.press('z')
    await rowOf(page, 'halted').getByText('paused').waitFor()
    expect(await paused()).toBe(true)
    await at.expectAccessible(page)
    const { entries } = await at.mill.audit.list({ queue: 'halted' })
    expect(entries.map(({ who, what }) => `${who} ${what}`)).toEqual([
      'olga queues.pause',
      'olga queues.resume',
      'olga queues.pause',
      'olga queues.resume',
      'olga queues.pause',
    ])
    expect(await button(page, 'Edit halted').count()).toBe(0)

    await at.mill.resume('halted')
    await at.mill.changeQueue('halted', { coolFor: '1h' })
    const admin = await at.open('/queues')
    await rowOf(admin, 'halted').getByText('cooling down').waitFor()
    await button(admin, 'End cool-down of halted').click()
    await expect.poll(async () => (await queueOf(at, 'halted'))?.coolingMs).toBe(0)
  })

  test.nightly('shows its dead and running jobs on a phone without scrolling sideways', async () => {
    const [{ id } = { id: '' }] = await at.mill.enqueueMany('dies', [{ payload: null, queue: 'default' }])
    await expect.poll(async () => (await at.mill.get(id))?.state).toBe('dead')
    const page = await at.open('/queues', { width: 390 })
    const row = rowOf(page, 'default')
    for (const text of ['1 dead', '0 running', '0 ready']) {
      const { x = -1, width = 0 } = (await row.getByText(text, { exact: true }).boundingBox()) ?? {}
      expect([text, x >= 0, x + width <= 390]).toEqual([text, true, true])
    }
    expect((await button(page, 'Pause default').boundingBox())?.x).toBeLessThan(358)
    const sideways = await page
      .getByRole('table', { name: 'Queues' })
      .evaluate(({ parentElement: box }) => (box?.scrollWidth ?? 0) - (box?.clientWidth ?? 0))
    expect(sideways).toBe(0)
    await at.mill.delete(id)
  })

  test.nightly('loads the charts of an open queue while the queues load', async () => {
    const page = await at.open('/')
    const held = Promise.withResolvers<void>()
    await page.route('**/api/queues', async (route) => {
      await held.promise
      await route.continue()
    })
    const charts = page.waitForRequest((request) => /\/api\/charts\?.*queue=mail/.test(request.url()))
    await page.goto(`${at.url}/queues?open=mail`)
    await charts
    held.resolve()
    await page.getByRole('figure', { name: 'Queue latency, mail' }).waitFor()
  })

  test('changes settings, and shows problems at their fields', async () => {
    const page = await at.open('/queues')
    await button(page, 'Edit mail').click()
    const drawer = page.getByRole('dialog', { name: 'Edit mail' })
    const save = drawer.getByRole('button', { name: 'Save' })
    expect(await save.isDisabled()).toBe(true)
    await drawer.getByLabel('Workers').fill('7')
    await drawer.getByLabel('Limit').selectOption('smtp')
    await drawer.getByLabel('Initial backoff').fill('ten minutes')
    await drawer.getByText('Enter a duration such as 90s').waitFor()
    expect(await save.isDisabled()).toBe(true)
    await at.expectAccessible(page)
    await drawer.getByLabel('Initial backoff').fill('2h')
    await drawer.getByText('The initial backoff is longer than the maximum.').waitFor()
    await drawer.getByLabel('Initial backoff').fill('90s')
    await drawer.getByLabel('Retain done jobs').fill('forever')
    await drawer.getByLabel('Retain dead jobs').fill('30d')
    await drawer.getByLabel('Max dead jobs').fill('1000')
    await save.click()
    await page.getByText('Updated mail').waitFor()
    expect(await queueOf(at, 'mail')).toMatchObject({
      workers: 7,
      limit: 'smtp',
      backoffEnabled: true,
      backoffBaseMs: 90_000,
      backoffMaxMs: 1_800_000,
      retainDoneMs: null,
      retainDeadMs: 30 * 86_400_000,
      keepDead: 1_000,
    })

    await button(page, 'Edit mail').click()
    await drawer.getByText('Value in code: 2.').waitFor()
    await drawer.getByLabel('Workers').fill('')
    await drawer.getByLabel('Limit').selectOption('none')
    await drawer.getByLabel('Enable backoff').uncheck()
    await drawer.getByLabel('Max dead jobs').fill('')
    await save.click()
    await drawer.waitFor({ state: 'detached' })
    expect(await queueOf(at, 'mail')).toMatchObject({
      workers: null,
      limit: null,
      backoffEnabled: false,
      keepDead: null,
      retainDeadMs: 30 * 86_400_000,
    })
  })

  test.nightly('says why a queue runs more jobs than its workers', async () => {
    await at.mill.serve('over', { workers: 2 })
    const payloads = Array.from({ length: 2 }, () => ({ payload: null, queue: 'over' }))
    const held = await at.mill.enqueueMany('holds', payloads)
    await expect
      .poll(async () => (await at.mill.counts()).find(({ queue }) => queue === 'over')?.running)
      .toBe(2)
    await at.mill.changeQueue('over', { workers: 1 })
    const page = await at.open('/queues', { as: 'viewer' })
    await rowOf(page, 'over').getByText('2 running, limit 1: a process that lost its lease').waitFor()
    for (const { id } of held) await at.mill.cancel(id)
  })
})

/** Runs in the browser. */
function isInSight(row: Element): boolean {
  const { top, bottom } = row.getBoundingClientRect()
  return top >= 0 && bottom <= innerHeight
}
