/** Where a schedule is not what code says: an operator changed it, and a deploy does not undo that. */
import { useOverview } from '../../api/reads.ts'
import type { Schedule } from '../../api/types/mill.ts'
import { Card } from '../../kit/card.tsx'
import { Cell, Row, Table } from '../../kit/table.tsx'

const COLUMNS = [
  { key: 'field', name: 'Setting' },
  { key: 'code', name: 'In code' },
  { key: 'stored', name: 'Here' },
]

export function Differences({ schedule: { name, differs } }: { readonly schedule: Schedule }) {
  const known = useOverview().data?.differences ?? []
  if (differs.length === 0) return null
  return (
    <Card flush title="Differs from code">
      <Table label="What differs from code" columns={COLUMNS}>
        {differs.map((field) => {
          const found = known.find(
            (one) => one.what === 'schedule' && one.name === name && one.field === field,
          )
          return (
            <Row key={field}>
              <Cell>{field}</Cell>
              <Cell className="break-all">
                <Value value={found?.code} />
              </Cell>
              <Cell className="break-all">
                <Value value={found?.stored} />
              </Cell>
            </Row>
          )
        })}
      </Table>
    </Card>
  )
}

const LONGEST = 200

/** Undefined when the process that was asked does not have this code. */
function Value({ value }: { readonly value: unknown }) {
  if (value === undefined) return <span className="text-soft">not known to this process</span>
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return (
    <code className="font-mono text-xs">{text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text}</code>
  )
}
