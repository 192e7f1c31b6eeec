/**
 * Line and stacked area charts over time. All charts on a page share one crosshair, and dragging on a chart
 * zooms. The legend shows the values under the crosshair as text, and hides lines.
 */
import { useEffect, useMemo, useRef, useState } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { useTheme } from '../../shell/theme.ts'
import { moment } from '../text/format.ts'
import { DeployMarks } from './deploy-marks.tsx'
import { DURATION_STEPS, isSpiky, labelSize, logRange, logTicks } from './axis.ts'
import { Legend } from './legend.tsx'
import type { Line } from './line.ts'

interface Props {
  /** The accessible name of the chart. */
  readonly label: string
  /** Milliseconds since 1970, ascending. */
  readonly times: readonly number[]
  readonly lines: readonly Line[]
  readonly format: (value: number) => string
  readonly isStacked?: boolean
  /** Values are milliseconds. */
  readonly isDuration?: boolean
  readonly zoom?: ((from: number, to: number) => void) | undefined
  readonly height?: number
}

export function Chart({
  label,
  times,
  lines: all,
  format,
  isStacked = false,
  isDuration = false,
  zoom,
  height = 180,
}: Props) {
  const place = useRef<HTMLDivElement>(null)
  const [at, setAt] = useState<number | null>(null)
  const [over, setOver] = useState<HTMLElement | null>(null)
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set())
  const [isLog, setLog] = useState(false)
  const lines = useMemo(() => all.filter(({ name }) => !hidden.has(name)), [all, hidden])
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
      optionsOf({
        holder,
        height,
        lines,
        isStacked,
        isDuration,
        isLog,
        setAt,
        current: () => latest.current,
      }),
      dataOf(times, lines, { isStacked, isLog }),
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
  }, [shape, isStacked, isDuration, isLog, height, theme])

  useEffect(
    () => plot.current?.setData(dataOf(times, lines, { isStacked, isLog })),
    [times, lines, isStacked, isLog],
  )

  const shown = at ?? times.length - 1
  const time = times[shown]
  const canBeLog = !isStacked && (isLog || isSpiky(lines.map(({ values }) => values)))
  return (
    <figure aria-label={label} className="min-w-0">
      <div ref={place} aria-hidden className="w-full" style={{ height }} />
      <DeployMarks over={over} times={times} />
      <figcaption className="mt-1 flex flex-wrap gap-x-4 gap-y-0.5 text-xs text-soft">
        <Legend
          lines={all}
          at={shown}
          format={format}
          hidden={hidden}
          toggle={(name) => setHidden(toggled(hidden, name))}
        />
        {canBeLog && (
          <button
            type="button"
            aria-pressed={isLog}
            onClick={() => setLog(!isLog)}
            className="min-h-6 rounded px-1 text-accent underline-offset-2 hover:underline aria-pressed:font-semibold"
          >
            Log scale
          </button>
        )}
        {time !== undefined && <span className="ml-auto leading-6 tabular-nums">{moment(time)}</span>}
      </figcaption>
    </figure>
  )
}

function toggled(hidden: ReadonlySet<string>, name: string): ReadonlySet<string> {
  const next = new Set(hidden)
  if (!next.delete(name)) next.add(name)
  return next
}

type Scale = Pick<Looks, 'isStacked' | 'isLog'>

/** uPlot expects seconds. Stacked lines are cumulative sums, starting with the first. */
function dataOf(
  times: readonly number[],
  lines: readonly Line[],
  { isStacked, isLog }: Scale,
): uPlot.AlignedData {
  const sums = times.map(() => 0)
  const values = lines.map(({ values: own }) =>
    times.map((_, at) => {
      const value = own[at] ?? null
      // A logarithmic scale has no 0.
      if (isLog) return value !== null && value > 0 ? value : null
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
  readonly isDuration: boolean
  readonly isLog: boolean
  readonly current: () => Pick<Props, 'format' | 'zoom'>
  readonly setAt: (at: number | null) => void
}

function optionsOf(looks: Looks): uPlot.Options {
  const { holder, height, lines, isStacked, current, setAt } = looks
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
        ...ticksOf(looks),
        size: labelSize,
        space: 34,
        values: (_plot, ticks) => ticks.map((tick) => current().format(tick)),
      },
    ],
    scales: { x: { time: true }, y: scaleOf(looks) },
    series: [
      {},
      ...drawn.map(({ name, colour: own, isDashed = false }) => ({
        label: name,
        stroke: colour(own),
        width: 1.5,
        ...(isDashed && { dash: [5, 4] }),
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

function scaleOf({ isLog, isDuration }: Looks): uPlot.Scale {
  if (!isLog) return { range: (_plot, _least, most) => [0, most > 0 ? most * 1.08 : 1] }
  return { distr: 3, range: (_plot, least, most) => logRange(logTicks(isDuration), least, most) }
}

function ticksOf({ isLog, isDuration }: Looks): uPlot.Axis {
  if (!isLog) return isDuration ? { incrs: [...DURATION_STEPS] } : {}
  return {
    splits: (_plot, _axis, from, to) => logTicks(isDuration).filter((tick) => tick >= from && tick <= to),
    // uPlot would label only powers of ten.
    filter: (_plot, ticks) => ticks,
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
