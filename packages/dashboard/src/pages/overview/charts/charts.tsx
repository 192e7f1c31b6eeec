/** How it went over the chosen range. To draw over a chart is to look closer. */
import { useMemo } from 'react'
import { useSearchParams } from 'wouter'
import { useRange } from '../../../api/range.ts'
import { useOverview } from '../../../api/reads.ts'
import { Card } from '../../../kit/card.tsx'
import { Chart, type Line } from '../../../kit/chart.tsx'
import { span } from '../../../kit/format.ts'
import { RangeChoice } from '../../../kit/range-choice.tsx'
import { Failed, Waiting } from '../../../kit/shown.tsx'
import {
  doneByQueueLines,
  endedLines,
  mostOf,
  percentileLines,
  standingLines,
} from '../../../metrics/lines.ts'
import { Plot } from './plot.tsx'
import { QueueChoice } from './queue-choice.tsx'
import { jobs, milliseconds, ratesLike } from '../../../metrics/units.ts'
import { useCharted } from '../../../metrics/use-charted.ts'

export function Charts() {
  const ranging = useRange()
  const [search, setSearch] = useSearchParams()
  const chosen = search.get('queue') ?? ''
  const queues = useOverview().data?.queues.length
  const { read, bins } = useCharted(ranging.range, queues)
  const series = read.data
  const drawn = useMemo(() => {
    const all = series?.queues ?? []
    const own = chosen === '' ? all : all.filter(({ queue }) => queue === chosen)
    return {
      ended: endedLines(bins, own),
      byQueue: doneByQueueLines(bins, all),
      standing: standingLines(bins, own, series?.resolutionMs ?? bins.widthMs),
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
  const highest = chosen === '' ? 'The highest of the queues' : 'Of this queue'
  const each = `${highest}, each ${span(bins.widthMs)}.`
  const chart = (
    label: string,
    lines: readonly Line[],
    format: (value: number) => string,
    isStacked = false,
  ) => (
    <Chart
      label={label}
      times={bins.times}
      lines={lines}
      format={format}
      isStacked={isStacked}
      zoom={ranging.zoom}
    />
  )
  const rates = (label: string, lines: readonly Line[]) =>
    chart(label, lines, ratesLike(mostOf(lines, true)), true)

  return (
    <section aria-label="Over time" className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <div className="flex flex-wrap items-baseline gap-x-3">
          <h2 className="text-sm font-semibold">Over time</h2>
          <p className="text-xs text-soft max-sm:hidden">Draw over a chart to look closer.</p>
        </div>
        <div className="flex flex-wrap items-center gap-2">
          <QueueChoice chosen={chosen} choose={choose} />
          <RangeChoice ranging={ranging} />
        </div>
      </div>
      {series === undefined && (
        <Card>
          {read.error === null ? (
            <Waiting />
          ) : (
            <Failed problem={read.error} again={() => void read.refetch()} />
          )}
        </Card>
      )}
      {series !== undefined && (
        <div className="grid gap-4 lg:grid-cols-2 xl:grid-cols-6">
          <Plot title={`Attempts that ended${within}`} note="By how they ended." wide>
            {rates(`Attempts that ended per second${within}`, drawn.ended)}
          </Plot>
          <Plot title="Done by queue" note="All queues, the busiest on their own." wide>
            {rates('Jobs done per second, by queue', drawn.byQueue)}
          </Plot>
          <Plot title={`Jobs that wait or run${within}`} note={`The mean of each ${span(bins.widthMs)}.`}>
            {chart(`Jobs that wait or run${within}`, drawn.standing, jobs, true)}
          </Plot>
          <Plot title={`Wait until claimed${within}`} note={each}>
            {chart(`Wait until claimed${within}, percentiles`, drawn.waiting, milliseconds)}
          </Plot>
          <Plot title={`Run of an attempt${within}`} note={each} last>
            {chart(`Run of an attempt${within}, percentiles`, drawn.running, milliseconds)}
          </Plot>
        </div>
      )}
    </section>
  )
}
