/** Actions of an operator on a mill with very many jobs, each timed until its result is usable. */
import type { Locator, Page } from 'playwright-core'
import { charge, LIMIT } from './scene/kinds.ts'
import { SCHEDULE } from './scene/scene.ts'

interface Usable {
  /** The time of the click, if the action is not opening a page. */
  readonly from?: number
  readonly at: number
}

interface Look {
  readonly name: string
  readonly look: (page: Page, url: string, now: () => number) => Promise<Usable>
}

/** Opens a page and waits for its content. */
function opening(name: string, path: string, wanted: (page: Page) => Locator): Look {
  return {
    name,
    async look(page, url, now) {
      await page.goto(`${url}${path}`, { waitUntil: 'commit' })
      await wanted(page).first().waitFor()
      return { at: now() }
    },
  }
}

/** Opens a page, then times an action on it. */
function doing(
  name: string,
  path: string,
  act: (page: Page) => Promise<void>,
  wanted: (page: Page) => Locator,
): Look {
  return {
    name,
    async look(page, url, now) {
      await page.goto(`${url}${path}`)
      await page.locator('[data-job]').first().waitFor()
      const from = now()
      await act(page)
      await wanted(page).first().waitFor()
      return { from, at: now() }
    },
  }
}

const rows = (page: Page): Locator => page.locator('[data-job]')
const main = (page: Page, text: string | RegExp): Locator => page.getByRole('main').getByText(text)

export const LOOKS: readonly Look[] = [
  opening('overview', '/', (page) => main(page, 'wait-5')),
  opening('jobs, all', '/jobs', rows),
  ...['scheduled', 'ready', 'done', 'dead'].map((state) =>
    opening(`jobs, ${state}`, `/jobs?state=${state}`, rows),
  ),
  opening('jobs of a queue and a kind', '/jobs?queue=wait-7&kind=kind.7', rows),
  opening('jobs with a tag', '/jobs?tag=vip', rows),
  opening('jobs by error text', '/jobs?state=dead&errorText=did%20not%20know', rows),
  opening('jobs by a value in the payload', '/jobs?payloadAt=user.id:42', rows),
  doing(
    'the next page',
    '/jobs?state=ready',
    (page) => page.getByRole('button', { name: /next/i }).click(),
    (page) => page.getByText(/page 2/i),
  ),
  {
    name: 'one job',
    async look(page, url, now) {
      await page.goto(`${url}/jobs?state=dead`)
      await rows(page).first().waitFor()
      const from = now()
      await rows(page).first().getByRole('link').first().click()
      await page.getByText('Why it failed').waitFor()
      return { from, at: now() }
    },
  },
  opening('errors', '/errors', (page) => main(page, /the partner/)),
  opening('queues', '/queues', (page) => main(page, 'wait-5')),
  opening('one queue', '/queues?open=payments', (page) => page.locator('canvas')),
  opening('kinds', '/kinds', (page) => main(page, charge.kind)),
  opening('one kind', `/kinds/${charge.kind}`, (page) => page.locator('canvas')),
  opening('workers', '/workers', (page) => main(page, 'shop-2.15.0-a')),
  opening('schedules', '/schedules', (page) => main(page, SCHEDULE)),
  opening('one schedule', `/schedules/${SCHEDULE}`, (page) => main(page, 'At 03:00')),
  opening('limits', '/limits', (page) => main(page, LIMIT)),
  opening('system', '/system', (page) => main(page, /SQLite|PostgreSQL/)),
]
