/** One part of the filter: click to edit it, or remove it with its cross. */
import { X } from 'lucide-react'
import type { Chip } from './chips.ts'

interface Props {
  readonly chip: Chip
  readonly edit: () => void
  readonly remove: () => void
}

export function FilterChip({ chip: { text, name, value }, edit, remove }: Props) {
  return (
    <span className="inline-flex h-7 max-w-full items-center rounded-md border border-line bg-sunk">
      <button
        type="button"
        onClick={edit}
        title={`Edit ${text}`}
        className="flex h-full min-w-0 items-center gap-1 rounded-l-md pl-2 hover:text-accent"
      >
        <span className="shrink-0 text-soft">{name}</span>{' '}
        <span className="max-w-72 truncate font-medium">{value}</span>
      </button>
      <button
        type="button"
        onClick={remove}
        aria-label={`Remove ${text}`}
        className="flex h-full w-6 shrink-0 items-center justify-center rounded-r-md text-soft hover:text-text"
      >
        <X aria-hidden className="size-3.5" />
      </button>
    </span>
  )
}
