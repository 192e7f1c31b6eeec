/**
 * Line and stacked area charts over time. All charts on a page share one crosshair, and dragging on a chart
 * zooms. The legend shows the values under the crosshair as text.
 */
import { useEffect, useRef, useState } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { useTheme } from '../../shell/theme.ts'
import { moment } from '../text/format.ts'
import { DeployMarks } from './deploy-marks.tsx'

export interface Line {
  readonly name: string
  /** The name of a theme color: `done`, `dead`, `accent`. */
  readonly colour: string
  readonly values: readonly (number | null)[]
}

interface Props {
  /** The accessible name of the chart. */
  readonly label: string
  /** Milliseconds since 1970, ascending. */
  readonly times: readonly number[]
  readonly lines: readonly Line[]
  readonly format: (value: number) => string
  readonly isStacked?: boolean
  readonly zoom?: ((from: number, to: number) => void) | undefined
  readonly height?: number
}

export function Chart({ label, times, lines, format, isStacked = false, zoom, height = 180 }: Props) {
  const place = useRef<HTMLDivElement>(null)
  const [at, setAt] = useState<number | null>(null)
  const [over, setOver] = useState<HTMLElement | null>(null)
  const theme = useTheme()
  const latest = useRef({ format, zoom })
  useEffect(() => {
    latest.current = { format, zoom }
  })
  const shape = lines.map(({ name, colour }) => `${name} ${colour}`).join('|')
  const plot = useRef<uPlot | null>(null)

  useEffect(() => {
    const holder = place.current
    if (holder === null) return undefined
    const made = new uPlot(
      optionsOf({ holder, height, lines, isStacked, setAt, current: () => latest.current }),
      dataOf(times, lines, isStacked),
      holder,
    )
    plot.current = made
    setOver(made.over)
    const resized = new ResizeObserver(() =>
      made.setSize({ width: Math.max(holder.clientWidth, 100), height }),
    )
    resized.observe(holder)
    return () => {
      resized.disconnect()
      made.destroy()
      plot.current = null
    }
    // Data changes often and is set below; only a change of appearance creates the chart again.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [shape, isStacked, height, theme])

  useEffect(() => plot.current?.setData(dataOf(times, lines, isStacked)), [times, lines, isStacked])

  const shown = at ?? times.length - 1
  const time = times[shown]
  return (
    <figure aria-label={label} className="min-w-0">
      <div ref={place} aria-hidden className="w-full" style={{ height }} />
      <DeployMarks over={over} times={times} />
      <figcaption className="mt-1 flex flex-wrap gap-x-4 gap-y-0.5 text-xs text-soft">
        {lines.map(({ name, colour, values }) => {
          const value = values[shown] ?? null
          return (
            <span key={name} className="inline-flex max-w-full items-center gap-1.5 whitespace-nowrap">
              <span
                aria-hidden
                className="h-0.5 w-3 shrink-0 rounded"
                style={{ backgroundColor: `var(--c-${colour})` }}
              />
              <span title={name} className="max-w-48 truncate">
                {name}
              </span>
              <b className="font-medium text-text tabular-nums">{value === null ? '–' : format(value)}</b>
            </span>
          )
        })}
        {time !== undefined && <span className="ml-auto tabular-nums">{moment(time)}</span>}
      </figcaption>
    </figure>
  )
}

/** uPlot expects seconds. Stacked lines are cumulative sums, starting with the first. */
function dataOf(times: readonly number[], lines: readonly Line[], isStacked: boolean): uPlot.AlignedData {
  const sums = times.map(() => 0)
  const values = lines.map(({ values: own }) =>
    times.map((_, at) => {
      const value = own[at] ?? null
      if (!isStacked) return value
      sums[at] = (sums[at] ?? 0) + (value ?? 0)
      return sums[at]
    }),
  )
  const seconds = times.map((time) => time / 1_000)
  // The top of the stack is drawn first, and the others over it.
  return [seconds, ...(isStacked ? values.toReversed() : values)] as uPlot.AlignedData
}

interface Looks {
  readonly holder: HTMLElement
  readonly height: number
  readonly lines: readonly Line[]
  readonly isStacked: boolean
  readonly current: () => Pick<Props, 'format' | 'zoom'>
  readonly setAt: (at: number | null) => void
}

function optionsOf({ holder, height, lines, isStacked, current, setAt }: Looks): uPlot.Options {
  const style = getComputedStyle(holder)
  const colour = (name: string): string => style.getPropertyValue(`--c-${name}`).trim()
  const axis = {
    stroke: colour('soft'),
    grid: { stroke: colour('line'), width: 1 },
    ticks: { show: false },
    font: '11px system-ui, sans-serif',
  }
  const drawn = isStacked ? lines.toReversed() : lines
  return {
    width: Math.max(holder.clientWidth, 100),
    height,
    legend: { show: false },
    cursor: {
      sync: { key: 'page' },
      drag: { x: true, y: false, setScale: false },
      points: { size: 6 },
      y: false,
    },
    axes: [
      {
        ...axis,
        size: 28,
        values: (_plot, ticks, _axis, _space, step) => ticks.map((tick) => tickText(tick * 1_000, step)),
      },
      {
        ...axis,
        size: 64,
        space: 34,
        values: (_plot, ticks) => ticks.map((tick) => current().format(tick)),
      },
    ],
    scales: { x: { time: true }, y: { range: (_plot, _least, most) => [0, most > 0 ? most * 1.08 : 1] } },
    series: [
      {},
      ...drawn.map(({ name, colour: own }) => ({
        label: name,
        stroke: colour(own),
        width: 1.5,
        // A line needs two points; an isolated point is drawn as a dot.
        points: { show: false, size: 4, filter: (plot: uPlot, at: number) => alone(plot.data[at] ?? []) },
        spanGaps: false,
        ...(isStacked && { fill: mixColors(colour(own), colour('card')) }),
      })),
    ],
    hooks: {
      setCursor: [(plot) => setAt(plot.cursor.idx ?? null)],
      setSelect: [
        (plot) => {
          const { left, width } = plot.select
          const { zoom } = current()
          if (width > 4 && zoom !== undefined)
            zoom(plot.posToVal(left, 'x') * 1_000, plot.posToVal(left + width, 'x') * 1_000)
          plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false)
        },
      ],
    },
  }
}

function alone(values: ArrayLike<number | null | undefined>): number[] {
  const isThere = (at: number): boolean => (values[at] ?? null) !== null
  return Array.from(values, (_, at) => at).filter((at) => isThere(at) && !isThere(at - 1) && !isThere(at + 1))
}

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
const exact = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })

const MINUTE_S = 60
const DAY_S = 24 * 60 * 60

/** `step` is the distance between two ticks in seconds. A tick at the start of a day shows the date. */
function tickText(at: number, step: number): string {
  if (step < MINUTE_S) return exact.format(at)
  const text = clock.format(at)
  return step >= DAY_S || text === '00:00' ? day.format(at) : text
}

/** Opaque, so that the areas below do not show through. */
function mixColors(colour: string, ground: string): string {
  return `color-mix(in srgb, ${colour} 35%, ${ground})`
}
