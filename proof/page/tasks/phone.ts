/** Task 13: on a phone, the table of queues shows their dead and running jobs. */
import type { Locator } from 'playwright-core'
import type { PageElement } from '../elements.ts'
import { until } from '../until.ts'
import { rival, type Task } from './task.ts'

const WIDTH = 390

export const phone: Task = {
  id: '13',
  name: 'dead and running jobs of each queue, on a phone',
  rival: rival('Bull Board'),
  width: WIDTH,
  async perform({ scene, op: { page } }) {
    const table = page.getByRole('table', { name: 'Queues' })
    await table.waitFor()
    await until(
      'the table shows the dead and running jobs without scrolling sideways',
      async () => {
        const [rows, counts] = [await visibleRows(table), await scene.mill.counts()]
        return rows.flatMap((row) => {
          const { dead = 0, running = 0 } = counts.find(({ queue }) => row.startsWith(`${queue} `)) ?? {}
          return [`${dead.toLocaleString('en')} dead`, `${running.toLocaleString('en')} running`]
            .filter((text) => !text.startsWith('0 ') && !row.includes(text))
            .map((text) => `${row}: ${text}`)
        })
      },
      (wrong) => wrong.length === 0,
      10_000,
    )
  },
}

/** The texts of the rows, as far as they are within the width of the phone, each on one line. */
async function visibleRows(table: Locator): Promise<readonly string[]> {
  return table.locator('tbody tr').evaluateAll(
    (rows: readonly PageElement[], width) =>
      rows.map((row) => {
        const parts = [...row.querySelectorAll('a, span, p')].filter((part) => {
          const { left, right } = part.getBoundingClientRect()
          return left >= 0 && right > left && right <= width
        })
        return parts.map((part) => (part.textContent ?? '').trim()).join(' ')
      }),
    WIDTH,
  )
}
