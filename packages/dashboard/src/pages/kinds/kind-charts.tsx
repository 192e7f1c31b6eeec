/** The attempts of a kind in the chosen range: in numbers, by outcome and by run time. */
import { useMemo } from 'react'
import { type Range, useRange } from '../../api/range.ts'
import type { KindMetrics } from '../../api/types.ts'
import { Card } from '../../kit/card.tsx'
import { Chart } from '../../kit/charts/chart.tsx'
import { RangeChoice } from '../../kit/charts/range-choice.tsx'
import { DataView } from '../../kit/data-view.tsx'
import { number, percent, span } from '../../kit/text/format.ts'
import { kindEnds, kindRunTimes } from '../../metrics/kind-lines.ts'
import { mostOf } from '../../metrics/lines.ts'
import { milliseconds, ratesLike } from '../../metrics/units.ts'
import { useKindSeries } from '../../metrics/use-charted.ts'
import { KindVersions } from './kind-versions.tsx'

export function KindCharts({ kind }: { readonly kind: string }) {
  const ranging = useRange()
  const { read, bins } = useKindSeries(ranging.range, kind)
  // The previous kind's data is kept while another kind loads.
  const found = read.data?.kinds.find((one) => one.kind === kind)
  const points = useMemo(() => found?.points ?? [], [found])
  const ended = useMemo(() => kindEnds(bins, points), [bins, points])
  const times = useMemo(() => kindRunTimes(bins, points), [bins, points])
  return (
    <Card title="Attempts" tools={<RangeChoice ranging={ranging} />}>
      <DataView read={read} shape="chart">
        {() => (
          <>
            {found === undefined ? (
              <p className="mb-3 text-soft">No attempts in this range.</p>
            ) : (
              <Numbers all={found.all} lengthMs={lengthOf(ranging.range)} />
            )}
            <div className="grid gap-4 md:grid-cols-2">
              <div className="min-w-0">
                <h3 className="mb-1 text-xs font-semibold">Attempts by outcome</h3>
                <Chart
                  isStacked
                  label={`Attempts by outcome, ${kind}`}
                  times={bins.times}
                  lines={ended}
                  zoom={ranging.zoom}
                  format={ratesLike(mostOf(ended, true))}
                />
              </div>
              <div className="min-w-0">
                <h3 className="mb-1 text-xs font-semibold">
                  Run time{' '}
                  <span className="font-normal text-soft">percentiles, per {span(bins.widthMs)}</span>
                </h3>
                <Chart
                  label={`Run time, ${kind}`}
                  times={bins.times}
                  lines={times}
                  zoom={ranging.zoom}
                  format={milliseconds}
                  isDuration
                />
              </div>
            </div>
            {found !== undefined && <KindVersions kind={kind} byVersion={found.all.byVersion} />}
          </>
        )}
      </DataView>
    </Card>
  )
}

interface NumbersProps {
  readonly all: KindMetrics
  readonly lengthMs: number
}

function Numbers({ all: { ended, running, workerMs }, lengthMs }: NumbersProps) {
  const failed = ended.retried + ended.dead + ended.timedOut
  const all = ended.done + failed
  const shown = [
    ['Success rate', all === 0 ? '–' : percent(ended.done / all)],
    ['Succeeded', number(ended.done)],
    ['Failed', number(failed)],
    ...(['p50', 'p95', 'p99'] as const).map((share) => {
      const ms = running[share]
      return [`Run time ${share}`, ms === null ? '–' : span(ms)]
    }),
    // What the kind costs: on average, so many workers are busy with it.
    ['Worker time', `${span(workerMs)} (${few(workerMs / lengthMs)} workers)`],
  ]
  return (
    <dl className="mb-4 flex flex-wrap gap-x-8 gap-y-2">
      {shown.map(([name, value]) => (
        <div key={name} className="flex flex-col">
          <dt className="text-xs text-soft">{name}</dt>
          <dd className="text-lg font-semibold tabular-nums">{value}</dd>
        </div>
      ))}
    </dl>
  )
}

function lengthOf(range: Range): number {
  const { from, to } = range.ends()
  return to - from
}

const few = (n: number): string => (n >= 10 ? number(Math.round(n)) : String(Number(n.toPrecision(2))))
