/** Task 6: does every queue keep up with its jobs? */
import { until } from '../until.ts'
import { navigation, rival, type Task } from './task.ts'

/** What the page says of a backlog, by its trend. */
const WORDS = { grows: 'grows', drains: 'drains in', steady: 'steady', empty: 'no backlog' } as const

export const capacity: Task = {
  id: '6',
  name: 'does every queue keep up',
  rival: rival('Bull Board (partly)', { clicks: 1 }),
  async perform({ scene, op }) {
    const { page } = op
    await op.click(navigation(page, 'Queues'))
    const rows = page.getByRole('table', { name: 'Capacity' }).locator('tbody tr')
    await rows.first().waitFor()
    await until(
      'the forecast of every queue',
      async () => {
        const expected = await scene.mill.capacity()
        const shown = await rows.allInnerTexts()
        return expected.flatMap(({ queue, forecast }) => {
          const row = shown.find((text) => text.startsWith(queue))
          return row?.includes(WORDS[forecast.trend]) === true
            ? []
            : [`${queue}: ${forecast.trend}, shown ${row}`]
        })
      },
      (wrong) => wrong.length === 0,
    )
  },
}
