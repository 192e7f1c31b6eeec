/** The value axis of charts: its ticks, its logarithmic scale and its width. */
import { describe, expect, test } from 'vitest'
import { axisWidth, DURATION_STEPS, isSpiky, logRange, logTicks } from '../../src/kit/charts/axis.ts'
import { span } from '../../src/kit/text/format.ts'

const widthOf = (label: string): number => label.length * 6

describe('the axis of a chart', () => {
  test('is as wide as its longest label', () => {
    expect(axisWidth(['0 ms', '12 min 30 s', '5 min'], widthOf)).toBeGreaterThanOrEqual(
      widthOf('12 min 30 s'),
    )
    expect(axisWidth([], widthOf)).toBeGreaterThan(0)
  })

  test('has ticks that are times', () => {
    expect(DURATION_STEPS.map(span)).toEqual(
      (
        '1 ms,2 ms,5 ms,10 ms,20 ms,50 ms,100 ms,200 ms,500 ms,1 s,2 s,5 s,10 s,15 s,30 s,' +
        '1 min,2 min,5 min,10 min,15 min,30 min,1 h,2 h,3 h,6 h,12 h,1 d,2 d,5 d,10 d,20 d,50 d,100 d'
      ).split(','),
    )
    expect(DURATION_STEPS).toEqual(DURATION_STEPS.toSorted((a, b) => a - b))
  })

  test('has a logarithmic scale from a tick below the values to a tick above them', () => {
    const durations = logTicks(true)
    expect(logRange(durations, 12, 480)).toEqual([10, 1_000])
    expect(logRange(durations, 90_000, 90_000)).toEqual([60_000, 600_000])
    expect(logRange(durations, 10, 10)).toEqual([10, 100])
    expect(logRange(logTicks(false), 3, 2_000)).toEqual([1, 10_000])
  })

  test('offers it when a few values hide the others', () => {
    expect(isSpiky([[10, 12, null, 9, 400]])).toBe(true)
    expect(isSpiky([[10, 12, 9, 40]])).toBe(false)
    expect(isSpiky([[null, 1, 900], []])).toBe(false)
    expect(isSpiky([[0, 0, 0, 5]])).toBe(false)
  })
})
