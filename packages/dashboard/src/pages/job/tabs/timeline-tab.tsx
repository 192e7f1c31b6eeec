/** Lifecycle events of the job that no attempt records. */
import { useState } from 'react'
import { useTimeline } from '../../../api/reads.ts'
import { eventWords } from '../../../kit/text/event-words.ts'
import { Json } from '../../../kit/json/json.tsx'
import { Older } from '../../../kit/table/older.tsx'
import { Empty, DataView } from '../../../kit/data-view.tsx'
import { Cell, Row, Table } from '../../../kit/table/table.tsx'
import { Ago } from '../../../kit/text/time.tsx'
import { InstanceName } from '../instance-name.tsx'

const COLUMNS = [
  { key: 'at', name: 'When' },
  { key: 'type', name: 'Event' },
  { key: 'instance', name: 'Reported by' },
  { key: 'data', name: 'Details' },
]

/** Changes by users, which no process reports. */
const MANUAL: readonly string[] = ['audit', 'payload-patched']

export function TimelineTab({ id }: { readonly id: string }) {
  const [cursor, setCursor] = useState<string | undefined>(undefined)
  const read = useTimeline({ job: id, cursor })
  return (
    <DataView read={read} shape="table">
      {({ events, next }) =>
        events.length === 0 ? (
          <Empty title="No events">
            Lost leases, recoveries from crashed processes and operator actions appear here.
          </Empty>
        ) : (
          <div className="flex flex-col gap-2 overflow-x-auto">
            <Table label="Job events" columns={COLUMNS}>
              {events.map((event) => (
                <Row key={event.n}>
                  <Cell>
                    <Ago at={event.at} />
                  </Cell>
                  <Cell className="min-w-64 break-words">{eventWords(event)}</Cell>
                  <Cell>
                    <InstanceName id={MANUAL.includes(event.type) ? null : event.instance} />
                  </Cell>
                  <Cell className="min-w-64">
                    {Object.keys(event.data).length > 0 && <Json value={event.data} name="details" />}
                  </Cell>
                </Row>
              ))}
            </Table>
            <Older cursor={cursor} next={next} go={setCursor} />
          </div>
        )
      }
    </DataView>
  )
}
