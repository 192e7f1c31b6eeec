/** Capacity table: whether each queue keeps up with its jobs. */
import type { ReactNode } from 'react'
import { encodeName } from '../../../api/client.ts'
import { useCapacity } from '../../../api/reads.ts'
import type { Capacity } from '../../../api/types.ts'
import { TextLink } from '../../../kit/button.tsx'
import { Card } from '../../../kit/card.tsx'
import { classes } from '../../../kit/classes.ts'
import { DataView, Empty } from '../../../kit/data-view.tsx'
import type { SortValues } from '../../../kit/table/sort.ts'
import { SortedTable } from '../../../kit/table/sorted-table.tsx'
import { Cell, Row } from '../../../kit/table/table.tsx'
import { number, rate, span } from '../../../kit/text/format.ts'
import { forecastRank, forecastWords } from './forecast-words.ts'

const SHARES = ['p50', 'p95', 'p99'] as const
const LATENCIES = [
  ['waiting', 'Queue latency'],
  ['running', 'Run time'],
] as const

const netOf = ({ inPerSecond, outPerSecond }: Capacity): number => inPerSecond - outPerSecond

/** How many times longer than its target the latency of the queue is. */
const missedBy = ({ target, waiting, oldestReadyMs }: Capacity): number | null =>
  target === null ? null : Math.max(waiting.p95 ?? 0, oldestReadyMs ?? 0) / Math.max(1, target.latencyMs)

const COLUMNS = [
  { key: 'queue', name: 'Queue' },
  { key: 'forecast', name: 'Forecast' },
  { key: 'in', name: 'In', right: true },
  { key: 'out', name: 'Out', right: true },
  { key: 'net', name: 'Net', right: true },
  { key: 'oldest', name: 'Oldest', right: true },
  ...LATENCIES.flatMap(([of, name]) =>
    SHARES.map((share) => ({ key: `${of}-${share}`, name: share, group: name, right: true })),
  ),
  { key: 'target', name: 'Target', right: true },
  { key: 'workers', name: 'Busy', right: true },
]

const VALUES: SortValues<Capacity> = {
  queue: ({ queue }) => queue,
  forecast: ({ forecast }) => forecastRank(forecast),
  in: ({ inPerSecond }) => inPerSecond,
  out: ({ outPerSecond }) => outPerSecond,
  net: netOf,
  oldest: ({ oldestReadyMs }) => oldestReadyMs,
  ...Object.fromEntries(
    LATENCIES.flatMap(([of]) =>
      SHARES.map((share) => [`${of}-${share}`, (row: Capacity) => row[of][share]] as const),
    ),
  ),
  target: missedBy,
  workers: ({ busy, workers }) => (workers === 0 ? null : busy / workers),
}

export function CapacityCard() {
  const read = useCapacity()
  return (
    <Card flush title="Capacity" className="mt-4">
      <p className="px-4 pb-2 text-xs text-soft">
        Rates of the last minute, percentiles of the last 5 minutes
      </p>
      <DataView read={read} shape="table">
        {({ queues }) =>
          queues.length === 0 ? <Empty title="No queues yet" /> : <CapacityTable queues={queues} />
        }
      </DataView>
    </Card>
  )
}

/** Without a target, there is no column for it: the table must fit a window of 1280 pixels. */
function CapacityTable({ queues }: { readonly queues: readonly Capacity[] }) {
  const hasTargets = queues.some(({ target }) => target !== null)
  const columns = hasTargets ? COLUMNS : COLUMNS.filter(({ key }) => key !== 'target')
  return (
    <SortedTable label="Capacity" columns={columns} rows={queues} values={VALUES} sort="capacity">
      {(one) => <CapacityRow key={one.queue} capacity={one} hasTargets={hasTargets} />}
    </SortedTable>
  )
}

const COLOURS = {
  grows: 'text-dead',
  drains: 'text-ready',
  steady: 'text-ready',
  empty: 'text-soft',
} as const

interface RowProps {
  readonly capacity: Capacity
  readonly hasTargets: boolean
}

function CapacityRow({ capacity, hasTargets }: RowProps) {
  const { queue, forecast, inPerSecond, outPerSecond, oldestReadyMs, busy, workers } = capacity
  const net = netOf(capacity)
  return (
    <Row>
      <Cell className={hasTargets ? 'max-w-28' : 'max-w-40'}>
        <TextLink to={`/queues?open=${encodeName(queue)}`} className="block truncate font-medium">
          <span title={queue}>{queue}</span>
        </TextLink>
      </Cell>
      <Cell className={`whitespace-nowrap ${COLOURS[forecast.trend]}`}>{forecastWords(forecast)}</Cell>
      <Cell right>{rate(inPerSecond)}</Cell>
      <Cell right>{rate(outPerSecond)}</Cell>
      <Cell right>{net < 0 ? `−${rate(-net)}` : rate(net)}</Cell>
      <Cell right>{time(oldestReadyMs)}</Cell>
      {LATENCIES.flatMap(([of]) =>
        SHARES.map((share) => (
          <Cell key={`${of}-${share}`} right>
            {time(capacity[of][share])}
          </Cell>
        )),
      )}
      {hasTargets && (
        <Cell right>
          <Target target={capacity.target} />
        </Cell>
      )}
      <Cell right className={busy >= workers ? 'text-ready' : ''}>
        {workers === 0 ? (
          <span className="font-medium text-dead">none</span>
        ) : (
          `${number(busy)} of ${number(workers)}`
        )}
      </Cell>
    </Row>
  )
}

/** The row has a column for the p95 of the queue latency. */
function Target({ target }: Pick<Capacity, 'target'>) {
  if (target === null) return <span className="text-soft">–</span>
  return (
    <span title="The 95th percentile of the queue latency and the oldest ready job">
      {span(target.latencyMs)}
      <span className={classes('block text-xs', target.met ? 'text-done' : 'font-medium text-dead')}>
        {target.met ? 'met' : 'missed'}
      </span>
    </span>
  )
}

function time(ms: number | null): ReactNode {
  return ms === null ? <span className="text-soft">–</span> : span(ms)
}
