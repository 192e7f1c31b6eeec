/** Tables: rows of equal height, numbers right-aligned, headings that sort, and an accessible name. */
import { ArrowDown, ArrowUp, ChevronsUpDown } from 'lucide-react'
import type { ReactNode } from 'react'
import { classes } from '../classes.ts'
import type { Sorting } from './sort.ts'

export interface Column {
  readonly name: ReactNode
  /** Right-aligned, for numbers. */
  readonly right?: boolean
  readonly className?: string
  readonly key: string
}

interface Props {
  /** What the table lists, for screen readers. */
  readonly label: string
  readonly columns: readonly Column[]
  readonly sorting?: Sorting
  readonly children: ReactNode
}

export function Table({ label, columns, sorting, children }: Props) {
  return (
    <table aria-label={label} className="w-full border-collapse text-left">
      <thead>
        <tr className="border-b border-line text-xs text-soft">
          {columns.map(({ key, name, right = false, className }) => (
            <th
              key={key}
              scope="col"
              aria-sort={sorting === undefined ? undefined : ariaSort(sorting, key)}
              className={classes('px-3 py-2 font-medium whitespace-nowrap', right && 'text-right', className)}
            >
              {sorting?.columns.has(key) === true ? (
                <SortButton name={name} column={key} sorting={sorting} />
              ) : (
                name
              )}
            </th>
          ))}
        </tr>
      </thead>
      <tbody className="divide-y divide-line">{children}</tbody>
    </table>
  )
}

function ariaSort({ column, isDescending }: Sorting, key: string): 'ascending' | 'descending' | undefined {
  if (column !== key) return undefined
  return isDescending ? 'descending' : 'ascending'
}

interface SortButtonProps {
  readonly name: ReactNode
  readonly column: string
  readonly sorting: Sorting
}

function SortButton({ name, column, sorting }: SortButtonProps) {
  const isSorted = sorting.column === column
  const Icon = isSorted ? (sorting.isDescending ? ArrowDown : ArrowUp) : ChevronsUpDown
  return (
    <button
      type="button"
      onClick={() => sorting.turn(column)}
      className={classes(
        '-mx-1 inline-flex min-h-6 items-center gap-0.5 rounded px-1 hover:text-text',
        isSorted && 'text-text',
      )}
    >
      {name}
      <Icon aria-hidden className={classes('size-3 shrink-0', !isSorted && 'opacity-50')} />
    </button>
  )
}

/** For the actions of a row: stays visible when a wide table is scrolled, with the background of its row. */
export const PINNED = 'pinned'

export function ActsCell({ children }: { readonly children: ReactNode }) {
  return (
    <td className={classes('w-px px-2 py-1 text-right align-middle whitespace-nowrap', PINNED)}>
      {children}
    </td>
  )
}

interface CellProps {
  readonly right?: boolean
  readonly className?: string
  readonly children?: ReactNode
}

export function Cell({ right = false, className, children }: CellProps) {
  return (
    <td
      className={classes(
        'px-3 py-2 align-middle',
        right && 'text-right whitespace-nowrap tabular-nums',
        className,
      )}
    >
      {children}
    </td>
  )
}

export function Row({
  children,
  isMarked = false,
}: {
  readonly children: ReactNode
  readonly isMarked?: boolean
}) {
  return (
    <tr className="row" data-marked={isMarked || undefined}>
      {children}
    </tr>
  )
}
