/** Settings that are not what code says: an operator changed them, or code did since they were created. */
import { named } from '../../api/client.ts'
import { useOverview } from '../../api/reads.ts'
import type { Difference } from '../../api/types/mill.ts'
import { TextLink } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { settingText } from '../../kit/setting-text.ts'
import { Cell, Row, Table } from '../../kit/table.tsx'

const COLUMNS = [
  { key: 'what', name: 'What' },
  { key: 'name', name: 'Name' },
  { key: 'field', name: 'Setting' },
  { key: 'code', name: 'Code says' },
  { key: 'stored', name: 'Counts' },
]

const placeOf = ({ what, name }: Difference): string => {
  if (what === 'queue') return `/queues#${named(name)}`
  return what === 'limit' ? `/limits?open=${named(name)}` : `/schedules/${named(name)}`
}

export function Differences() {
  const differences = useOverview().data?.differences ?? []
  return (
    <Card flush title="Settings that differ from code">
      {differences.length === 0 ? (
        <p className="px-4 pb-3 text-soft">None: what counts is what the code of this process says.</p>
      ) : (
        <>
          <p className="px-4 pb-2 text-soft">
            What is stored counts. Write it into the code, or change it back.
          </p>
          <Table label="Settings that differ from code" columns={COLUMNS}>
            {differences.map((one) => (
              <Row key={`${one.what} ${one.name} ${one.field}`}>
                <Cell>{one.what}</Cell>
                <Cell>
                  <span className="block max-w-48 truncate" title={one.name}>
                    <TextLink to={placeOf(one)}>{one.name}</TextLink>
                  </span>
                </Cell>
                <Cell className="font-mono text-xs">{one.field}</Cell>
                <Cell className="break-words">{settingText(one.field, one.code)}</Cell>
                <Cell className="break-words">{settingText(one.field, one.stored)}</Cell>
              </Row>
            ))}
          </Table>
        </>
      )}
    </Card>
  )
}
