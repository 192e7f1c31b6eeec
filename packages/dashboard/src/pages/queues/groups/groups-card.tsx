/** The groups of a queue. The server sorts them, because it may have more than the page shows. */
import { serverTime } from '../../../api/clock.ts'
import { useGroups } from '../../../api/reads.ts'
import type { Group, Queue } from '../../../api/types.ts'
import { Card } from '../../../kit/card.tsx'
import { DataView } from '../../../kit/data-view.tsx'
import { useSearchValue } from '../../../kit/search.ts'
import { type Column, Table } from '../../../kit/table/table.tsx'
import { GroupRow } from './group-row.tsx'

/** Whether the queue shares its workers between groups, or limits them. */
export const hasGroups = ({ groupFair, groupConcurrency, groupRate }: Queue): boolean =>
  groupFair || groupConcurrency !== null || groupRate !== null

const MOST = 100
const SORTS = ['waiting', 'oldest', 'name'] as const

const COLUMNS: readonly Column[] = [
  { key: 'name', name: 'Group' },
  { key: 'waiting', name: 'Waiting', right: true },
  { key: 'running', name: 'Running', right: true },
  { key: 'oldest', name: 'Oldest', right: true },
  { key: 'weight', name: 'Weight (share due)', right: true },
  { key: 'rate', name: 'Rate' },
  { key: 'state', name: 'State' },
  { key: 'acts', name: <span className="sr-only">Actions</span> },
]

export function GroupsCard({ queue }: { readonly queue: Queue }) {
  const [text, setText] = useSearchValue('groups')
  const sort = SORTS.find((one) => one === text) ?? 'waiting'
  const read = useGroups(queue.name, sort, MOST + 1)
  return (
    <Card
      flush
      title="Groups"
      tools={
        (read.data?.groups.length ?? 0) > MOST && (
          <p className="text-soft">The first {MOST} groups. The queue has more.</p>
        )
      }
      className="[&>.scrolls]:max-h-96"
    >
      <DataView read={read} shape="table">
        {({ groups }) =>
          groups.length === 0 ? (
            <p className="px-4 pb-3 text-soft">No group of this queue has jobs to run or its own settings.</p>
          ) : (
            <Table
              label={`Groups of ${queue.name}`}
              columns={COLUMNS.filter(({ key }) => key !== 'weight' || queue.groupFair)}
              sorting={{
                columns: new Set(SORTS),
                column: sort,
                isDescending: sort !== 'name',
                turn: (column) => setText(column === 'waiting' ? null : column),
              }}
            >
              <Rows queue={queue} groups={groups.slice(0, MOST)} asOf={serverTime(read.dataUpdatedAt)} />
            </Table>
          )
        }
      </DataView>
    </Card>
  )
}

/** A paused group gets no turns. */
const isServed = ({ waiting, paused }: Group): boolean => waiting > 0 && !paused

interface RowsProps {
  readonly queue: Queue
  readonly groups: readonly Group[]
  readonly asOf: number
}

function Rows({ queue, groups, asOf }: RowsProps) {
  const all = groups.filter(isServed).reduce((sum, { weight }) => sum + weight, 0)
  return groups.map((group) => (
    <GroupRow
      key={group.name}
      queue={queue}
      group={group}
      share={isServed(group) ? group.weight / all : null}
      asOf={asOf}
    />
  ))
}
