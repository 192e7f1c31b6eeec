/**
 * Runs a real mill on a new database, its API on a socket, and a page in a real browser. Tests verify the
 * effect of a click in `mill`. Suites alternate between the two stores, by name; the nightly run uses both.
 * The tests of a file share the mill, so each uses its own queues, kinds or ids.
 *
 *   mission('queues', (at, test) => {
 *     test('pauses', async () => {
 *       // Signed in as an admin. Options: { as: 'viewer' }, { width: 390 }, { colours: 'dark' }.
 *       const page = await at.open('/queues')
 *       await page.getByRole('button', { name: 'Pause mail' }).click()
 *       const mail = async () => (await at.mill.queues()).find(({ name }) => name === 'mail')
 *       await expect.poll(async () => (await mail())?.paused).toBe(true)
 *       await at.expectAccessible(page)
 *     })
 *   })
 *
 * After each test the page must be clean: no console errors, no violations of its headers, and no
 * uncaught errors.
 */
import { violations } from './axe.ts'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished } from 'vitest'
import { freshFile, freshSchema } from '../../../../test/support/databases.ts'
import { atFileEnd } from '../../../../test/support/suite/file-end.ts'
import { inFull } from '../../../../test/support/suite/in-full.ts'
import { inTurns, type Turns } from '../../../../test/support/suite/in-turns.ts'
import { type HttpApps, type Served, serve } from '../../../server/src/index.ts'
import { bulkJob, jobmill, type Mill, type FullStore, type MillOptions } from '../../../jobmill/src/index.ts'
import { postgres } from '../../../jobmill/src/postgres.ts'
import { type Platform, systemPlatform } from '../../../jobmill/src/store.ts'
import { sqlite } from '../../../jobmill/src/sqlite.ts'
import { hasChromium, launch } from './chromium.ts'
import { jobs } from './jobs.ts'

type Role = 'viewer' | 'operator' | 'admin'

const tokenOf = (role: Role): string => `${role}-token-0123456789`
const TOKENS = `vera viewer ${tokenOf('viewer')}\nolga operator ${tokenOf('operator')}\nadam admin ${tokenOf('admin')}`

interface OpenOptions {
  /** `nobody` has no token. */
  readonly as?: Role | 'nobody'
  readonly width?: number
  readonly colours?: 'light' | 'dark'
  /** The error of the device's clock. */
  readonly hoursAhead?: number
  /** The time of the page can be advanced by page.clock. */
  readonly hasClock?: boolean
  /** Part of a console message that is allowed, for a request that the test expects to be refused. */
  readonly mayComplain?: RegExp
}

export interface Mission {
  readonly mill: Mill<never>
  /** The store of the mill, to add other processes. */
  readonly store: FullStore<never>
  /** Without a trailing slash. */
  readonly url: string
  readonly open: (path: string, options?: OpenOptions) => Promise<Page>
  /**
   * Fails with every rule of WCAG A and AA, and of good practice, that the page breaks. A check keeps a core
   * busy for half a second, so `npm test` runs only the first one of each suite. The nightly run performs
   * all.
   */
  readonly expectAccessible: (page: Page) => Promise<void>
}

type StoreName = 'sqlite' | 'postgres'

const STORES: readonly [name: StoreName, store: (platform: Platform) => FullStore<never>][] = [
  ['sqlite', (platform) => sqlite(freshFile(), { platform })],
  [
    'postgres',
    (platform) => {
      const url = inject('postgresUrl')
      return postgres(url, { schema: freshSchema(url, 'page'), platform })
    },
  ],
]

interface MissionOptions {
  readonly basePath?: string
  readonly payloadLimitBytes?: number
  readonly instance?: NonNullable<MillOptions['instance']>
  /** The clocks and timers of the store. */
  readonly platform?: Platform
  /** Runs before the mill opens its store. */
  readonly prepare?: (store: FullStore<never>) => Promise<void>
  readonly queues?: NonNullable<MillOptions['queues']>
  readonly moreJobs?: MillOptions['jobs']
  /** Writes what the store holds before the mill starts. */
  readonly before?: (store: FullStore<never>) => Promise<void>
  /** Applications behind the same access control, created for each store. */
  readonly apps?: (on: StoreName) => Promise<{ readonly apps: HttpApps; readonly close: () => Promise<void> }>
}

