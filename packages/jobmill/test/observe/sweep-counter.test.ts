// Rows that retention deleted, by type.
import { expect, test } from 'vitest'
import { sweepCounter } from '../../src/observe/observer.ts'

test('S low deleted jobs are counted by their state, and not again as a sum', () => {
  const { count, totals } = sweepCounter()
  const counts = { jobs: 6, done: 3, dead: 2, cancelled: 1, keys: 4 }
  for (let pass = 0; pass < 2; pass += 1) count('duty-done', { duty: 'retain', counts, tookMs: 1 })
  count('duty-done', { duty: 'reap', counts: { jobs: 1 }, tookMs: 1 })
  expect(Object.fromEntries(totals)).toEqual({ done: 6, dead: 4, cancelled: 2, keys: 8 })
})
