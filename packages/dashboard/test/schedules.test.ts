/** The Schedules page: the list, one schedule, and the form. */
import { expect } from 'vitest'
import { mission } from './support/mission.ts'

mission('schedules', (at, test) => {
  test.nightly('are created, with a live description of the expression', async () => {
    const page = await at.open('/schedules', { mayComplain: /400/ })
    await page.getByRole('button', { name: 'New schedule' }).click()
    const drawer = page.getByRole('dialog', { name: 'New schedule' })
    const hasFocus = () => drawer.getByLabel('Name').evaluate((field) => field === document.activeElement)
    await expect.poll(hasFocus).toBe(true)
    await drawer.getByLabel('Name').fill('team report')
    await drawer.getByText('Use letters, digits and . _ : / -').waitFor()
    await drawer.getByLabel('Name').fill('team/report')
    await drawer.getByRole('combobox', { name: 'Job kind' }).fill('echo')
    await drawer.getByLabel('When').fill('61 * * * *')
    await drawer.getByText(/61/).first().waitFor()
    await drawer.getByLabel('When').fill('30 9 * * MON-FRI')
    await drawer.getByRole('combobox', { name: 'Time zone' }).fill('Nowhere')
    await drawer.getByText('Must be a time zone').waitFor()
    await drawer.getByRole('combobox', { name: 'Time zone' }).fill('paris')
    await drawer.getByRole('option', { name: 'Europe/Paris' }).click()
    await drawer.getByText('At 09:30 from Monday to Friday, Europe/Paris time').waitFor()
    await drawer.getByLabel('Payload').fill('{"who": "ada"}')
    await drawer.getByLabel('Jitter').fill('30s')
    await drawer.getByLabel('Missed runs').selectOption('Run all')
    await drawer.getByLabel('Catch-up window').fill('6h')
    await drawer.getByLabel('Overlap').selectOption('Skip run')
    await drawer.getByLabel('Tags').fill('x, y')
    await at.expectAccessible(page)
    await drawer.getByRole('button', { name: 'Create schedule' }).click()

    await page.getByRole('heading', { level: 1, name: 'team/report' }).waitFor()
    await expect.poll(() => page.url()).toBe(`${at.url}/schedules/team%2Freport`)
    expect(await at.mill.schedules.get('team/report')).toMatchObject({
      kind: 'echo',
      when: '30 9 * * MON-FRI',
      zone: 'Europe/Paris',
      payload: { who: 'ada' },
      jitterMs: 30_000,
      missed: 'all',
      missedWithinMs: 6 * 3_600_000,
      overlap: 'skip',
      tags: ['x', 'y'],
    })
    await page.getByText('No runs yet').waitFor()
    await at.expectAccessible(page)
  })

  test.nightly('are shown in UTC, and say so, if the browser does not know the zone', async () => {
    await at.mill.schedules.create({ name: 'far', job: 'echo', when: '30 9 * * *', zone: 'Asia/Tokyo' })
    const page = await at.open('/schedules')
    await page.addInitScript(() => {
      const Known = Intl.DateTimeFormat
      Intl.DateTimeFormat = new Proxy(Known, {
        construct(target, [locale, options]: [string, Intl.DateTimeFormatOptions]) {
          if (options?.timeZone === 'Asia/Tokyo') throw new RangeError('Invalid time zone')
          return new target(locale, options)
        },
      })
    })
    await page.goto(`${at.url}/schedules/far`)
    await page.getByText('Times in UTC: this browser does not know Asia/Tokyo').waitFor()
    await page
      .getByText(/00:30:00/)
      .first()
      .waitFor()
  })

  test.nightly('are changed and deleted', async () => {
    await at.mill.schedules.create({ name: 'a/b', job: 'echo', when: '@hourly', jitter: '30s', tags: ['x'] })
    const page = await at.open('/schedules/a%2Fb', { mayComplain: /40[04]/ })
    await page.getByRole('button', { name: 'Edit' }).click()
    const drawer = page.getByRole('dialog', { name: 'Edit a/b' })
    expect(await drawer.getByLabel('Jitter').inputValue()).toBe('30s')
    await drawer.getByLabel('When').fill('@daily')
    await drawer.getByLabel('Jitter').fill('')
    await drawer.getByLabel('Start').fill('2090-01-01T00:00:00')
    await drawer.getByText('None of the next ten runs is between').waitFor()
    await drawer.getByLabel('End').fill('2089-01-01T00:00:00')
    await drawer.getByText('The end is before the start').waitFor()
    await drawer.getByLabel('End').fill('')
    await drawer.getByLabel('Attempt timeout').fill('20000d')
    await drawer.getByRole('button', { name: 'Save changes' }).click()
    await drawer.getByText(/longer than ten years/).waitFor()
    await drawer.getByLabel('Attempt timeout').fill('5m')
    await drawer.getByRole('button', { name: 'Save changes' }).click()
    await drawer.waitFor({ state: 'detached' })
    expect(await at.mill.schedules.get('a/b')).toMatchObject({
      when: '@daily',
      jitterMs: 0,
      timeoutMs: 300_000,
      tags: ['x'],
    })

    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete schedule' }).click()
    await page.getByRole('heading', { level: 1, name: 'Schedules' }).waitFor()
    expect(await at.mill.schedules.get('a/b')).toBe(null)
    await page.goto(`${at.url}/schedules/a%2Fb`)
    await page.getByText('Schedule not found').waitFor()
  })

  test('are paused and run with one click each in the list, which Undo takes back in time', async () => {
    await at.mill.schedules.create({ name: 'payout', job: 'dies', when: '@yearly', payload: { who: 'ada' } })
    const paused = async () => (await at.mill.schedules.get('payout'))?.paused
    const page = await at.open('/', { as: 'operator' })
    await page.getByRole('navigation').getByRole('link', { name: 'Schedules' }).click()
    const row = page.getByRole('row', { name: /payout/ })
    await row.getByRole('button', { name: 'Pause payout' }).click()
    await page.getByText('It enqueues nothing until you resume it.').waitFor()
    expect(await paused()).toBe(true)
    await page.getByRole('button', { name: 'Undo' }).click()
    await row.getByRole('button', { name: 'Pause payout' }).waitFor()
    expect(await paused()).toBe(false)

    await row.getByRole('button', { name: 'Run now: payout' }).click()
    const said = page.getByRole('status').filter({ hasText: 'Enqueued a run of payout' })
    await said.getByText('Its dies job starts in 10 s.').waitFor()
    const { jobs } = await at.mill.list({ kind: 'dies' })
    expect(jobs).toMatchObject([{ state: 'scheduled' }])
    await said.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Cancelled dies').waitFor()
    const [{ id } = { id: '' }] = jobs
    expect(await at.mill.get(id)).toMatchObject({ state: 'cancelled', attempt: 0 })
    expect(page.url()).toBe(`${at.url}/schedules`)
    await at.expectAccessible(page)
    expect(await page.getByRole('button', { name: 'Edit payout' }).count()).toBe(0)
  })

  test.nightly('are paused and resumed on their page, and show configuration drift', async () => {
    const page = await at.open('/schedules', { as: 'operator' })
    const row = page.getByRole('row', { name: /nightly/ })
    await row.getByText('At 03:00').waitFor()
    await at.expectAccessible(page)
    await row.getByRole('button', { name: 'Pause nightly' }).click()
    await row.getByText('Differs from code: paused').waitFor()
    await row.getByRole('link', { name: 'nightly' }).click()
    await page.getByRole('table', { name: 'Overrides' }).getByText('paused').waitFor()
    await page.getByText('Paused. Next runs once resumed:').waitFor()
    expect(await page.getByRole('button', { name: /Edit|Delete/ }).count()).toBe(0)
    await page.getByRole('button', { name: 'Resume' }).click()
    await expect.poll(async () => (await at.mill.schedules.get('nightly'))?.paused).toBe(false)
  })

  test.nightly('show how their runs ended', async () => {
    await at.mill.schedules.create({
      name: 'payroll',
      job: 'dies',
      when: 'every 1s',
      payload: { who: 'ada' },
    })
    const page = await at.open('/schedules/payroll', { as: 'operator' })
    await page.getByText(/^No success in the last \d+ runs?, \d+ dead runs?$/).waitFor()
    await page.getByRole('img', { name: /^Latest runs, oldest first: .*dead/ }).waitFor()
    await at.mill.schedules.pause('payroll')
    await page.getByRole('table', { name: 'Run history' }).getByText('dead').first().waitFor()
    await at.expectAccessible(page)
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Schedules' }).click()
    const row = page.getByRole('row', { name: /^payroll/ })
    await row.getByRole('img', { name: /^Latest runs, oldest first: .*dead/ }).waitFor()
    await at.expectAccessible(page)
  })

  test.nightly(
    'N1 one of code that was deleted is listed as an override, and a reset there or on its own page brings it back',
    async () => {
      const page = await at.open('/schedules/nightly', { mayComplain: /404/ })
      await page.getByRole('button', { name: 'Delete' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByText('It is also defined in code.').waitFor()
      await dialog.getByRole('button', { name: 'Delete schedule' }).click()
      await page.getByRole('heading', { level: 1, name: 'Schedules' }).waitFor()
      expect(await at.mill.schedules.get('nightly')).toBe(null)

      await page.goto(`${at.url}/system`)
      await page.getByRole('row', { name: /^schedule nightly deleted yes no adam/ }).waitFor()
      await at.expectAccessible(page)
      await page.getByRole('button', { name: 'Reset deleted of nightly' }).click()
      await page.getByText('None: settings match the code.').waitFor()
      expect(await at.mill.schedules.get('nightly')).toMatchObject({ kind: 'echo', differs: [] })

      await at.mill.schedules.delete('nightly', { by: 'ops' })
      await page.getByRole('row', { name: /^schedule nightly deleted yes no ops/ }).waitFor()
      await page.getByRole('link', { name: 'nightly' }).click()
      await page.getByText('An operator deleted this schedule').waitFor()
      await at.expectAccessible(page)
      await page.getByRole('button', { name: 'Reset deleted of nightly' }).click()
      await page.getByRole('button', { name: 'Run now' }).waitFor()
      expect(await at.mill.overrides()).toEqual([])
    },
  )

  test.nightly('show their run history with delay and job, also on a phone and to viewers', async () => {
    await at.mill.schedules.create({ name: 'often', job: 'echo', when: 'every 1s' })
    const page = await at.open('/schedules/often', { as: 'viewer', width: 390 })
    const runs = page.getByRole('table', { name: 'Run history' }).getByRole('row')
    await runs.nth(1).getByText('done').waitFor()
    await page.getByText(/^Last success/).waitFor()
    await at.mill.schedules.pause('often')
    const [tick] = await at.mill.schedules.history('often', 1)
    // Not necessarily the first: a run that was in flight may follow it.
    const job = runs.getByRole('link', { name: tick?.job.slice(-8) ?? 'none' })
    expect(await job.getAttribute('href')).toBe(`/jobs/${tick?.job}`)
    expect(await page.getByRole('button', { name: /Pause|Resume|Run now/ }).count()).toBe(0)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
    await at.expectAccessible(page)
  })
})