/** Shared by all tests of a file: starting one takes a core for a second. */
let browser: Promise<Browser> | undefined

function theBrowser(): Promise<Browser> {
  atFileEnd(closeBrowser)
  browser ??= launch()
  return browser
}

async function closeBrowser(): Promise<void> {
  const open = browser
  browser = undefined
  await (await open)?.close()
}

export function mission(
  name: string,
  tests: (at: Mission, test: Turns) => void,
  options: MissionOptions = {},
): void {
  const { basePath = '', apps: makeApps, prepare, moreJobs = [], before, platform, ...limits } = options
  describe.skipIf(!hasChromium).each(storesFor(name))(`${name} on %s`, (on, store) => {
    let mill: Mill<never>
    let own: FullStore<never>
    let served: Served
    let made: Awaited<ReturnType<NonNullable<typeof makeApps>>> | undefined
    beforeAll(async () => {
      own = store(platform ?? systemPlatform)
      await prepare?.(own)
      if (before !== undefined) {
        await own.open()
        await before(own)
      }
      mill = jobmill({
        store: own,
        jobs: [...jobs, ...moreJobs, bulkJob(() => mill)],
        queues: { default: {}, mail: { workers: 2 }, slow: { workers: 1 } },
        limits: { smtp: { rate: 5, per: '1h' } },
        schedules: [{ name: 'nightly', job: 'echo', when: '0 3 * * *', payload: { who: 'ada' } }],
        log: 'silent',
        grace: 0,
        ...limits,
      })
      await mill.start()
      made = await makeApps?.(on)
      served = await serve(mill, {
        port: 0,
        tokens: TOKENS,
        requestsPerSecond: 100_000,
        basePath,
        ...(made !== undefined && { apps: made.apps }),
      })
      await theBrowser()
    })
    afterAll(async () => {
      await served?.close()
      await mill?.stop()
      await made?.close()
    })
    let isChecked = false
    const at: Mission = {
      get mill() {
        return mill
      },
      get store() {
        return own
      },
      get url() {
        return served.url
      },
      open: async (path, options = {}) => openPage(await theBrowser(), `${served.url}${path}`, options),
      async expectAccessible(page) {
        if (inFull(false, isChecked)) return
        isChecked = true
        expect(await violations(page)).toEqual([])
      },
    }
    tests(at, inTurns(on, [on]))
  })
}

/** Starting a mill and its pages on both stores for every suite takes longer than the tests. */
function storesFor(suite: string): typeof STORES {
  const turn = suite.length % STORES.length
  return inFull(STORES, STORES.slice(turn, turn + 1))
}

async function openPage(browser: Browser, url: string, options: OpenOptions): Promise<Page> {
  const { as = 'admin', width = 1_280, colours = 'light', mayComplain } = options
  const context: BrowserContext = await browser.newContext({
    viewport: { width, height: 900 },
    colorScheme: colours,
    reducedMotion: 'reduce',
  })
  if (as !== 'nobody')
    await context.addInitScript((token) => sessionStorage.setItem('jobmill.token', token), tokenOf(as))
  // Only what never appears takes this long.
  context.setDefaultTimeout(60_000)
  const page = await context.newPage()
  if (options.hasClock === true) await page.clock.install()
  if (options.hoursAhead !== undefined)
    await page.clock.install({ time: Date.now() + options.hoursAhead * 3_600_000 })
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error' && mayComplain?.test(message.text()) !== true)
      complaints.push(message.text())
  })
  onTestFinished(async () => {
    await context.close()
    expect(complaints).toEqual([])
  })
  await page.goto(url)
  await page.getByRole('heading', { level: 1 }).waitFor()
  // The browser may apply the color scheme after the page was drawn. A contrast check at that moment would
  // mix texts of one theme with backgrounds of the other.
  await page.locator(`html[data-theme=${colours}]`).waitFor({ state: 'attached' })
  return page
}
