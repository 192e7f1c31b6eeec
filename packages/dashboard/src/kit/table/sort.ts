/** Sorting of a table by its headings. The choice is part of the address, so that it can be shared. */
import { useMemo } from 'react'
import { useSearchValue } from '../search.ts'

type Value = number | string | null

/** What each sortable column is sorted by. Rows without a value come last in both directions. */
export type SortValues<Row> = Readonly<Record<string, (row: Row) => Value>>

export interface Sorting {
  readonly columns: ReadonlySet<string>
  readonly column: string | null
  readonly isDescending: boolean
  readonly turn: (column: string) => void
}

interface Order {
  readonly column: string
  readonly isDescending: boolean
}

const DESCENDING = '-'

export function orderOf(text: string | null, columns: ReadonlySet<string>): Order | null {
  if (text === null) return null
  const isDescending = text.startsWith(DESCENDING)
  const column = isDescending ? text.slice(1) : text
  return columns.has(column) ? { column, isDescending } : null
}

/** The next order after a click: the useful direction first, then the other one, then the original order. */
export function nextOrder(before: Order | null, column: string, isNumber: boolean): Order | null {
  if (before?.column !== column) return { column, isDescending: isNumber }
  return before.isDescending === isNumber ? { column, isDescending: !isNumber } : null
}

export function sorted<Row>(rows: readonly Row[], value: (row: Row) => Value, isDescending: boolean): Row[] {
  return rows.toSorted((a, b) => {
    const [left, right] = [value(a), value(b)]
    if (left === null || right === null) return Number(left === null) - Number(right === null)
    return isDescending ? compare(right, left) : compare(left, right)
  })
}

function compare(a: number | string, b: number | string): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return String(a).localeCompare(String(b), 'en', { numeric: true })
}

/**
 * `key` is the parameter in the address: a page with several tables needs one for each. `values` must be
 * constant.
 */
export function useSorted<Row>(
  key: string,
  rows: readonly Row[],
  values: SortValues<Row>,
): { readonly rows: readonly Row[]; readonly sorting: Sorting } {
  const [text, setText] = useSearchValue(key)
  const columns = useMemo(() => new Set(Object.keys(values)), [values])
  const order = orderOf(text, columns)
  const value = order === null ? undefined : values[order.column]
  const isDescending = order?.isDescending ?? false
  const inOrder = useMemo(
    () => (value === undefined ? rows : sorted(rows, value, isDescending)),
    [rows, value, isDescending],
  )
  return {
    rows: inOrder,
    sorting: {
      columns,
      column: order?.column ?? null,
      isDescending,
      turn(column) {
        const isNumber = rows.some((row) => typeof values[column]?.(row) === 'number')
        const next = nextOrder(order, column, isNumber)
        setText(next === null ? null : `${next.isDescending ? DESCENDING : ''}${next.column}`)
      },
    },
  }
}
