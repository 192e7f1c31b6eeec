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
  [55_000, 640],
  [70_000, 640],
])('N8 a commit after %d ms is noticed within %d ms', async (commitAt, most) => {
  const { lateMs, looks } = await latency(commitAt)
  expect(lateMs).toBeGreaterThanOrEqual(0)
  expect(lateMs).toBeLessThanOrEqual(most)
  expect(looks).toBeLessThan(180)
})

test('N8 a transaction whose status cannot be read is left to polling after a minute', async () => {
  const platform = fakePlatform()
  let looks = 0
  const watch = commitWatch({
    platform,
    connection: {
      query: async () => {
        looks += 1
        throw new Error('transaction ID is in the future')
      },
    },
    notify: () => expect.unreachable(),
  })
  watch.add('7', [{ queue: 'mail', jobs: 1 }])
  for (let [next] = platform.pending; next !== undefined; [next] = platform.pending) {
    platform.advance(next)
    for (let tick = 0; tick < 5; tick += 1) await Promise.resolve()
  }
  expect(platform.monotonic()).toBeGreaterThanOrEqual(60_000)
  expect(looks).toBeLessThan(180)
})

test('N8 a process that ends before the commit notifies, so that instances poll more often', () => {
  const notified: unknown[] = []
  const watch = commitWatch({
    platform: fakePlatform(),
    connection: { query: async () => [{ xid: '7', status: 'in progress' }] },
    notify: (notifications) => void notified.push(...notifications),
  })
  watch.add('7', [{ queue: 'mail', jobs: 1 }])
  watch.close()
  expect(notified).toEqual([{ queue: 'mail', jobs: 1 }])
})
