/** What was left of a limit over time, and who drew on it. */
import { useMemo } from 'react'
import { along, timesOf } from '../../api/points.ts'
import { useRange } from '../../api/range.ts'
import { useSeries } from '../../api/reads.ts'
import type { LimitFigures, Series } from '../../api/types/history.ts'
import type { Limit } from '../../api/types/mill.ts'
import { Chart, type Line } from '../../kit/chart.tsx'
import { number } from '../../kit/format.ts'
import { RangePicker } from '../../kit/range-picker.tsx'
import { Shown } from '../../kit/shown.tsx'
import { Drawers } from './drawers.tsx'
import { unitOf } from './limit-words.ts'

export function LimitHistory({
  limit,
  queues,
}: {
  readonly limit: Limit
  readonly queues: readonly string[]
}) {
  const ranging = useRange()
  const read = useSeries(ranging.range, { limit: limit.name })
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p className="text-xs text-soft">Draw over the chart to look closer.</p>
        <RangePicker ranging={ranging} />
      </div>
      <Shown read={read}>
        {(series) => {
          const found = series.limits?.find((one) => one.limit === limit.name)
          return (
            <div className="grid gap-4 lg:grid-cols-[1fr_22rem]">
              <Tokens limit={limit} series={series} now={read.dataUpdatedAt} zoom={ranging.zoom} />
              <Drawers queues={queues} all={found?.all} />
            </div>
          )
        }}
      </Shown>
    </div>
  )
}

interface TokensProps {
  readonly limit: Limit
  readonly series: Series
  readonly now: number
  readonly zoom: (from: number, to: number) => void
}

type Point = LimitFigures & { readonly at: number }

function Tokens({ limit, series, now, zoom }: TokensProps) {
  const unit = `${unitOf(limit.settings)}s`
  const isConcurrency = limit.settings.type === 'concurrency'
  const { times, lines } = useMemo(() => {
    const instants = timesOf(series, now)
    const points: readonly Point[] = series.limits?.find((one) => one.limit === limit.name)?.points ?? []
    const available: Line = {
      name: 'available',
      colour: 'accent',
      values: along(instants, points, (point) => point.available?.mean, null),
    }
    const held: Line = {
      name: 'held',
      colour: 'running',
      values: along(instants, points, (point) => point.held?.mean, null),
    }
    return { times: instants, lines: isConcurrency ? [available, held] : [available] }
  }, [series, now, limit.name, isConcurrency])
  return (
    <div className="min-w-0 rounded-lg border border-line bg-card p-3">
      <h3 className="mb-1 text-xs font-semibold">
        Available {unit} <span className="font-normal text-soft">the mean of each bucket</span>
      </h3>
      <Chart
        label={`Available ${unit} of ${limit.name}`}
        times={times}
        lines={lines}
        zoom={zoom}
        format={(value) => number(Math.round(value * 10) / 10)}
      />
    </div>
  )
}
