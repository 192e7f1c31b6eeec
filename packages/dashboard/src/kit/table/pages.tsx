/** Forward and backward paging for a list with cursors. */
import { ChevronLeft, ChevronRight } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../button.tsx'

export interface Paging {
  readonly cursor: string | undefined
  readonly number: number
  readonly older: (next: string) => void
  readonly newer: () => void
}

/** `of` identifies the list: a different value starts at the first page. */
export function usePaging(of: string): Paging {
  const [at, setAt] = useState<{ readonly of: string; readonly cursors: readonly string[] }>({
    of,
    cursors: [],
  })
  const cursors = at.of === of ? at.cursors : []
  return {
    cursor: cursors.at(-1),
    number: cursors.length + 1,
    older: (next) => setAt({ of, cursors: [...cursors, next] }),
    newer: () => setAt({ of, cursors: cursors.slice(0, -1) }),
  }
}

interface Props {
  readonly paging: Paging
  readonly next: string | null
  /** Button labels, where they are not "Newer" and "Older". */
  readonly words?: readonly [back: string, on: string]
}

export function Pager({ paging, next, words: [back, on] = ['Newer', 'Older'] }: Props) {
  if (paging.number === 1 && next === null) return null
  return (
    <nav aria-label="Pagination" className="flex items-center justify-end gap-2 px-4 py-2">
      <span className="text-soft">Page {paging.number}</span>
      <Button icon={ChevronLeft} disabled={paging.number === 1} onClick={paging.newer}>
        {back}
      </Button>
      <Button
        icon={ChevronRight}
        disabled={next === null}
        onClick={() => {
          if (next !== null) paging.older(next)
        }}
      >
        {on}
      </Button>
    </nav>
  )
}
