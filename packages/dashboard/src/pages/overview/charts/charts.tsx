/** Charts for the chosen range. Dragging on a chart zooms. */
import { useMemo } from 'react'
import { useSearchParams } from 'wouter'
import { useRange } from '../../../api/range.ts'
import { useOverview } from '../../../api/reads.ts'
import { Card } from '../../../kit/card.tsx'
import { Chart } from '../../../kit/charts/chart.tsx'
import type { Line } from '../../../kit/charts/line.ts'
import { percent, span } from '../../../kit/text/format.ts'
import { RangeChoice } from '../../../kit/charts/range-choice.tsx'
import { Failed } from '../../../kit/data-view.tsx'
import { Skeleton } from '../../../kit/skeleton.tsx'
import {
  doneByQueueLines,
  endedLines,
  failureLines,
  mostOf,
  percentileLines,
  backlogLines,
} from '../../../metrics/lines.ts'
import { Plot } from './plot.tsx'
import { QueueChoice } from './queue-choice.tsx'
import { jobs, milliseconds, ratesLike } from '../../../metrics/units.ts'
import { useQueueCharts } from '../../../metrics/use-charted.ts'

export function Charts() {
  const ranging = useRange()
  const [search, setSearch] = useSearchParams()
  const chosen = search.get('queue') ?? ''
  const queues = useOverview().data?.queues.length
  const { read, bins } = useQueueCharts(ranging.range, queues)
  const series = read.data
  const drawn = useMemo(() => {
    const all = series?.queues ?? []
    const own = chosen === '' ? all : all.filter(({ queue }) => queue === chosen)
    return {
      ended: endedLines(bins, own),
      failures: failureLines(bins, own),
      byQueue: doneByQueueLines(bins, all),
      backlog: backlogLines(bins, own, series?.resolutionMs ?? bins.widthMs),
      waiting: percentileLines(bins, own, 'waiting'),
      running: percentileLines(bins, own, 'running'),
    }
  }, [series, bins, chosen])

  const choose = (queue: string): void =>
    setSearch((before) => {
      const next = new URLSearchParams(before)
      if (queue === '') next.delete('queue')
      else next.set('queue', queue)
      return next
    })
  const within = chosen === '' ? '' : ` in ${chosen}`
  const highest = chosen === '' ? 'Worst queue' : 'This queue'
  const each = `${highest}, per ${span(bins.widthMs)}`
  const chart = (
    label: string,
    lines: readonly Line[],
    format: (value: number) => string,
    looks: { readonly isStacked?: boolean; readonly isDuration?: boolean } = {},
  ) => <Chart label={label} times={bins.times} lines={lines} format={format} zoom={ranging.zoom} {...looks} />
  const rates = (label: string, lines: readonly Line[]) =>
    chart(label, lines, ratesLike(mostOf(lines, true)), { isStacked: true })

  return (
    <section aria-label="Trends" className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <div className="flex flex-wrap items-baseline gap-x-3">
          <h2 className="text-sm font-semibold">Trends</h2>
          <p className="text-xs text-soft max-sm:hidden">Drag on a chart to zoom</p>
        </div>
        <div className="flex flex-wrap items-center gap-2">
          <QueueChoice chosen={chosen} choose={choose} />
          <RangeChoice ranging={ranging} />
        </div>
      </div>
      {series === undefined &&
        (read.error === null ? (
          <Skeleton shape="charts" />
        ) : (
          <Card>
            <Failed problem={read.error} again={() => void read.refetch()} />
          </Card>
        ))}
      {series !== undefined && (
        <div className="grid gap-4 lg:grid-cols-2 xl:grid-cols-3">
          <Plot title={`Attempts by outcome${within}`} note="Rate of ended attempts">
            {rates(`Attempts by outcome per second${within}`, drawn.ended)}
          </Plot>
          <Plot title="Completed jobs by queue" note="Top 5 queues, the rest combined">
            {rates('Completed jobs per second, by queue', drawn.byQueue)}
          </Plot>
          <Plot title={`Failure rate${within}`} note="Share of attempts that failed">
            {chart(`Failure rate${within}`, drawn.failures, percent)}
          </Plot>
          <Plot title={`Backlog and running${within}`} note={`Average per ${span(bins.widthMs)}`}>
            {chart(`Backlog and running${within}`, drawn.backlog, jobs, { isStacked: true })}
          </Plot>
          <Plot title={`Queue latency${within}`} note={each}>
            {chart(`Queue latency${within}, percentiles`, drawn.waiting, milliseconds, { isDuration: true })}
          </Plot>
          <Plot title={`Run time${within}`} note={each}>
            {chart(`Run time${within}, percentiles`, drawn.running, milliseconds, { isDuration: true })}
          </Plot>
        </div>
      )}
    </section>
  )
}
