/** Database latency, measured by all processes in the last hour. */
import type { System } from '../../api/types.ts'
import { Card } from '../../kit/card.tsx'
import { compact, span } from '../../kit/text/format.ts'
import type { SortValues } from '../../kit/table/sort.ts'
import { SortedTable } from '../../kit/table/sorted-table.tsx'
import { Cell, Row } from '../../kit/table/table.tsx'

const COLUMNS = [
  { key: 'class', name: 'Calls' },
  { key: 'count', name: 'Count', right: true },
  { key: 'p50', name: 'p50', right: true },
  { key: 'p95', name: 'p95', right: true },
  { key: 'p99', name: 'p99', right: true },
]

type Timing = readonly [name: string, System['storeTimings'][keyof System['storeTimings']]]

const VALUES: SortValues<Timing> = {
  class: ([name]) => name,
  count: ([, { count }]) => count,
  p50: ([, { p50 }]) => p50,
  p95: ([, { p95 }]) => p95,
  p99: ([, { p99 }]) => p99,
}

const shown = (ms: number | null): string => (ms === null ? '–' : span(ms))

export function StoreTimings({ storeTimings }: Pick<System, 'storeTimings'>) {
  return (
    <Card flush title="Database latency, last hour">
      <SortedTable
        label="Database latency"
        columns={COLUMNS}
        rows={Object.entries(storeTimings)}
        values={VALUES}
        sort="latency"
      >
        {([name, { count, p50, p95, p99 }]) => (
          <Row key={name}>
            <Cell className="font-medium">{name}</Cell>
            <Cell right>{compact(count)}</Cell>
            <Cell right>{shown(p50)}</Cell>
            <Cell right>{shown(p95)}</Cell>
            <Cell right>{shown(p99)}</Cell>
          </Row>
        )}
      </SortedTable>
    </Card>
  )
}
