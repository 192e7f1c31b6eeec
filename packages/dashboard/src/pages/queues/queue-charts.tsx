/** What a queue did over the chosen range. */
import { useMemo } from 'react'
import { along, timesOf } from '../../api/points.ts'
import { useRange } from '../../api/range.ts'
import { useSeries } from '../../api/reads.ts'
import type { QueueFigures, Series } from '../../api/types/history.ts'
import { Chart, type Line } from '../../kit/chart.tsx'
import { number, rate, span } from '../../kit/format.ts'
import { RangePicker } from '../../kit/range-picker.tsx'
import { Shown } from '../../kit/shown.tsx'

type Point = QueueFigures & { readonly at: number }

const ENDED = ['done', 'retried', 'dead', 'cancelled'] as const
const ENDED_COLOURS = { done: 'done', retried: 'ready', dead: 'dead', cancelled: 'cancelled' } as const
const WAITING = ['ready', 'scheduled', 'running', 'dead'] as const
const SHARES = [
  ['p50', 'running'],
  ['p95', 'ready'],
  ['p99', 'dead'],
] as const

export function QueueCharts({ queue }: { readonly queue: string }) {
  const ranging = useRange()
  const read = useSeries(ranging.range, { queue })
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p className="text-xs text-soft">Draw over a chart to look closer.</p>
        <RangePicker ranging={ranging} />
      </div>
      <Shown read={read}>
        {(series) => <Charts queue={queue} series={series} now={read.dataUpdatedAt} zoom={ranging.zoom} />}
      </Shown>
    </div>
  )
}

interface Props {
  readonly queue: string
  readonly series: Series
  readonly now: number
  readonly zoom: (from: number, to: number) => void
}

function Charts({ queue, series, now, zoom }: Props) {
  const charts = useMemo(() => chartsOf(queue, series, now), [queue, series, now])
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      {charts.map(({ title, note, ...chart }) => (
        <div key={title} className="min-w-0 rounded-lg border border-line bg-card p-3">
          <h3 className="mb-1 text-xs font-semibold">
            {title} {note !== undefined && <span className="font-normal text-soft">{note}</span>}
          </h3>
          <Chart label={`${title} of ${queue}`} zoom={zoom} height={150} {...chart} />
        </div>
      ))}
    </div>
  )
}

interface Drawn {
  readonly title: string
  readonly note?: string
  readonly times: readonly number[]
  readonly lines: readonly Line[]
  readonly format: (value: number) => string
  readonly isStacked?: boolean
}

function chartsOf(queue: string, series: Series, now: number): Drawn[] {
  const times = timesOf(series, now)
  const points: readonly Point[] = series.queues.find((one) => one.queue === queue)?.points ?? []
  const whole = (value: number): string => number(Math.round(value * 10) / 10)
  const line = (
    name: string,
    colour: string,
    value: (point: Point) => number | null | undefined,
    nothing: 0 | null,
  ): Line => ({ name, colour, values: along(times, points, value, nothing) })
  return [
    {
      title: 'Ended per second',
      times,
      isStacked: true,
      format: rate,
      lines: ENDED.map((key) => line(key, ENDED_COLOURS[key], ({ perSecond }) => perSecond[key], 0)),
    },
    {
      title: 'Jobs by state',
      note: 'the mean of each bucket',
      times,
      format: whole,
      // An older server does not tell them.
      lines: WAITING.map((key) => line(key, key, ({ counts }) => counts?.[key]?.mean, null)),
    },
    {
      title: 'Wait until claimed',
      times,
      format: span,
      lines: SHARES.map(([share, colour]) => line(share, colour, ({ waiting }) => waiting[share], null)),
    },
    {
      title: 'Run of an attempt',
      times,
      format: span,
      lines: SHARES.map(([share, colour]) => line(share, colour, ({ running }) => running[share], null)),
    },
  ]
}
