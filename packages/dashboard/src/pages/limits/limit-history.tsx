/** The available amount of a limit over time, and its users. */
import { useMemo } from 'react'
import { useRange } from '../../api/range.ts'
import type { Limit } from '../../api/types.ts'
import { Chart } from '../../kit/charts/chart.tsx'
import { number, span } from '../../kit/text/format.ts'
import { RangeChoice } from '../../kit/charts/range-choice.tsx'
import { DataView } from '../../kit/data-view.tsx'
import { useLimitSeries } from '../../metrics/use-charted.ts'
import { Drawers } from './drawers.tsx'
import { limitLines } from './limit-lines.ts'
import { isPerKey, unitOf } from './limit-words.ts'

interface Props {
  readonly limit: Limit
  readonly queues: readonly string[]
}

export function LimitHistory({ limit: { name, settings }, queues }: Props) {
  const ranging = useRange()
  const { read, bins } = useLimitSeries(ranging.range, name)
  const series = read.data
  const found = series?.limits?.find((one) => one.limit === name)
  const points = found?.points
  const lines = useMemo(
    () =>
      limitLines(
        { bins, resolutionMs: series?.resolutionMs ?? bins.widthMs, points: points ?? [] },
        settings.type === 'concurrency',
      ),
    [bins, series, points, settings.type],
  )
  const unit = `${unitOf(settings)}s`
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p className="text-xs text-soft">Drag on the chart to zoom</p>
        <div className="flex flex-wrap items-center gap-2">
          <RangeChoice ranging={ranging} />
        </div>
      </div>
      <DataView read={read} shape="chart">
        {() => (
          <div className="grid items-start gap-4 lg:grid-cols-[1fr_22rem]">
            <div className="min-w-0 rounded-lg border border-line bg-card p-3">
              <h3 className="mb-1 text-xs font-semibold">
                Available {unit}{' '}
                <span className="font-normal text-soft">average per {span(bins.widthMs)}</span>
              </h3>
              {isPerKey(settings) ? (
                <p className="text-soft">Each key has its own budget. An unused key has its full budget.</p>
              ) : (
                <Chart
                  label={`Available ${unit} of ${name}`}
                  times={bins.times}
                  lines={lines}
                  zoom={ranging.zoom}
                  format={(value) => number(Math.round(value * 10) / 10)}
                />
              )}
            </div>
            <Drawers queues={queues} all={found?.all} />
          </div>
        )}
      </DataView>
    </div>
  )
}
