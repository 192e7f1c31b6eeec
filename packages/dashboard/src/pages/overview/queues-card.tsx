/** The queues at a glance: those that are not ok first. */
import { serverTime } from '../../api/clock.ts'
import { useOverview } from '../../api/reads.ts'
import type { QueueAndCounts } from '../../api/types.ts'
import { LinkButton } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { plural } from '../../kit/text/format.ts'
import { Empty, DataView } from '../../kit/data-view.tsx'
import type { SortValues } from '../../kit/table/sort.ts'
import { SortedTable } from '../../kit/table/sorted-table.tsx'
import { QueueRow } from './queue-row.tsx'
import { useRecent } from './metrics/use-recent.ts'

const MOST = 12

const COLUMNS = [
  { key: 'name', name: 'Queue' },
  { key: 'health', name: 'Health' },
  { key: 'ready', name: 'Ready', right: true },
  { key: 'running', name: 'Running', right: true },
  { key: 'dead', name: 'Dead', right: true },
  { key: 'oldest', name: 'Oldest ready job', right: true },
  { key: 'rate', name: 'Throughput, last hour', right: true },
]

const VALUES: SortValues<QueueAndCounts> = {
  name: ({ settings }) => settings.name,
  ready: ({ counts }) => counts.ready,
  running: ({ counts }) => counts.running,
  dead: ({ counts }) => counts.dead,
  oldest: ({ counts }) => counts.oldestReadyMs,
}

export function QueuesCard() {
  const read = useOverview()
  const { data: recent, dataUpdatedAt } = useRecent()
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
            <>
              <SortedTable
                label="Queues"
                columns={COLUMNS}
                rows={inOrder(queues)}
                values={VALUES}
                most={MOST}
              >
                {(queue) => (
                  <QueueRow
                    key={queue.settings.name}
                    queue={queue}
                    asOf={serverTime(read.dataUpdatedAt)}
                    now={serverTime(dataUpdatedAt)}
                    points={recent?.queues.find((one) => one.queue === queue.settings.name)?.points ?? []}
                  />
                )}
              </SortedTable>
              {queues.length > MOST && (
                <p className="border-t border-line px-4 py-2 text-soft">
                  {plural(queues.length - MOST, 'more queue')}
                </p>
              )}
            </>
          )
        }
      </DataView>
    </Card>
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
