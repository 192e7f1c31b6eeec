/** The queues at a glance: those that are not ok first. */
import { serverTime } from '../../api/clock.ts'
import { useOverview } from '../../api/reads.ts'
import type { QueueAndCounts } from '../../api/types.ts'
import { useMay } from '../../api/user/roles.ts'
import { LinkButton } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { plural } from '../../kit/text/format.ts'
import { Empty, DataView } from '../../kit/data-view.tsx'
import { useHeldRows } from '../../kit/table/held-rows.ts'
import type { SortValues } from '../../kit/table/sort.ts'
import { SortedTable } from '../../kit/table/sorted-table.tsx'
import { QueueRow, WIDE } from './queue-row.tsx'
import { useRecent } from './metrics/use-recent.ts'

const MOST = 12

const COLUMNS = [
  { key: 'name', name: 'Queue' },
  { key: 'health', name: 'Health', className: WIDE },
  { key: 'ready', name: 'Ready', right: true, className: WIDE },
  { key: 'running', name: 'Running', right: true, className: WIDE },
  { key: 'dead', name: 'Dead', right: true, className: WIDE },
  { key: 'oldest', name: 'Oldest ready job', right: true, className: WIDE },
  { key: 'rate', name: 'Throughput, last hour', right: true, className: WIDE },
]
const ACTS = { key: 'acts', name: <span className="sr-only">Actions</span> }

const VALUES: SortValues<QueueAndCounts> = {
  name: ({ settings }) => settings.name,
  ready: ({ counts }) => counts.ready,
  running: ({ counts }) => counts.running,
  dead: ({ counts }) => counts.dead,
  oldest: ({ counts }) => counts.oldestReadyMs,
}

export function QueuesCard() {
  const read = useOverview()
  return (
    <Card
      flush
      title="Queues"
      tools={
        <LinkButton to="/queues" look="quiet">
          View all queues
        </LinkButton>
      }
    >
      <DataView read={read} shape="table">
        {({ queues }) =>
          queues.length === 0 ? (
            <Empty title="No queues yet">
              A queue appears when a process serves it or a job is enqueued to it.
            </Empty>
          ) : (
            <Listed queues={queues} asOf={serverTime(read.dataUpdatedAt)} />
          )
        }
      </DataView>
    </Card>
  )
}

function Listed({ queues, asOf }: { readonly queues: readonly QueueAndCounts[]; readonly asOf: number }) {
  const may = useMay()
  const { data: recent, dataUpdatedAt } = useRecent()
  const { rows, holds } = useHeldRows(
    'queues',
    inOrder(queues).map((queue) => ({ id: queue.settings.name, ...queue })),
  )
  return (
    <div {...holds}>
      <SortedTable
        label="Queues"
        columns={may('operator') ? [...COLUMNS, ACTS] : COLUMNS}
        rows={rows}
        values={VALUES}
        most={MOST}
      >
        {(queue) => (
          <QueueRow
            key={queue.id}
            queue={queue}
            asOf={asOf}
            now={serverTime(dataUpdatedAt)}
            points={recent?.queues.find((one) => one.queue === queue.id)?.points ?? []}
          />
        )}
      </SortedTable>
      {queues.length > MOST && (
        <p className="border-t border-line px-4 py-2 text-soft">
          {plural(queues.length - MOST, 'more queue')}
        </p>
      )}
    </div>
  )
}

const isHeld = ({ health }: QueueAndCounts): boolean => health.word !== 'ok'
const isBusy = ({ counts }: QueueAndCounts): boolean => counts.ready + counts.running > 0

/** Sorted by name within each group, so that rows do not move. If not all fit, idle queues come last. */
function inOrder(queues: readonly QueueAndCounts[]): QueueAndCounts[] {
  return queues.toSorted(
    (a, b) =>
      Number(isHeld(b)) - Number(isHeld(a)) ||
      (queues.length > MOST ? Number(isBusy(b)) - Number(isBusy(a)) : 0) ||
      a.settings.name.localeCompare(b.settings.name, 'en'),
  )
}
