/** The forecast of a backlog from its rates. */
import { describe, expect, test } from 'vitest'
import { forecastOf } from '../../src/runtime/report/forecast.ts'

describe('the forecast of a queue', () => {
  test.each([
    // ready, in/s, out/s
    [0, 0, 0, { trend: 'empty' }],
    // It keeps up: the jobs that come in are for later, or are taken at once.
    [0, 50, 10, { trend: 'empty' }],
    [720, 6, 10, { trend: 'drains', inMs: 180_000 }],
    [1, 0, 0.1, { trend: 'drains', inMs: 10_000 }],
    [10, 0, 3, { trend: 'drains', inMs: 4_000 }],
    [100, 14, 10, { trend: 'grows', perSecond: 4 }],
    [5, 2, 0, { trend: 'grows', perSecond: 2 }],
    // Nothing moves: a paused queue, or one without a worker.
    [100, 0, 0, { trend: 'steady' }],
    // Within 5% of each other.
    [100, 100, 96, { trend: 'steady' }],
    [100, 96, 100, { trend: 'steady' }],
    // Less than one job in ten minutes.
    [100, 0.001, 0, { trend: 'steady' }],
  ] as const)('%i ready, %d in and %d out per second', (ready, inPerSecond, outPerSecond, expected) => {
    const found = forecastOf({ ready, inPerSecond, outPerSecond })
    expect(found).toEqual(expected)
  })

  test('of rates that differ by more than noise always names a finite time or a rate', () => {
    for (const rate of [0.01, 1, 1_000])
      for (const ready of [1, 1_000_000]) {
        expect(forecastOf({ ready, inPerSecond: 0, outPerSecond: rate })).toEqual({
          trend: 'drains',
          inMs: Math.ceil(ready / rate) * 1_000,
        })
        expect(forecastOf({ ready, inPerSecond: rate, outPerSecond: 0 })).toEqual({
          trend: 'grows',
          perSecond: rate,
        })
      }
  })
})
