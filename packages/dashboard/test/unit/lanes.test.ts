/** Swim lanes: how runs are placed in tracks, and what the arrow keys do. */
import { expect, test } from 'vitest'
import type { RecentRun } from '../../src/api/types.ts'
import { lanesOf, MOST_TRACKS, nextRun, peakOf, tracksOf } from '../../src/pages/workers/lanes/lane.ts'

const run = (instance: string, startedAt: number, endedAt: number | null, outcome: RecentRun['outcome']) => ({
  job: `${startedAt}`,
  kind: 'a',
  queue: 'q',
  instance,
  attempt: 1,
  startedAt,
  endedAt,
  outcome,
})

test('runs at the same time have tracks of their own, and a track is used again', () => {
  const spans = [
    { startedAt: 0, endedAt: 10 },
    { startedAt: 5, endedAt: 20 },
    { startedAt: 10, endedAt: 12 },
    { startedAt: 12, endedAt: null },
    { startedAt: 25, endedAt: 30 },
  ]
  expect(tracksOf(spans, 100)).toEqual([0, 1, 0, 0, 1])
  const many = Array.from({ length: 40 }, () => ({ startedAt: 0, endedAt: 10 }))
  expect(Math.max(...tracksOf(many, 10))).toBe(MOST_TRACKS - 1)
  // The tracks are limited. The number that is shown is not.
  expect([peakOf(many, 10), peakOf(spans, 100), peakOf([], 10)]).toEqual([40, 2, 0])
  expect(peakOf([{ startedAt: 5, endedAt: 5 }], 10)).toBe(1)
})

test('each process has a lane with its failures', () => {
  const lanes = lanesOf(
    [
      run('a', 0, 9, 'returned'),
      run('b', 1, 2, 'failed'),
      run('a', 2, null, null),
      run('a', 3, 4, 'timed-out'),
    ],
    10,
  )
  expect(lanes.map(({ instance, runs, height, failed }) => [instance, runs.length, height, failed])).toEqual([
    ['a', 3, 3, 1],
    ['b', 1, 1, 1],
  ])
})

test('arrow keys move between runs and stop at the ends', () => {
  expect([nextRun(3, 'ArrowLeft', 5), nextRun(3, 'ArrowRight', 5), nextRun(4, 'ArrowRight', 5)]).toEqual([
    2, 4, 4,
  ])
  expect([nextRun(3, 'Home', 5), nextRun(3, 'End', 5), nextRun(0, 'ArrowLeft', 5)]).toEqual([0, 4, 0])
  expect(nextRun(3, 'a', 5)).toBeUndefined()
})
