/**
 * Rows of a live list hold still while the pointer is over them or one has the focus: a row must not move
 * away under a click. Known rows still show their newest state.
 */
import { type FocusEvent, type PointerEvent, useState } from 'react'
import { useActs } from '../../api/acted.ts'

interface Row {
  readonly id: string
}

export interface Held<R extends Row> {
  readonly rows: readonly R[]
  /** How many newer rows are not shown. */
  readonly fresh: number
}

export function holdRows<R extends Row>(before: readonly R[], now: readonly R[]): Held<R> {
  const newest = new Map(now.map((row) => [row.id, row]))
  const known = new Set(before.map(({ id }) => id))
  return {
    rows: before.map((row) => newest.get(row.id) ?? row),
    fresh: now.filter(({ id }) => !known.has(id)).length,
  }
}

/**
 * `list` names what is listed: a filter and a page. Another list, or an action of the user, shows all rows.
 */
export function useHeldRows<R extends Row>(list: string, rows: readonly R[]) {
  const [isOver, setOver] = useState(false)
  const [focused, setFocused] = useState<Element | null>(null)
  const [held, setHeld] = useState<{ readonly of: string; readonly rows: readonly R[] } | null>(null)
  const of = `${list} ${useActs()}`
  // There is no event when a focused element is removed or disabled.
  const isHolding = isOver || (focused !== null && focused === document.activeElement)
  // An empty list has nothing to hold: its first rows must appear under the pointer, too.
  if (isHolding && held?.of !== of && rows.length > 0) setHeld({ of, rows })
  if (!isHolding && held !== null) setHeld(null)
  const shown = held?.of === of ? holdRows(held.rows, rows) : { rows, fresh: 0 }
  return {
    ...shown,
    /** Shows the newest rows, and holds these. */
    release: () => setHeld({ of, rows }),
    /** For the element around the rows. */
    holds: {
      // A finger leaves no pointer over the list.
      onPointerEnter: ({ pointerType }: PointerEvent) => setOver(pointerType === 'mouse'),
      onPointerLeave: () => setOver(false),
      onFocus: ({ target }: FocusEvent) => setFocused(target),
      onBlur({ currentTarget, relatedTarget }: FocusEvent) {
        if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) setFocused(null)
      },
    },
  }
}
