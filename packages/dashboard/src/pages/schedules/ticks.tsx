/** The run history of a schedule, newest first. */
import type { Tick } from '../../api/types.ts'
import { span } from '../../kit/text/format.ts'
import { Empty } from '../../kit/data-view.tsx'
import { Cell, Row, Table } from '../../kit/table/table.tsx'
import { Ago, Moment } from '../../kit/text/time.tsx'
import { LastRun } from './last-run.tsx'
import { TickStrip } from './tick-strip.tsx'

const COLUMNS = [
  { key: 'at', name: 'Scheduled' },
  { key: 'ago', name: 'Ago' },
  { key: 'outcome', name: 'Outcome' },
  { key: 'late', name: 'Delay', right: true },
]

export function Ticks({ history }: { readonly history: readonly Tick[] }) {
  if (history.length === 0)
    return <Empty title="No runs yet">Runs appear here. Use “Run now” to enqueue a job now.</Empty>
  return (
    <>
      <TickStrip history={history} />
      <Table label="Run history" columns={COLUMNS}>
        {history.map(({ at, outcome, job, servedAt, state }) => (
          <Row key={at}>
            <Cell>
              <Moment at={at} />
            </Cell>
            <Cell>
              <Ago at={at} />
            </Cell>
            <Cell className="whitespace-nowrap">
              <LastRun outcome={outcome} job={job} state={state} />
            </Cell>
            <Cell right>{span(Math.max(0, servedAt - at))}</Cell>
          </Row>
        ))}
      </Table>
    </>
  )
}
