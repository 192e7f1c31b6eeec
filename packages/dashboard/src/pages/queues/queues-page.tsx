/** Queues page: state, workers and live settings of each queue. */
import { serverTime } from '../../api/clock.ts'
import { Fragment } from 'react'
import { useRange } from '../../api/range.ts'
import { useQueues, useWorkers } from '../../api/reads.ts'
import type { QueueAndCounts, UnservedKind } from '../../api/types.ts'
import { Card, PageHead } from '../../kit/card.tsx'
import { NOTE } from '../../kit/skeleton.tsx'
import { plural } from '../../kit/text/format.ts'
import { OpenedRow } from '../../kit/table/opener.tsx'
import { useSearchValue } from '../../kit/search.ts'
import { Empty, DataView } from '../../kit/data-view.tsx'
import { SortedTable } from '../../kit/table/sorted-table.tsx'
import { useIsWide } from '../../kit/wide.ts'
import { useQueueCharts } from '../../metrics/use-charted.ts'
import { useAnchor } from './anchor.ts'
import { CapacityCard } from './capacity/capacity-table.tsx'
import { useHour } from './metrics.ts'
import { QueueDetails } from './queue-details.tsx'
import { QUEUE_VALUES, queueColumns, QueueRow } from './queue-row.tsx'
import { serversOf, unservedIn } from './serving.ts'

export function QueuesPage() {
  const read = useQueues()
  const [open] = useSearchValue('open')
  const queues = read.data?.queues ?? []
  const paused = queues.filter(({ settings }) => settings.paused).length
  return (
    <>
      {open !== null && <LoadCharts queue={open} />}
      <PageHead
        title="Queues"
        note={
          read.data === undefined
            ? NOTE
            : `${plural(queues.length, 'queue')}${paused === 0 ? '' : `, ${paused} paused`}`
        }
      />
      <Card flush>
        <DataView read={read} shape="table">
          {(data) => (
            <QueueTable
              queues={data.queues}
              unservedKinds={data.unservedKinds ?? []}
              asOf={serverTime(read.dataUpdatedAt)}
            />
          )}
        </DataView>
      </Card>
      <CapacityCard />
    </>
  )
}

/** Loads the charts of an open queue together with the queues, not after them. */
function LoadCharts({ queue }: { readonly queue: string }) {
  useQueueCharts(useRange().range, 1, queue)
  return null
}

interface Props {
  readonly queues: readonly QueueAndCounts[]
  readonly unservedKinds: readonly UnservedKind[]
  readonly asOf: number
}

function QueueTable({ queues, unservedKinds, asOf }: Props) {
  const hour = useHour()
  const workers = useWorkers()
  const [open, setOpen] = useSearchValue('open')
  const marked = useAnchor()
  const isWide = useIsWide()
  const columns = queueColumns(isWide)
  if (queues.length === 0)
    return (
      <Empty title="No queues yet">
        A queue appears when a job is enqueued to it or a process that declares it starts.
      </Empty>
    )
  return (
    <SortedTable label="Queues" columns={columns} rows={queues} values={QUEUE_VALUES}>
      {(queue) => {
        const { name } = queue.settings
        const servers = serversOf(name, queue.settings.workers !== null, workers.data)
        const mine = unservedIn(name, unservedKinds)
        const isOpen = open === name
        return (
          <Fragment key={name}>
            <QueueRow
              queue={queue}
              asOf={asOf}
              hour={hour.get(name)}
              servers={servers}
              unservedKinds={mine}
              isMarked={marked === name}
              isOpen={isOpen}
              isWide={isWide}
              turn={() => setOpen(isOpen ? null : name)}
            />
            {isOpen && (
              <OpenedRow columns={columns.length} title={`Queue ${name}`}>
                <QueueDetails queue={queue} servers={servers} unservedKinds={mine} />
              </OpenedRow>
            )}
          </Fragment>
        )
      }}
    </SortedTable>
  )
}
