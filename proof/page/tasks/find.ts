/** Task 5: find the jobs of a customer by a value in their payloads. */
import { CUSTOMER } from '../fill.ts'
import { until } from '../until.ts'
import { rival, type Task } from './task.ts'

/** One of the jobs is among the oldest, and no index leads to it. */
const WITHIN_MS = 900_000

export const findByPayload: Task = {
  id: '5',
  name: 'find jobs by a customer id in the payload',
  rival: rival('GoodJob', { queries: 1 }),
  async perform({ scene, op }) {
    const { page } = op
    const search = page.getByRole('banner').getByRole('button', { name: 'Search' })
    await op.query(search, `payload.customer.id:${CUSTOMER}`)
    await until(
      `the jobs of ${CUSTOMER} are listed`,
      () => idsIn(page),
      (ids) => ids.join() === scene.ofCustomer.toSorted().join(),
      WITHIN_MS,
    )
  },
}

async function idsIn(page: Parameters<Task['perform']>[0]['op']['page']): Promise<string[]> {
  const rows = await page.locator('[data-job]').all()
  const ids = await Promise.all(rows.map((row) => row.getAttribute('data-job', { timeout: 1_000 })))
  return ids.flatMap((id) => id ?? []).toSorted()
}
