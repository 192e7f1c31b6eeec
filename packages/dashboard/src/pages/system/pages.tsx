/** Pages of what happened: the newest first, and older ones on demand. */
import { ChevronLeft, ChevronRight } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../kit/button.tsx'

export interface Paging {
  readonly cursor: string | undefined
  readonly number: number
  readonly older: (next: string) => void
  readonly newer: () => void
}

/** Another `of`, another list: it begins again. */
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

export function Pager({ paging, next }: { readonly paging: Paging; readonly next: string | null }) {
  if (paging.number === 1 && next === null) return null
  return (
    <nav aria-label="Pages of the list" className="flex items-center justify-end gap-2 px-4 py-2">
      <span className="text-soft">Page {paging.number}</span>
      <Button icon={ChevronLeft} disabled={paging.number === 1} onClick={paging.newer}>
        Newer
      </Button>
      <Button
        icon={ChevronRight}
        disabled={next === null}
        onClick={() => {
          if (next !== null) paging.older(next)
        }}
      >
        Older
      </Button>
    </nav>
  )
}
