/** Size and tables of the database. */
import type { System } from '../../api/types.ts'
import { Card, Fact, Facts } from '../../kit/card.tsx'
import { bytes, compact, number, plural } from '../../kit/text/format.ts'
import { Empty } from '../../kit/data-view.tsx'
import type { SortValues } from '../../kit/table/sort.ts'
import { SortedTable } from '../../kit/table/sorted-table.tsx'
import { Cell, Row } from '../../kit/table/table.tsx'

const COLUMNS = [
  { key: 'name', name: 'Table' },
  { key: 'bytes', name: 'Size', right: true },
  { key: 'rows', name: 'Rows', right: true },
  { key: 'dead', name: 'Dead rows', right: true },
]

const VALUES: SortValues<NonNullable<System['database']>['tables'][number]> = {
  name: ({ name }) => name,
  bytes: ({ bytes: size }) => size,
  rows: ({ rows }) => rows,
  dead: ({ deadRows }) => deadRows,
}

/** For values that the database does not report. */
const UNKNOWN = <span className="text-soft">–</span>

export function Database({ system: { store, database } }: { readonly system: System }) {
  if (database === null)
    return (
      <Card title="Database">
        <Empty title="No database details">The {store} store does not report them.</Empty>
      </Card>
    )
  const { server, sizeBytes, logBytes, tables } = database
  const known = tables.filter((one) => one.bytes !== null || one.rows !== null || one.deadRows !== null)
  const unknown = tables.length - known.length
  return (
    <Card flush title="Database">
      <div className="px-4 pb-3">
        <Facts>
          <Fact name="Server">{server}</Fact>
          <Fact name="Size">{bytes(sizeBytes)}</Fact>
          <Fact name="WAL">
            {logBytes === null ? <span className="text-soft">unavailable</span> : bytes(logBytes)}
          </Fact>
        </Facts>
      </div>
      <SortedTable label="Tables" columns={COLUMNS} rows={known} values={VALUES} sort="tables">
        {({ name, bytes: size, rows, deadRows }) => (
          <Row key={name}>
            <Cell className="font-mono text-xs">{name}</Cell>
            <Cell right>{size === null ? UNKNOWN : bytes(size)}</Cell>
            <Cell right>
              {rows === null ? UNKNOWN : <span title={`${number(rows)} rows`}>{compact(rows)}</span>}
            </Cell>
            <Cell right>{deadRows === null ? UNKNOWN : compact(deadRows)}</Cell>
          </Row>
        )}
      </SortedTable>
      {unknown > 0 && (
        <p className="px-4 py-2 text-xs text-soft">
          {plural(unknown, 'more table')} without statistics in the database
        </p>
      )}
    </Card>
  )
}
