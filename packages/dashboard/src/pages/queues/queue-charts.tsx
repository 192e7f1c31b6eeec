/** Charts of one queue for the chosen range. */
import { useMemo } from 'react'
import { useRange } from '../../api/range.ts'
import { Chart } from '../../kit/charts/chart.tsx'
import type { Line } from '../../kit/charts/line.ts'
import { percent, span } from '../../kit/text/format.ts'
import { RangeChoice } from '../../kit/charts/range-choice.tsx'
import { DataView } from '../../kit/data-view.tsx'
import { endedLines, failureLines, mostOf, percentileLines, backlogLines } from '../../metrics/lines.ts'
import { jobs, milliseconds, ratesLike } from '../../metrics/units.ts'
import { useQueueCharts } from '../../metrics/use-charted.ts'

interface Drawn {
  readonly title: string
  readonly note: string
  readonly lines: readonly Line[]
  readonly format: (value: number) => string
  readonly isStacked?: boolean
  readonly isDuration?: boolean
}

export function QueueCharts({ queue }: { readonly queue: string }) {
  const ranging = useRange()
  const { read, bins } = useQueueCharts(ranging.range, 1, queue)
  const series = read.data
  const charts = useMemo((): readonly Drawn[] => {
    // The previous queue's data is kept while another queue loads.
    const own = (series?.queues ?? []).filter((one) => one.queue === queue)
    const ended = endedLines(bins, own)
    const each = `per ${span(bins.widthMs)}`
    return [
      {
        title: 'Attempts by outcome',
        note: 'rate of ended attempts',
        lines: ended,
        format: ratesLike(mostOf(ended, true)),
        isStacked: true,
      },
      {
        title: 'Failure rate',
        note: 'share of attempts that failed',
        lines: failureLines(bins, own),
        format: percent,
      },
      {
        title: 'Backlog and running',
        note: `average ${each}`,
        lines: backlogLines(bins, own, series?.resolutionMs ?? bins.widthMs),
        format: jobs,
      },
      {
        title: 'Queue latency',
        note: `percentiles, ${each}`,
        lines: percentileLines(bins, own, 'waiting'),
        format: milliseconds,
        isDuration: true,
      },
      {
        title: 'Run time',
        note: `percentiles, ${each}`,
        lines: percentileLines(bins, own, 'running'),
        format: milliseconds,
        isDuration: true,
      },
    ]
  }, [series, bins, queue])
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p className="text-xs text-soft">Drag on a chart to zoom</p>
        <div className="flex flex-wrap items-center gap-2">
          <RangeChoice ranging={ranging} />
        </div>
      </div>
      <DataView read={read} shape="chart">
        {() => (
          <div className="grid gap-4 lg:grid-cols-2">
            {charts.map(({ title, note, ...chart }) => (
              <div key={title} className="min-w-0 rounded-lg border border-line bg-card p-3">
                <h3 className="mb-1 text-xs font-semibold">
                  {title} <span className="font-normal text-soft">{note}</span>
                </h3>
                <Chart
                  label={`${title}, ${queue}`}
                  times={bins.times}
                  zoom={ranging.zoom}
                  height={150}
                  {...chart}
                />
              </div>
            ))}
          </div>
        )}
      </DataView>
    </div>
  )
}
