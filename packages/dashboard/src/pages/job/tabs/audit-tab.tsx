/** Manual actions on the job, from the audit log. */
import { useState } from 'react'
import { useAudit } from '../../../api/reads.ts'
import { Json } from '../../../kit/json/json.tsx'
import { Older } from '../../../kit/table/older.tsx'
import { Empty, DataView } from '../../../kit/data-view.tsx'
import { Cell, Row, Table } from '../../../kit/table/table.tsx'
import { Ago } from '../../../kit/text/time.tsx'

const COLUMNS = [
  { key: 'at', name: 'When' },
  { key: 'who', name: 'User' },
  { key: 'what', name: 'Action' },
  { key: 'before', name: 'Before' },
  { key: 'after', name: 'After' },
]

export function AuditTab({ id }: { readonly id: string }) {
  const [cursor, setCursor] = useState<string | undefined>(undefined)
  const read = useAudit({ job: id, cursor })
  return (
    <DataView read={read} shape="table">
      {({ entries, next }) =>
        entries.length === 0 ? (
          <Empty title="No manual actions">Actions from the dashboard and the HTTP API appear here.</Empty>
        ) : (
          <div className="flex flex-col gap-2 overflow-x-auto">
            <Table label="Manual actions" columns={COLUMNS}>
              {entries.map((entry, at) => (
                // oxlint-disable-next-line react/no-array-index-key -- two may have the same time
                <Row key={`${entry.at} ${at}`}>
                  <Cell>
                    <Ago at={entry.at} />
                  </Cell>
                  <Cell className="whitespace-nowrap">
                    {entry.who} <span className="text-soft">({entry.role})</span>
                  </Cell>
                  <Cell className="whitespace-nowrap">{entry.what}</Cell>
                  <Cell>
                    <Some value={entry.before} name="before" />
                  </Cell>
                  <Cell>
                    <Some value={entry.after} name="after" />
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

function Some({ value, name }: { readonly value: unknown; readonly name: string }) {
  return value === null || value === undefined ? '–' : <Json value={value} name={name} />
}
