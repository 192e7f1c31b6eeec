/** Expands and collapses the details below a row. */
import { ChevronRight } from 'lucide-react'
import type { ReactNode } from 'react'
import { classes } from '../classes.ts'

interface Props {
  readonly isOpen: boolean
  readonly turn: () => void
  readonly children: ReactNode
  readonly title?: string
}

export function Opener({ isOpen, turn, children, title }: Props) {
  return (
    <button
      type="button"
      aria-expanded={isOpen}
      onClick={turn}
      title={title}
      className="flex min-h-6 max-w-full min-w-0 items-center gap-1 rounded text-left font-medium hover:text-accent"
    >
      <ChevronRight
        aria-hidden
        className={classes('size-4 shrink-0 text-soft transition-transform', isOpen && 'rotate-90')}
      />
      <span className="truncate">{children}</span>
    </button>
  )
}

interface OpenedProps {
  readonly columns: number
  /** For screen readers: a heading above those in the details. */
  readonly title: string
  readonly children: ReactNode
}

/** The details below a row. As wide as the card, and visible when a wide table is scrolled. */
export function OpenedRow({ columns, title, children }: OpenedProps) {
  return (
    <tr className="bg-sunk/50">
      <td colSpan={columns} className="p-0">
        <div className="sticky left-0 w-[100cqw] p-4">
          <h2 className="sr-only">{title}</h2>
          {children}
        </div>
      </td>
    </tr>
  )
}
