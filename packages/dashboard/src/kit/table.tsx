/** Tables: rows of equal height, numbers right-aligned, and an accessible name. */
import type { ReactNode } from 'react'
import { classes } from './classes.ts'

interface Column {
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
  readonly children: ReactNode
}

export function Table({ label, columns, children }: Props) {
  return (
    <table aria-label={label} className="w-full border-collapse text-left">
      <thead>
        <tr className="border-b border-line text-xs text-soft">
          {columns.map(({ key, name, right = false, className }) => (
            <th
              key={key}
              scope="col"
              className={classes('px-3 py-2 font-medium whitespace-nowrap', right && 'text-right', className)}
            >
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody className="divide-y divide-line">{children}</tbody>
    </table>
  )
}

/** For the actions of a row: stays visible when a wide table is scrolled. */
export const PINNED = 'sticky right-0 bg-card'

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
  return <tr className={classes('hover:bg-sunk/60', isMarked && 'bg-accent-soft/60')}>{children}</tr>
}
