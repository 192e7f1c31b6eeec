/** A table whose rows are sorted by its headings. */
import type { ReactNode } from 'react'
import { type SortValues, useSorted } from './sort.ts'
import { type Column, Table } from './table.tsx'

interface Props<Row> {
  readonly label: string
  readonly columns: readonly Column[]
  readonly rows: readonly Row[]
  /** What the columns are sorted by: a constant. */
  readonly values: SortValues<Row>
  /** The parameter in the address. A page with several tables needs one for each. */
  readonly sort?: string
  /** Shows only the first rows. */
  readonly most?: number
  readonly children: (row: Row) => ReactNode
}

export function SortedTable<Row>({
  label,
  columns,
  rows,
  values,
  sort = 'sort',
  most,
  children,
}: Props<Row>) {
  const { rows: inOrder, sorting } = useSorted(sort, rows, values)
  return (
    <Table label={label} columns={columns} sorting={sorting}>
      {inOrder.slice(0, most).map((row) => children(row))}
    </Table>
  )
}
