/** The jobs that have been running the longest: a runaway job is found, opened and cancelled here. */
import { encodeName } from '../../api/client.ts'
import { useJobs } from '../../api/reads.ts'
import { useMay } from '../../api/user/roles.ts'
import type { JobSummary } from '../../api/types.ts'
import { LinkButton, TextLink } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { DataView } from '../../kit/data-view.tsx'
import { useHeldRows } from '../../kit/table/held-rows.ts'
import { ActsCell, Cell, Row, Table } from '../../kit/table/table.tsx'
import { shortId, span } from '../../kit/text/format.ts'
import { useNow } from '../../kit/text/time.tsx'
import { InstanceName } from '../job/instance-name.tsx'
import { CancelButton } from '../jobs/actions/cancel-button.tsx'

const MOST = 5
/** Jobs that have run for less than this are left out: they come and go too fast to read. */
const LEAST_MS = 1_000
const EVERY_MS = 5_000

const COLUMNS = [
  { key: 'job', name: 'Job' },
  { key: 'time', name: 'Running for', right: true },
  { key: 'queue', name: 'Queue', className: 'max-sm:hidden' },
  { key: 'process', name: 'Process', className: 'max-sm:hidden' },
]
const ACTS = { key: 'acts', name: <span className="sr-only">Actions</span> }

export function LongestRunning() {
  const read = useJobs({ state: 'running', limit: MOST }, { atMostEveryMs: EVERY_MS })
  return (
    <Card
      flush
      title="Longest-running jobs"
      tools={
        <LinkButton to="/jobs?state=running" look="quiet">
          View running jobs
        </LinkButton>
      }
    >
      <DataView read={read} shape="table">
        {({ jobs }) => <Listed jobs={jobs} />}
      </DataView>
    </Card>
  )
}

function Listed({ jobs }: { readonly jobs: readonly JobSummary[] }) {
  const may = useMay()
  const now = useNow()
  const long = jobs.filter(({ startedAt }) => startedAt !== null && now - startedAt >= LEAST_MS)
  const { rows, holds } = useHeldRows('longest', long)
  return (
    <div {...holds}>
      {rows.length === 0 ? (
        <p className="px-4 pb-3 text-soft">No job has been running for more than a second.</p>
      ) : (
        <Table label="Longest-running jobs" columns={may('operator') ? [...COLUMNS, ACTS] : COLUMNS}>
          {rows.map((job) => (
            <RunningRow key={job.id} job={job} now={now} hasEnded={!jobs.some(({ id }) => id === job.id)} />
          ))}
        </Table>
      )}
    </div>
  )
}

interface Props {
  readonly job: JobSummary
  readonly now: number
  /** No longer running, but its row is held under the pointer. */
  readonly hasEnded: boolean
}

function RunningRow({ job, now, hasEnded }: Props) {
  const { id, kind, queue, instance, startedAt } = job
  const may = useMay()
  return (
    <Row>
      <Cell className="w-3/5 max-w-0 sm:w-2/5">
        <TextLink to={`/jobs/${id}`} className="block truncate leading-6 font-medium">
          <span title={kind}>{kind}</span>
        </TextLink>
        <span className="block truncate text-xs text-soft">
          <span className="font-mono max-sm:hidden">{shortId(id)}</span>
          <span className="sm:hidden">
            {queue} · <InstanceName id={instance} />
          </span>
        </span>
      </Cell>
      <Cell right>
        {hasEnded ? (
          <span className="text-soft">ended</span>
        ) : (
          startedAt !== null && span(wholeSeconds(now - startedAt))
        )}
      </Cell>
      <Cell className="max-sm:hidden">
        <TextLink to={`/queues#${encodeName(queue)}`} className="block max-w-40 truncate">
          <span title={queue}>{queue}</span>
        </TextLink>
      </Cell>
      <Cell className="max-sm:hidden">
        <InstanceName id={instance} />
      </Cell>
      {may('operator') && (
        <ActsCell>
          <CancelButton job={job} hasEnded={hasEnded} />
        </ActsCell>
      )}
    </Row>
  )
}

const wholeSeconds = (ms: number): number => Math.floor(ms / 1_000) * 1_000
