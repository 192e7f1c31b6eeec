/** The frame around every page: menu, keyboard shortcuts, theme, sign-in and access control. */
import { expect, onTestFinished } from 'vitest'
import { serve, type Authenticate } from '../../server/src/index.ts'
import { inFull } from '../../../test/support/suite/in-full.ts'
import { goByKeys } from './support/keys.ts'
import { mission } from './support/mission.ts'

const PAGES = ['Overview', 'Jobs', 'Errors', 'Queues', 'Kinds', 'Workers', 'Schedules', 'Limits', 'System']

const ada: Authenticate = () => ({ name: 'ada', role: 'viewer' })

mission('the frame', (at, test) => {
  test('links to every page by menu and shortcut, and shows the current one', async () => {
    const page = await at.open('/')
    // The tests of the other pages open them too.
    for (const name of inFull(PAGES, PAGES.slice(0, 3))) {
      await page.getByRole('navigation').getByRole('link', { name }).click()
      await page.getByRole('heading', { level: 1, name }).waitFor()
      await expect.poll(() => page.title()).toBe(`${name} · Jobmill`)
    }
    await goByKeys(page, 'q', 'Queues')
    // A job is opened with four keys.
    const { id } = await at.mill.enqueue('nobodys', 1, { queue: 'nowhere' })
    await goByKeys(page, 'j', 'Jobs')
    await page.getByRole('link', { name: 'nobodys', exact: true }).waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/jobs/${id}`)
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('Go to Jobs').waitFor()
    await at.expectAccessible(page)
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })

  test.nightly(
    'goes everywhere and acts from the palette, opens a pasted id, and a job with four keys',
    async () => {
      const { id } = await at.mill.enqueue('echo', 1, { queue: 'palette', delay: '1h' })
      const page = await at.open('/')
      const field = page.getByRole('combobox', { name: 'Search and commands' })
      const command = async (text: string, option: string): Promise<void> => {
        await page.keyboard.press('Control+k')
        await field.fill(text)
        await page.getByRole('option', { name: option, selected: true }).waitFor()
        await page.keyboard.press('Enter')
        await field.waitFor({ state: 'detached' })
      }
      const isPaused = async () => (await at.mill.queues()).find(({ name }) => name === 'mail')?.paused
      const queues = page.getByRole('navigation').getByRole('link', { name: 'Queues' })
      await queues.focus()
      await page.keyboard.press('Control+k')
      await page.getByRole('option', { name: 'Schedules' }).waitFor()
      await at.expectAccessible(page)
      await page.keyboard.press('Escape')
      await field.waitFor({ state: 'detached' })
      expect(await queues.evaluate((link) => link === document.activeElement)).toBe(true)
      await command('pause mail', 'Pause queue mail')
      await expect.poll(isPaused).toBe(true)
      await command('mail resume', 'Resume queue mail')
      await expect.poll(isPaused).toBe(false)
      await command('night', 'nightly')
      await page.getByRole('heading', { level: 1, name: 'nightly' }).waitFor()
      await command('queue:palette state:scheduled', 'Filter jobs')
      await page.waitForURL('**/jobs?queue=palette&state=scheduled')
      await command('enqueue mail.send', 'Enqueue mail.send')
      const drawer = page.getByRole('dialog', { name: 'Enqueue job' })
      await expect.poll(() => drawer.getByRole('combobox', { name: 'Kind' }).inputValue()).toBe('mail.send')
      await expect
        .poll(() => drawer.getByRole('textbox', { name: 'Payload' }).inputValue())
        .toContain('"subject"')
      // Its changes are not lost to the palette.
      await page.keyboard.press('Control+k')
      expect(await field.count()).toBe(0)
      await page.keyboard.press('Escape')

      await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
      await page.goto(at.url)
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
      await page.evaluate((text) => navigator.clipboard.writeText(text), `"${id.toUpperCase()}",`)
      await page.keyboard.press('Control+v')
      await page.waitForURL(`**/jobs/${id}`)
      await goByKeys(page, 'j', 'Jobs')
      await page.locator(`[data-job="${id}"]`).waitFor()
      await page.keyboard.press('j')
      await page.keyboard.press('Enter')
      await page.waitForURL(/\/jobs\/[\da-f-]{36}$/)

      const viewer = await at.open('/', { as: 'viewer' })
      await viewer.keyboard.press('Control+k')
      await viewer.getByRole('combobox', { name: 'Search and commands' }).fill('mail')
      await viewer.getByRole('option', { name: 'mail.send' }).waitFor()
      expect(await viewer.getByRole('option', { name: 'Action' }).count()).toBe(0)
    },
  )

  test.nightly('asks once which applications there are, however often it is refreshed', async () => {
    const page = await at.open('/queues')
    const asked = (path: string): Promise<number> =>
      page.evaluate(
        (end) => performance.getEntriesByType('resource').filter(({ name }) => name.endsWith(end)).length,
        path,
      )
    await expect.poll(() => asked('/api/apps')).toBe(1)
    const before = await asked('/api/overview')
    await page.keyboard.press('r')
    await expect.poll(() => asked('/api/overview')).toBeGreaterThan(before)
    expect(await asked('/api/apps')).toBe(1)
  })

  test.nightly('knows no page of an application that the server does not have', async () => {
    const page = await at.open('/jobs')
    await page.goto(`${at.url}/apps/uploads`)
    await page.getByText('Page not found').waitFor()
    expect(await page.getByRole('navigation').getByRole('link', { name: 'Uploads' }).count()).toBe(0)
  })

  test('asks for a token, refuses a wrong one, and lets nobody do more than their role', async () => {
    const page = await at.open('/', { as: 'nobody', mayComplain: /401/ })
    await at.expectAccessible(page)
    await page.getByLabel('Token').fill('wrong-token-0123456789')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('unknown token').waitFor()
    await page.getByLabel('Token').fill('viewer-token-0123456789')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('vera · viewer').waitFor()
    expect(await page.getByRole('button', { name: 'Enqueue' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Mission Control' }).waitFor()
  })

  test('N5 with sessions of the host application it asks for no token, and says when a session has ended', async () => {
    let authenticate = ada
    const served = await serve(at.mill, { port: 0, authenticate: (request) => authenticate(request) })
    onTestFinished(() => served.close())
    const page = await at.open('/', { as: 'nobody', mayComplain: /401/ })
    await page.goto(`${served.url}/queues`)
    await page.getByText('ada · viewer').waitFor()
    authenticate = () => null
    await page.keyboard.press('r')
    await page.getByRole('heading', { name: 'Signed out' }).waitFor()
    await at.expectAccessible(page)
    expect(await page.getByLabel('Token').count()).toBe(0)
    // The host application may also redirect a request of the dashboard to its own login.
    authenticate = ada
    await page.getByRole('button', { name: 'Reload' }).click()
    await page.getByText('ada · viewer').waitFor()
    authenticate = () => new Response('<h1>Login</h1>', { headers: { 'content-type': 'text/html' } })
    await page.keyboard.press('r')
    await page.getByRole('heading', { name: 'Signed out' }).waitFor()
  })

  test.nightly(
    'follows the theme of the system unless the user chose one, and remembers the choice',
    async () => {
      const page = await at.open('/queues', { colours: 'dark' })
      const theme = () => page.locator('html').getAttribute('data-theme')
      expect(await theme()).toBe('dark')
      await page.keyboard.press('t')
      await expect.poll(theme).toBe('light')
      await page.reload()
      await page.getByRole('heading', { level: 1 }).waitFor()
      await expect.poll(theme).toBe('light')
    },
  )

  test.nightly('has its menu on a phone, and no page that is wider than the phone', async () => {
    const page = await at.open('/', { width: 390 })
    for (const name of PAGES) {
      await page.getByRole('button', { name: 'Open menu' }).click()
      await page.getByRole('navigation').getByRole('link', { name }).click()
      await page.getByRole('heading', { level: 1, name }).waitFor()
      const width = () => page.evaluate(() => document.documentElement.scrollWidth)
      await expect
        .poll(async () => ({ name, isWider: (await width()) > 390 }))
        .toEqual({ name, isWider: false })
    }
  })

  test('updates live, and sends no requests while refreshing is off', async () => {
    const page = await at.open('/queues', { hasClock: true })
    await at.mill.enqueue('echo', 1, { queue: `new-${at.mill.storeName.split(' ')[0] ?? ''}`, delay: '1h' })
    await page
      .getByText(/new-(?:sqlite|postgres)/)
      .first()
      .waitFor()
    await page.getByRole('combobox', { name: /^Refresh/ }).selectOption('off')
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    // Requests sent before are reported a moment later.
    await page.clock.runFor(100)
    asked.splice(0)
    await page.clock.runFor(60_000)
    expect(asked).toEqual([])
  })
})

mission(
  'under a base path',
  (at, test) => {
    test('finds its files, its pages and the API there', async () => {
      const page = await at.open('/jobs')
      await page.getByRole('navigation').getByRole('link', { name: 'Queues' }).click()
      await page.getByRole('heading', { level: 1, name: 'Queues' }).waitFor()
      await expect.poll(() => page.url()).toBe(`${at.url}/queues`)
      expect(at.url).toMatch(/\/ops\/mill$/)
      await page.reload()
      await page.getByRole('heading', { level: 1, name: 'Queues' }).waitFor()
    })

    test.nightly('has empty states that say what to do', async () => {
      const page = await at.open('/errors')
      await page.getByText('No errors').waitFor()
      await page.getByRole('navigation').getByRole('link', { name: 'Jobs' }).click()
      await page
        .getByText(/no jobs/i)
        .first()
        .waitFor()
      await at.expectAccessible(page)
    })
  },
  { basePath: '/ops/mill' },
)

mission('error handling', (at, test) => {
  test('survives unknown addresses and an unreachable server', async () => {
    const page = await at.open('/?from=0&to=9007199254740991&range=__proto__', { mayComplain: /404/ })
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await page.goto(`${at.url}/nowhere`)
    await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor()
    await at.expectAccessible(page)
    const lost = await at.open('/queues', { mayComplain: /ERR_|Failed to load/ })
    await lost.route('**/api/**', (route) => route.abort())
    await lost.keyboard.press('r')
    await lost.getByText("Can't reach the server").waitFor()
    await lost.unroute('**/api/**')
    await lost.keyboard.press('r')
    await lost.getByText("Can't reach the server").waitFor({ state: 'detached' })
  })

  test.nightly('keeps unsaved changes until they are discarded, and restores the focus', async () => {
    const page = await at.open('/limits')
    await page.getByRole('button', { name: 'New limit' }).press('Enter')
    await page.getByLabel('Name').fill('half a name')
    await page.keyboard.press('Escape')
    await page.getByText('You have unsaved changes').waitFor()
    await page.getByRole('button', { name: 'Discard changes' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    const focused = () => page.evaluate(() => document.activeElement?.textContent ?? '')
    await expect.poll(focused).toContain('New limit')
    const { id } = await at.mill.enqueue('echo', 1, { delay: '1h' })
    await page.goto(`${at.url}/jobs/${id}`)
    await page.getByRole('button', { name: 'Delete' }).press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await expect.poll(focused).toBe('Delete')
  })

  test.nightly('uses the clock of the server when that of the device is wrong', async () => {
    const page = await at.open('/workers', { hoursAhead: 3 })
    await page.getByText('active').waitFor()
    await page.getByText(/heartbeat (?:now|\d+ s ago)/).waitFor()
  })
})
