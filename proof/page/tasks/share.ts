/** Task 10: a colleague who gets the address sees the same. */
import type { Page } from 'playwright-core'
import type { PageElement } from '../elements.ts'
import type { Operator } from '../operator.ts'
import { until } from '../until.ts'
import { navigation, rival, rowOf, type Task } from './task.ts'

interface View {
  readonly name: string
  /** Leads from the overview to the view. */
  readonly reach: (op: Operator) => Promise<void>
  /** What the view shows, without the parts that change with time. */
  readonly seen: (page: Page) => Promise<unknown>
}

const jobIds = (rows: readonly PageElement[]) => rows.map((row) => row.getAttribute('data-job'))

const VIEWS: readonly View[] = [
  {
    name: 'a filtered list of jobs',
    async reach(op) {
      const search = op.page.getByRole('banner').getByRole('button', { name: 'Search' })
      await op.query(search, 'queue:webhooks state:dead error:503')
    },
    seen: (page) => page.locator('[data-job]').evaluateAll(jobIds),
  },
  {
    name: 'an open group of errors',
    async reach(op) {
      await op.click(navigation(op.page, 'Errors'))
      await op.click(op.page.getByRole('button', { name: /webhook\.deliver in webhooks/ }))
    },
    seen: (page) => page.getByRole('button', { expanded: true }).allInnerTexts(),
  },
  {
    name: 'an open queue',
    async reach(op) {
      await op.click(navigation(op.page, 'Queues'))
      await op.click(rowOf(op.page, 'Queues', 'media').getByRole('button', { name: 'media', exact: true }))
    },
    seen: (page) => page.getByRole('button', { expanded: true }).allInnerTexts(),
  },
]

export const share: Task = {
  id: '10',
  name: 'share the view',
  rival: rival('Trigger.dev'),
  async perform({ scene, op, visit }) {
    for (const { name, reach, seen } of VIEWS) {
      await reach(op)
      op.startHere()
      const mine = await until(
        name,
        () => seen(op.page),
        (found) => Array.isArray(found) && found.length > 0,
      )
      const theirs = await visit(op.page.url().slice(scene.url.length))
      await until(
        `the colleague sees ${name}: ${JSON.stringify(mine)}`,
        () => seen(theirs),
        (found) => JSON.stringify(found) === JSON.stringify(mine),
      )
    }
  },
}
