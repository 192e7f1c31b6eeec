/** The newest jobs of a kind. */
import type { JobSummary } from '../../api/types.ts'
import { TextLink } from '../../kit/button.tsx'
import { StateBadge } from '../../kit/state.tsx'
import { Cell, Row, Table } from '../../kit/table/table.tsx'
import { number, shortId } from '../../kit/text/format.ts'
import { Ago } from '../../kit/text/time.tsx'

const COLUMNS = [
  { key: 'state', name: 'State' },
  { key: 'job', name: 'Job' },
  { key: 'queue', name: 'Queue' },
  { key: 'attempt', name: 'Attempt', right: true },
  { key: 'enqueued', name: 'Enqueued', right: true },
]

export function RecentRuns({ jobs }: { readonly jobs: readonly JobSummary[] }) {
  if (jobs.length === 0) return <p className="px-4 pb-3 text-soft">No jobs of this kind.</p>
  return (
    <Table label="Recent jobs" columns={COLUMNS}>
      {jobs.map(({ id, state, queue, attempt, maxAttempts, enqueuedAt }) => (
        <Row key={id}>
          <Cell>
            <StateBadge state={state} />
          </Cell>
          <Cell>
            <TextLink to={`/jobs/${id}`} className="font-mono text-xs">
              {shortId(id)}
            </TextLink>
          </Cell>
          <Cell>
            <TextLink to={`/queues#${encodeURIComponent(queue)}`} className="wrap-anywhere">
              {queue}
            </TextLink>
          </Cell>
          <Cell right>
            {number(attempt)} of {number(maxAttempts)}
          </Cell>
          <Cell right>
            <Ago at={enqueuedAt} />
          </Cell>
        </Row>
      ))}
    </Table>
  )
}
