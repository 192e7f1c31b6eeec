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
  /** The name above several neighboring columns. */
  readonly group?: string
}

/** The first and the last column align with the title of the card. */
export const CELL = 'px-2 py-2 first:pl-4 last:pr-4 2xl:px-3'

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
        {columns.some(({ group }) => group !== undefined) && <Groups columns={columns} />}
        <tr className="border-b border-line text-xs text-soft">
          {columns.map(({ key, name, group, right = false, className }) => (
            <th
              key={key}
              scope="col"
              aria-sort={sorting === undefined ? undefined : ariaSort(sorting, key)}
              className={classes(CELL, 'font-medium whitespace-nowrap', right && 'text-right', className)}
            >
              {group !== undefined && <span className="sr-only">{group} </span>}
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

function Groups({ columns }: Pick<Props, 'columns'>) {
  const spans: { key: string; group: string | undefined; columns: number }[] = []
  for (const { key, group } of columns) {
    const last = spans.at(-1)
    if (last !== undefined && last.group === group) last.columns += 1
    else spans.push({ key, group, columns: 1 })
  }
  return (
    // Each heading below says its group, too.
    <tr aria-hidden className="text-xs text-soft">
      {spans.map(({ key, group, columns: span }) => (
        <td key={key} colSpan={span} className="px-2 pt-2">
          {group !== undefined && <p className="border-b border-line pb-1 text-center">{group}</p>}
        </td>
      ))}
    </tr>
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
    <td className={classes('w-px px-2 py-1 text-right align-middle whitespace-nowrap last:pr-3', PINNED)}>
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
        CELL,
        'align-middle',
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
