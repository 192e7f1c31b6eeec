/** The Workers and System pages: processes, health, audit log and events. */
import { expect } from 'vitest'
import { mission } from './support/mission.ts'

mission('workers and the system', (at, test) => {
  test.nightly('shows processes with their running jobs, and jobs without a worker', async () => {
    const { id } = await at.mill.enqueue('holds', null)
    await at.mill.enqueue('nobodys', null, { queue: 'mail' })
    await expect.poll(async () => (await at.mill.get(id))?.state).toBe('running')
    const page = await at.open('/workers', { as: 'viewer' })
    const nobody = page.getByRole('table', { name: 'Jobs without a worker' })
    await nobody.getByRole('row', { name: /mail nobodys 1 Start a process/ }).waitFor()
    const running = page.getByRole('region', { name: /^Running on/ })
    await running.getByText('holds in slow').waitFor()
    await page.getByText('active').waitFor()
    await page.getByRole('meter', { name: /^Workers of/ }).waitFor()
    await expect.poll(() => page.getByRole('meter').getAttribute('aria-valuenow')).toBe('1')
    await page.getByRole('link', { name: 'rebalance' }).waitFor()
    await at.expectAccessible(page)
    await running.getByRole('link').click()
    await page.waitForURL(`**/jobs/${id}`)
    await at.mill.cancel(id)
  })

  test.nightly('shows system health, and runs a duty', async () => {
    await at.mill.changeQueue('slow', { workers: 4 }, { by: 'ci' })
    await at.mill.enqueue('strange', null, { queue: 'mail' })
    const page = await at.open('/system')
    const overrides = page.getByRole('table', { name: 'Overrides' })
    await overrides.getByRole('row', { name: 'queue slow workers 4 1 ci' }).waitFor()
    await page
      .getByRole('list', { name: 'Diagnostics' })
      .getByText('of kind "strange" in queue "mail" has no worker')
      .waitFor()
    const ways = page.getByRole('list', { name: 'Diagnostics' }).getByRole('link', { name: 'View workers' })
    expect(await ways.first().getAttribute('href')).toBe('/workers')
    await page.getByRole('table', { name: 'Database latency' }).getByText('read').waitFor()
    await page.getByRole('table', { name: 'Tables' }).waitFor()
    await page.getByText('applied').first().waitFor()
    await at.expectAccessible(page)
    await page.getByRole('button', { name: 'Run now: retain' }).click()
    await page.getByText(/^Ran retain: /).waitFor()
    const { entries } = await at.mill.audit.list({ limit: 1 })
    expect(entries).toMatchObject([{ what: 'duties.run', target: 'retain', who: 'adam' }])
  })

  test('N1 lists overrides of queues, limits and schedules with who and when, and resets one or all', async () => {
    await at.mill.changeQueue('slow', { workers: 4, retain: { done: '1d' } }, { by: 'ci' })
    await at.mill.limits.change('smtp', { per: '2h' }, { by: 'ana' })
    await at.mill.schedules.change('nightly', { priority: 5 }, { by: 'ana' })
    const viewer = await at.open('/system', { as: 'viewer' })
    await viewer.getByRole('row', { name: /queue slow retain.done 1d 7d \(default\) ci/ }).waitFor()
    expect(await viewer.getByRole('button', { name: /Reset/ }).count()).toBe(0)
    await viewer.close()
    const page = await at.open('/system')
    await page.getByRole('row', { name: /limit smtp per 2h 1h ana/ }).waitFor()
    await page.getByRole('row', { name: /schedule nightly priority 5 0 ana/ }).waitFor()
    await at.expectAccessible(page)
    await page.getByRole('button', { name: 'Reset workers of slow' }).click()
    await page.getByText('Reset workers of slow', { exact: true }).waitFor()
    const { entries } = await at.mill.audit.list({ limit: 1 })
    expect(entries).toMatchObject([{ what: 'overrides.reset-option', target: 'slow', who: 'adam' }])

    await page.goto(`${at.url}/queues#slow`)
    await page.getByRole('row', { name: /slow/ }).getByText('1 override').waitFor()
    await page.getByRole('button', { name: 'slow' }).first().click()
    await page.getByText(/Overridden by ci .* Default: 7d\./).waitFor()
    await page.getByRole('button', { name: 'Reset retain.done of slow' }).click()
    await page.getByRole('table', { name: 'Overrides' }).waitFor({ state: 'detached' })
    await page.goto(`${at.url}/limits?open=smtp`)
    await page.getByRole('button', { name: 'Reset per of smtp' }).waitFor()
    await page.goto(`${at.url}/schedules/nightly`)
    await page.getByRole('button', { name: 'Reset priority of nightly' }).waitFor()
    await page.goto(`${at.url}/system`)
    await page.getByRole('button', { name: 'Reset all' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Reset overrides' }).click()
    await page.getByText('None: settings match the code.').waitFor()
    expect(await at.mill.overrides()).toEqual([])
    await page.close()
  })

  test('a finding starts an alert rule for problems like it', async () => {
    await at.mill.enqueue('echo', 1, { queue: 'reports' })
    await at.mill.pause('reports')
    await at.mill.enqueue('echo', 1, { queue: 'reports' })
    const page = await at.open('/system')
    const finding = page
      .getByRole('list', { name: 'Diagnostics' })
      .getByRole('listitem')
      .filter({ hasText: 'Queue "reports" is paused' })
    await finding.getByRole('link', { name: 'New alert rule' }).click()
    const drawer = page.getByRole('dialog')
    expect(await drawer.getByLabel('Name').inputValue()).toBe('paused-reports')
    await drawer.getByLabel('Webhook URL').fill('http://127.0.0.1:1/')
    await drawer.getByRole('button', { name: 'Generate' }).click()
    await drawer.getByRole('button', { name: 'Create rule' }).click()
    await page.getByRole('row', { name: /^paused-reports / }).waitFor()
    await drawer.waitFor({ state: 'detached' })
    expect(new URL(page.url()).search).toBe('?tab=alerts')
    expect(await at.mill.alerts.list()).toMatchObject([
      { name: 'paused-reports', checks: ['paused'], queue: 'reports', kind: null },
    ])
    await at.mill.alerts.delete('paused-reports')
    await at.mill.resume('reports')
  })

  test('creates an alert rule, sends a test, pauses and edits it, and viewers see no secret', async () => {
    const page = await at.open('/system?tab=alerts', { mayComplain: /409/ })
    await page.getByText('No alert rules').waitFor()
    await page.getByRole('button', { name: 'New rule' }).click()
    const drawer = page.getByRole('dialog')
    await drawer.getByLabel('Name').fill('ops')
    await drawer.getByLabel('Webhook URL').fill('http://127.0.0.1:1/path-secret')
    await drawer.getByRole('button', { name: 'Generate' }).click()
    const secret = await drawer.getByLabel('Secret').inputValue()
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    await drawer.getByRole('checkbox', { name: 'queue latency' }).uncheck()
    await at.expectAccessible(page)
    await drawer.getByRole('button', { name: 'Create rule' }).click()
    const row = page.getByRole('row', { name: /^ops / })
    await row.getByText('failing kinds, dead jobs, no workers').waitFor()
    expect(await at.mill.alerts.list()).toMatchObject([
      { name: 'ops', checks: ['failing', 'dead', 'served'], secretHints: [`whsec_…${secret.slice(-4)}`] },
    ])

    const choose = async (action: string): Promise<void> => {
      await page.getByRole('button', { name: 'Actions for ops' }).click()
      await page.getByRole('menuitem', { name: action }).click()
    }
    await choose('Send test')
    await page.getByText('Test of ops queued').waitFor()
    const { jobs } = await at.mill.list({ kind: 'jobmill.alert' }, { include: ['payload'] })
    expect(jobs.map(({ payload }) => payload)).toContainEqual(
      expect.objectContaining({
        rule: 'ops',
        body: expect.objectContaining({ type: 'jobmill.test' }) as object,
      }),
    )
    await page.getByRole('button', { name: 'Pause ops' }).click()
    await row.getByText('paused').waitFor()
    await choose('Edit')
    await drawer.getByRole('combobox', { name: 'Queue' }).fill('mail')
    await drawer.getByRole('button', { name: 'Save changes' }).click()
    // These checks are about kinds, so they would never find anything.
    await drawer.getByText(/does not apply to a queue \(got "failing"\)/).waitFor()
    await drawer.getByRole('checkbox', { name: 'failing kinds' }).uncheck()
    await drawer.getByRole('checkbox', { name: 'no workers' }).uncheck()
    await drawer.getByLabel('Cool-down').fill('4h')
    await drawer.getByRole('button', { name: 'Save changes' }).click()
    await row.getByText('queue mail').waitFor()
    expect(await at.mill.alerts.list()).toMatchObject([
      { checks: ['dead'], queue: 'mail', coolDownMs: 14_400_000 },
    ])
    await row.getByRole('button', { name: 'ops', exact: true }).click()
    await page.getByText(/^Sent immediately, with a message when it is over/).waitFor()

    const viewer = await at.open('/system?tab=alerts', { as: 'viewer' })
    await viewer.getByRole('row', { name: /^ops / }).getByText('http://127.0.0.1:1/…').waitFor()
    expect(await viewer.getByRole('button', { name: 'New rule' }).count()).toBe(0)
    expect(await viewer.content()).not.toContain('path-secret')
    await viewer.close()

    await choose('Delete')
    await drawer.getByRole('button', { name: 'Delete rule' }).click()
    await page.getByText('No alert rules').waitFor()
    expect(await at.mill.alerts.list()).toEqual([])
    const { entries } = await at.mill.audit.list({ limit: 1 })
    expect(entries).toMatchObject([{ what: 'alerts.delete', target: 'ops', who: 'adam' }])
    await at.mill.bulk.run('cancel', { kind: 'jobmill.alert' })
    await page.close()
  })

  test.nightly('shows the audit log and lifecycle events', async () => {
    await at.mill.audit.write({
      who: 'olga',
      role: 'operator',
      what: 'queues.pause',
      target: 'mail',
      queue: 'mail',
      before: { paused: false },
      after: { paused: true },
    })
    const page = await at.open('/system?tab=audit', { as: 'operator' })
    const audit = page.getByRole('table', { name: 'Audit log' })
    await page.getByLabel('Queue').selectOption('mail')
    await page.getByLabel('User').fill('olga')
    await audit.getByRole('button', { name: 'queues.pause' }).click()
    await audit.getByText('"paused"').nth(1).waitFor()
    await at.expectAccessible(page)
    await page.getByLabel('Action').fill('jobs.delete')
    await page.getByText('on this page match').waitFor()
    await expect
      .poll(() => new URL(page.url()).search)
      .toBe('?tab=audit&queue=mail&who=olga&what=jobs.delete')

    await page.getByRole('tab', { name: 'Events' }).click()
    await page.getByLabel('Type').selectOption('mill-started')
    await page
      .getByRole('table', { name: 'Events' })
      .getByText(/^Process started with/)
      .waitFor()
    await at.expectAccessible(page)
    const viewed = await at.open('/system', { as: 'viewer' })
    await viewed.getByRole('tab', { name: 'Events' }).waitFor()
    expect(await viewed.getByRole('tab', { name: 'Audit' }).count()).toBe(0)
    expect(await viewed.getByRole('button', { name: /^Run/ }).count()).toBe(0)
  })
})
