/**
 * A button that acts at once. At the top of a page it shows its word; in a row, only where there is room. The
 * second click of a double click does nothing: it would act again, or on the row that has moved under the
 * pointer.
 */
import type { LucideIcon } from 'lucide-react'
import { Button, IconButton } from './button.tsx'

interface Props {
  /** The word on the button, such as "Pause". */
  readonly word: string
  /** Its accessible name, which contains the word: "Pause mail". */
  readonly label: string
  readonly icon: LucideIcon
  readonly isRow: boolean
  /** For a row of many columns, which needs a wider window to show the word. */
  readonly isTight?: boolean
  readonly disabled?: boolean
  readonly disabledBecause?: string | undefined
  readonly act: () => void
}

export function ActButton({ word, label, isRow, isTight = false, act, ...rest }: Props) {
  const once = { onClick: ({ detail: clicks }: { readonly detail: number }) => clicks <= 1 && act() }
  return isRow ? (
    <IconButton label={label} word={word} isTight={isTight} {...rest} {...once} />
  ) : (
    <Button aria-label={label} {...rest} {...once}>
      {word}
    </Button>
  )
}
