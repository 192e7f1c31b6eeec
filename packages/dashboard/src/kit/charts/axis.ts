/** The value axis of a chart: ticks that are times, a logarithmic scale, and room for the longest label. */
import type uPlot from 'uplot'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Distances between two ticks in milliseconds: 1, 2, 5, 10, 15 and 30 of each unit. */
export const DURATION_STEPS: readonly number[] = [
  1,
  2,
  5,
  10,
  20,
  50,
  100,
  200,
  500,
  ...[1, 2, 5, 10, 15, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
  ...[1, 2, 5, 10, 20, 50, 100].map((n) => n * DAY),
]

/** The ticks of a logarithmic scale. */
const LOG_DURATIONS: readonly number[] = [
  0.1,
  1,
  10,
  100,
  SECOND,
  10 * SECOND,
  MINUTE,
  10 * MINUTE,
  HOUR,
  6 * HOUR,
  DAY,
  10 * DAY,
  100 * DAY,
]
const LOG_NUMBERS: readonly number[] = Array.from({ length: 16 }, (_, n) => 10 ** (n - 3))

export const logTicks = (isDuration: boolean): readonly number[] => (isDuration ? LOG_DURATIONS : LOG_NUMBERS)

/** From a tick below the lowest value to a tick above the highest one. */
export function logRange(ticks: readonly number[], least: number, most: number): [number, number] {
  const [first = 1] = ticks
  const last = ticks.at(-1) ?? 1
  const from = ticks.findLast((tick) => tick <= least) ?? first
  const to = ticks.find((tick) => tick >= most && tick > from) ?? Math.max(last, most)
  return [from, to]
}

/** How often the highest value exceeds the middle one when a linear scale hides the others. */
const SPIKE = 20

/** Whether a few values are so high that the rest looks flat. */
export function isSpiky(lists: readonly (readonly (number | null)[])[]): boolean {
  return lists.some((list) => {
    const values = list
      .flatMap((value) => (value === null || value <= 0 ? [] : [value]))
      .toSorted((a, b) => a - b)
    const middle = values[Math.floor(values.length / 2)] ?? 0
    return values.length > 2 && (values.at(-1) ?? 0) >= SPIKE * middle
  })
}

const GAP = 6

/** The width of the axis in CSS pixels: that of the longest label. */
export function axisWidth(labels: readonly string[], widthOf: (label: string) => number): number {
  return Math.ceil(Math.max(0, ...labels.map(widthOf))) + 2 * GAP
}

/** For `axis.size` of uPlot, which calls it until the size stays the same. */
export function labelSize(plot: uPlot, labels: readonly string[] | null, axis: number): number {
  const { font } = plot.axes[axis] ?? {}
  // uPlot keeps the font in device pixels, next to its name.
  plot.ctx.font = String(Array.isArray(font) ? font[0] : font)
  return axisWidth(labels ?? [], (label) => plot.ctx.measureText(label).width / devicePixelRatio)
}
