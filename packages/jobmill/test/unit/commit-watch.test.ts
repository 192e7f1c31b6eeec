/** When a process asks whether a user's transaction has committed. */
import { expect, test } from 'vitest'
import { commitWatch } from '../../src/store-postgres/notifier/commit-watch.ts'
import { fakePlatform } from './support.ts'

/** How long after the commit the others are notified, and how often the status was read. */
async function latency(commitAt: number): Promise<{ readonly lateMs: number; readonly looks: number }> {
  const platform = fakePlatform()
  let notifiedAt: number | null = null
  let looks = 0
  const watch = commitWatch({
    platform,
    connection: {
      query: async () => {
        looks += 1
        return [{ xid: '7', status: platform.monotonic() >= commitAt ? 'committed' : 'in progress' }]
      },
    },
    notify: () => (notifiedAt = platform.monotonic()),
  })
  watch.add('7', [{ queue: 'mail', jobs: 1 }])
  for (let [next] = platform.pending; next !== undefined; [next] = platform.pending) {
    platform.advance(next)
    for (let tick = 0; tick < 5; tick += 1) await Promise.resolve()
  }
  return { lateMs: (notifiedAt ?? Infinity) - commitAt, looks }
}

test.each([
  [1, 15],
  [30, 20],
  [150, 100],
  [500, 100],
  [1_500, 100],
  [10_000, 500],
  [55_000, 2_750],
])('N8 a commit after %d ms is noticed within %d ms', async (commitAt, most) => {
  const { lateMs, looks } = await latency(commitAt)
  expect(lateMs).toBeGreaterThanOrEqual(0)
  expect(lateMs).toBeLessThanOrEqual(most)
  expect(looks).toBeLessThan(100)
})

test('N8 a transaction that stays open for over a minute is left to polling', async () => {
  const { lateMs, looks } = await latency(70_000)
  expect([lateMs, looks < 120]).toEqual([Infinity, true])
})
