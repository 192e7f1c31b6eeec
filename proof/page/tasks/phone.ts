/** Task 13: on a phone, the table of queues shows which of them have dead or running jobs. */
import type { Locator } from 'playwright-core'
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
        const counts = await scene.mill.counts()
        const rows = await table.locator('tbody tr').all()
        const wrong: string[] = []
        for (const row of rows) {
          const visible = await visibleTextOf(row)
          const { dead = 0, running = 0 } = counts.find(({ queue }) => visible.startsWith(queue)) ?? {}
          for (const [count, word] of [
            [dead, 'dead'],
            [running, 'running'],
          ] as const)
            if (count > 0 && !visible.includes(`${count.toLocaleString('en')} ${word}`))
              wrong.push(`${visible}: ${count} ${word}`)
        }
        return wrong
      },
      (wrong) => wrong.length === 0,
      10_000,
    )
  },
}

/** The text of a row within the width of the phone, on one line. */
async function visibleTextOf(row: Locator): Promise<string> {
  const parts = await row.locator('a, span, p').all()
  const texts: string[] = []
  for (const part of parts) {
    const box = await part.boundingBox()
    if (box !== null && box.x >= 0 && box.x + box.width <= WIDTH) texts.push(await part.innerText())
  }
  return texts.join(' ').replaceAll(/\s+/g, ' ')
}
