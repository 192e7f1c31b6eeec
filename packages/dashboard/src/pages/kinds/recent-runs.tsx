/** The newest jobs of a kind. */
import type { JobPage } from '../../api/types.ts'
import { TextLink } from '../../kit/button.tsx'
import { StateBadge } from '../../kit/state.tsx'
import { Cell, Row, Table } from '../../kit/table/table.tsx'
import { number, shortId } from '../../kit/text/format.ts'
import { Ago } from '../../kit/text/time.tsx'

const COLUMNS = [
  { key: 'state', name: 'State' },
  { key: 'job', name: 'Job' },
  { key: 'queue', name: 'Queue', className: 'max-sm:hidden' },
  { key: 'attempt', name: 'Attempt', right: true, className: 'max-sm:hidden' },
  { key: 'enqueued', name: 'Enqueued', right: true },
]

interface Props {
  readonly kind: string
  readonly page: JobPage
}

export function RecentRuns({ kind, page: { jobs, scanned, complete } }: Props) {
  if (jobs.length === 0 && complete) return <p className="px-4 pb-3 text-soft">No jobs of this kind.</p>
  return (
    <>
      {jobs.length > 0 && <Runs jobs={jobs} />}
      {!complete && (
        <p className="px-4 py-2 text-soft">
          Searched the newest {number(scanned)} jobs.{' '}
          <TextLink to={`/jobs?${new URLSearchParams({ kind }).toString()}`}>Keep searching</TextLink>
        </p>
      )}
    </>
  )
}

function Runs({ jobs }: Pick<JobPage, 'jobs'>) {
  return (
    <Table label="Recent jobs" columns={COLUMNS}>
      {jobs.map(({ id, state, queue, attempt, maxAttempts, enqueuedAt }) => (
        <Row key={id}>
          <Cell>
            <StateBadge state={state} />
          </Cell>
          <Cell>
            <TextLink to={`/jobs/${id}`} className="font-mono text-xs whitespace-nowrap">
              {shortId(id)}
            </TextLink>
          </Cell>
          <Cell className="max-sm:hidden">
            <TextLink to={`/queues#${encodeURIComponent(queue)}`} className="wrap-anywhere">
              {queue}
            </TextLink>
          </Cell>
          <Cell right className="max-sm:hidden">
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
